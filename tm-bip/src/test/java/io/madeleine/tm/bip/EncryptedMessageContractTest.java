package io.madeleine.tm.bip;

import io.madeleine.testkit.Certificates;
import io.madeleine.testkit.messages.AbstractMessageContractTest;
import io.madeleine.testkit.messages.MessageSetup;
import java.util.stream.Stream;

/** Messages keep their promises over encrypted datagrams. */
class EncryptedMessageContractTest extends AbstractMessageContractTest {
    static Stream<MessageSetup> setups() {
        return MessageSetup.of(
                "bip with encryption", () -> _ -> BipSide.driver(Certificates.settingsOfThisRun(BipSide.ENCRYPTION)));
    }
}
