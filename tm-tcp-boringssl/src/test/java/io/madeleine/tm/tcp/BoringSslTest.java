package io.madeleine.tm.tcp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.tm.tcp.config.TcpConfig;
import io.madeleine.tm.tcp.tls.TlsEngines;
import org.junit.jupiter.api.Test;

/** All that the JDK's TLS shows, with BoringSSL at both ends or at one. */
class BoringSslTest extends TlsTest {
    private static final String JDK = "madeleine.tm.tcp.tls.engine = jdk";
    private static final String BORINGSSL = "madeleine.tm.tcp.tls.engine = boringssl";

    @Test
    void shouldBeChosenWhereItCanBeUsed() {
        TcpPmm pmm = new TcpPmm(TcpConfig.from(Pair.config(first.settings(authority))));
        assertEquals("BoringSSL", TlsEngines.chosen(TcpConfig.AUTO).title());
        assertTrue(
                pmm.availability().reason().contains("by BoringSSL"),
                pmm.availability().reason());
        assertTrue(pmm.nativeModules().contains("io.netty.tcnative.classes.openssl"));
    }

    @Test
    void shouldSayWhyItCannotBeUsed() {
        assertTrue(TlsEngines.unavailable("boringssl").isEmpty());
        assertTrue(TlsEngines.unavailable("other").orElseThrow().contains("madeleine-tm-tcp-other"));
    }

    @Test
    void shouldUnderstandAPeerThatHasTheJdks() throws Exception {
        for (String[] engines : new String[][] {{JDK, BORINGSSL}, {BORINGSSL, JDK}}) {
            pair = pair(first.settings(authority) + "\n" + engines[0], second.settings(authority) + "\n" + engines[1]);
            Pair.Ends ends = pair.connect();
            send(pair, ends.left(), pattern(300_000), 0);
            assertArrayEquals(pattern(300_000), receive(pair, ends.right()));
            send(pair, ends.right(), pattern(8), 0);
            assertArrayEquals(pattern(8), receive(pair, ends.left()));
            close();
        }
    }
}
