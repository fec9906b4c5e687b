package io.madeleine.tm.tcp.stream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The link over BoringSSL. */
class BoringSslStreamLinkTest extends StreamLinkTest {
    @BeforeAll
    static void switchTlsOn() {
        System.setProperty("madeleine.test.tcp.tls", "true");
    }

    @AfterAll
    static void switchTlsOff() {
        System.clearProperty("madeleine.test.tcp.tls");
    }
}
