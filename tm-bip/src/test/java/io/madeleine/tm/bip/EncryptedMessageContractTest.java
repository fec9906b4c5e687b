package io.madeleine.tm.bip;

import io.madeleine.testkit.Certificates;
import io.madeleine.testkit.messages.AbstractMessageContractTest;
import io.madeleine.testkit.messages.MessageSetup;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Messages keep their promises over encrypted datagrams. To messages, these are datagrams like others; so each contract
 * has some of its cases here, and all of them only if tests may take long.
 */
@ExtendWith(SomeOfEachContract.class)
class EncryptedMessageContractTest extends AbstractMessageContractTest {
    static Stream<MessageSetup> setups() {
        return MessageSetup.of(
                "bip with encryption", () -> _ -> BipSide.driver(Certificates.settingsOfThisRun(BipSide.ENCRYPTION)));
    }
}
