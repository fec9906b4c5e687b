package io.madeleine.tm.via;

import io.madeleine.testkit.messages.AbstractMessageContractTest;
import io.madeleine.testkit.messages.MessageSetup;
import java.util.stream.Stream;

/** Messages keep their promises over the provider net. */
class NetMessageContractTest extends AbstractMessageContractTest {
    static Stream<MessageSetup> setups() {
        return MessageSetup.of("via over net", () -> _ -> Fabrics.driver("net", ""));
    }
}
