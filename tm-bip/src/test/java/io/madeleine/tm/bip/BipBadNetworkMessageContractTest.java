package io.madeleine.tm.bip;

import io.madeleine.testkit.messages.AbstractMessageContractTest;
import io.madeleine.testkit.messages.MessageSetup;
import java.util.stream.Stream;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** Messages keep their promises over a network that loses, repeats, reorders and corrupts datagrams. */
@EnabledIfSystemProperty(
        named = "thorough",
        matches = "true",
        disabledReason =
                "more than a minute, and an end that closes under loss may still be given up: only with -Pthorough")
class BipBadNetworkMessageContractTest extends AbstractMessageContractTest {
    static Stream<MessageSetup> setups() {
        return MessageSetup.of("bip over a bad network", () -> _ -> BipSide.driver(BipSide.BAD_NETWORK));
    }
}
