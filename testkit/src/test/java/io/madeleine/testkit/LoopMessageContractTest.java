package io.madeleine.testkit;

import java.util.stream.Stream;

/** Messages keep their promises over modules of every kind. */
class LoopMessageContractTest extends AbstractMessageContractTest {
    static Stream<MessageSetup> setups() {
        return MessageSetup.loops();
    }
}
