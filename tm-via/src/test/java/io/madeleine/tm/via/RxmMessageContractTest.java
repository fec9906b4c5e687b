package io.madeleine.tm.via;

import io.madeleine.testkit.messages.AbstractMessageContractTest;
import io.madeleine.testkit.messages.MessageSetup;
import java.util.stream.Stream;

/** Messages keep their promises over the provider tcp;ofi_rxm. */
class RxmMessageContractTest extends AbstractMessageContractTest {
    static Stream<MessageSetup> setups() {
        return MessageSetup.of("via over tcp;ofi_rxm", () -> _ -> Fabrics.driver("tcp;ofi_rxm", ""));
    }
}
