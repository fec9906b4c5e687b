package io.madeleine.switching;

import io.madeleine.testkit.messages.AbstractMessageContractTest;
import io.madeleine.testkit.messages.MessageSetup;
import java.util.stream.Stream;

/** Messages keep their promises over modules of every kind; {@link MoreLoopsMessageContractTest} has the other half. */
class LoopMessageContractTest extends AbstractMessageContractTest {
    /** How many of the setups this half has. */
    static final int HALF = 3;

    static Stream<MessageSetup> setups() {
        return MessageSetup.loops().limit(HALF);
    }
}
