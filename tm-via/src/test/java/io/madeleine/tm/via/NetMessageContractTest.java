package io.madeleine.tm.via;

import io.madeleine.testkit.messages.AbstractMessageContractTest;
import io.madeleine.testkit.messages.MessageSetup;
import java.util.stream.Stream;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** Messages keep their promises over the provider net. */
@EnabledIfSystemProperty(
        named = "thorough",
        matches = "true",
        disabledReason = "the suite runs over shm; over net only with -Pthorough")
class NetMessageContractTest extends AbstractMessageContractTest {
    static Stream<MessageSetup> setups() {
        return MessageSetup.of("via over net", () -> _ -> Fabrics.driver("net", ""));
    }
}
