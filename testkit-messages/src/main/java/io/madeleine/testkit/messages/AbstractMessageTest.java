package io.madeleine.testkit.messages;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The state of a test of messages over networks: the current network and the sessions over it. A test that needs only
 * some parts of the contract extends this class, names the parts, and has a static method {@code setups} as
 * {@link AbstractMessageContractTest} says:
 *
 * {@snippet lang=java :
 * class TinyMessageTest extends AbstractMessageTest implements BlocksContract, EndingContract, LossContract {
 *     static Stream<MessageSetup> setups() {
 *         return MessageSetup.of("tiny", () -> rank -> new TinyPmm(config));
 *     }
 * }
 * }
 */
@ParameterizedClass(name = "{0}")
@MethodSource("setups")
@Timeout(value = 90, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
public abstract class AbstractMessageTest implements MessageFixture {
    @Parameter
    MessageSetup setup = MessageSetup.loops().findFirst().orElseThrow();

    private @Nullable LocalSessions sessions;

    /** For the tests of families. */
    protected AbstractMessageTest() {}

    @Override
    public MessageSetup setup() {
        return setup;
    }

    @Override
    public void open(LocalSessions.Builder builder) {
        TestBlocks.begin(setup.postsHeapMemory());
        sessions = builder.open();
    }

    @Override
    public LocalSessions sessions() {
        LocalSessions opened = sessions;
        if (opened == null) {
            throw new IllegalStateException("the sessions are not open; expected open() first");
        }
        return opened;
    }

    @Override
    @AfterEach
    public void close() {
        LocalSessions opened = sessions;
        sessions = null;
        if (opened != null) {
            try {
                opened.close();
            } finally {
                TestBlocks.free();
            }
        }
    }
}
