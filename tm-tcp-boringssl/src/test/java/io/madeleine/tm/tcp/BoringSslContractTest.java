package io.madeleine.tm.tcp;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The contract of a protocol module over BoringSSL. */
class BoringSslContractTest extends TcpContractTest {
    @BeforeAll
    static void switchTlsOn() {
        System.setProperty("madeleine.test.tcp.tls", "true");
    }

    @AfterAll
    static void switchTlsOff() {
        System.clearProperty("madeleine.test.tcp.tls");
    }
}
