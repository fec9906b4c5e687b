package io.madeleine.switching;

import io.madeleine.testkit.messages.AbstractMessageContractTest;
import io.madeleine.testkit.messages.MessageSetup;
import java.util.stream.Stream;

/** The second half of {@link LoopMessageContractTest}, which may run beside the first in another JVM. */
class MoreLoopsMessageContractTest extends AbstractMessageContractTest {
    static Stream<MessageSetup> setups() {
        return MessageSetup.loops().skip(LoopMessageContractTest.HALF);
    }
}
