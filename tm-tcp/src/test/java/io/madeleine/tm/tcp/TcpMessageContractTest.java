package io.madeleine.tm.tcp;

import io.madeleine.testkit.messages.AbstractMessageContractTest;
import io.madeleine.testkit.messages.MessageSetup;
import io.madeleine.tm.tcp.config.TcpConfig;
import java.util.stream.Stream;

/** Messages keep their promises over sockets, whichever way these are driven. */
class TcpMessageContractTest extends AbstractMessageContractTest {
    static Stream<MessageSetup> setups() {
        Pair.assumeIo();
        return MessageSetup.of("tcp", () -> _ -> new TcpPmm(TcpConfig.from(Pair.config(Pair.HARDLY_ANY_LINGER))));
    }
}
