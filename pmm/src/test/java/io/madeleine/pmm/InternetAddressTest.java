package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.madeleine.pmm.spi.InternetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Where a peer is called. 198.51.100.0/24 is for documentation: no host has such an address. */
class InternetAddressTest {
    private static List<String> places(String address) {
        return InternetAddress.parse(address, "tcp").resolve().stream()
                .map(InetSocketAddress::toString)
                .toList();
    }

    /** Both have the bridge of their containers at the same address. */
    @Test
    void shouldNotCallThisHostWhenThePeerIsOnAnother() {
        assertEquals(List.of("/198.51.100.1:4711"), places("elsewhere@127.0.0.1:4711,198.51.100.1:4711"));
    }

    /** A port of this host may lead into a virtual machine. */
    @Test
    void shouldCallThisHostWhenThePeerNamesNoOther() {
        assertEquals(List.of("/127.0.0.1:4711"), places("elsewhere@127.0.0.1:4711"));
    }

    @Test
    void shouldCallEachAddressOfAPeerOnThisHost() {
        String here = InternetAddress.of(new InetSocketAddress("127.0.0.1", 4711), "127.0.0.1")
                .toString();
        assertEquals(List.of("/127.0.0.1:4711", "/198.51.100.1:4711"), places(here + ",198.51.100.1:4711"));
    }
}
