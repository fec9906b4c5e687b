package io.madeleine.tm.via;

import io.madeleine.testkit.messages.AbstractMessageContractTest;
import io.madeleine.testkit.messages.MessageSetup;
import java.util.stream.Stream;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** Messages keep their promises over the provider tcp;ofi_rxm. */
@EnabledIfSystemProperty(
        named = "thorough",
        matches = "true",
        disabledReason = "the suite runs over shm; over tcp;ofi_rxm only with -Pthorough")
class RxmMessageContractTest extends AbstractMessageContractTest {
    static Stream<MessageSetup> setups() {
        return MessageSetup.of("via over tcp;ofi_rxm", () -> _ -> Fabrics.driver("tcp;ofi_rxm", ""));
    }
}
