package io.madeleine.switching;

import io.madeleine.testkit.heap.HeapPmm;
import io.madeleine.testkit.messages.AbstractMessageContractTest;
import io.madeleine.testkit.messages.MessageSetup;
import java.util.stream.Stream;

/** Messages keep their promises over the smallest driver. */
class HeapMessageContractTest extends AbstractMessageContractTest {
    static Stream<MessageSetup> setups() {
        return MessageSetup.of("heap", () -> _ -> new HeapPmm());
    }
}
