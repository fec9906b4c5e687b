package io.madeleine.tm.via;

import io.madeleine.testkit.messages.AbstractMessageContractTest;
import io.madeleine.testkit.messages.MessageSetup;
import java.util.stream.Stream;

/** Messages keep their promises over the provider shm with via/registered between the other modules. */
class RegisteredShmMessageContractTest extends AbstractMessageContractTest {
    static Stream<MessageSetup> setups() {
        return MessageSetup.of("via with via/registered", () -> _ -> Fabrics.driver("shm", Fabrics.REGISTERED));
    }
}
