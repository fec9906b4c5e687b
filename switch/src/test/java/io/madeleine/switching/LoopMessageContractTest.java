package io.madeleine.switching;

import io.madeleine.testkit.messages.AbstractMessageContractTest;
import io.madeleine.testkit.messages.MessageSetup;
import java.util.stream.Stream;

/** Messages keep their promises over modules of every kind. */
class LoopMessageContractTest extends AbstractMessageContractTest {
    static Stream<MessageSetup> setups() {
        return MessageSetup.loops();
    }
}
