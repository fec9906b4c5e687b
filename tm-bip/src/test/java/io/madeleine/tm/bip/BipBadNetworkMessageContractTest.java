package io.madeleine.tm.bip;

import io.madeleine.testkit.messages.AbstractMessageContractTest;
import io.madeleine.testkit.messages.MessageSetup;
import java.util.stream.Stream;

/** Messages keep their promises over a network that loses, repeats, reorders and corrupts datagrams. */
class BipBadNetworkMessageContractTest extends AbstractMessageContractTest {
    static Stream<MessageSetup> setups() {
        return MessageSetup.of("bip over a bad network", () -> _ -> BipSide.driver(BipSide.BAD_NETWORK));
    }
}
