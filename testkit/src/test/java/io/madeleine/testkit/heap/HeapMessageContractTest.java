package io.madeleine.testkit.heap;

import io.madeleine.testkit.AbstractMessageContractTest;
import io.madeleine.testkit.MessageSetup;
import java.util.stream.Stream;

/** Messages keep their promises over the smallest driver. */
class HeapMessageContractTest extends AbstractMessageContractTest {
    static Stream<MessageSetup> setups() {
        return MessageSetup.of("heap", () -> _ -> new HeapPmm());
    }
}
