package io.madeleine.tm.bip;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.ProtocolConnection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A socket of IPv4 makes do with the addresses of IPv4. */
@Timeout(60)
class AddressFamiliesTest {
    private static final String HERE = "adapters.default.bind = \"127.0.0.1\"";

    /** The address of the right one, with others in place of or before its own. */
    private static String withPlaces(Pair pair, String places) {
        String own = pair.right.adapter.address();
        return own.substring(0, own.indexOf('@') + 1) + places.replace("PORT", own.substring(own.lastIndexOf(':') + 1));
    }

    @Test
    void shouldPassOverAddressesOfIpv6() {
        try (Pair pair = new Pair(HERE, HERE)) {
            Pair.Ends ends = pair.connect("mixed", withPlaces(pair, "[fd00::99]:PORT,127.0.0.1:PORT"));
            ends.left().connection.close();
            ends.right().connection.close();
        }
    }

    @Test
    void shouldSayWhichKeyHelpsIfThePeerHasNoAddressOfIpv4() {
        try (Pair pair = new Pair(HERE, HERE)) {
            CompletableFuture<ProtocolConnection> calling =
                    pair.left.connect("none", pair.right, withPlaces(pair, "[fd00::99]:PORT"), true);
            pair.left.poll();
            CompletionException e = assertThrows(CompletionException.class, calling::join);
            String text = String.valueOf(e.getCause().getMessage());
            assertTrue(text.contains("[fd00::99]"), text);
            assertTrue(text.contains("set madeleine.tm.bip.adapters.default.bind to \"::\""), text);
        }
    }

    @Test
    void shouldPublishNoAddressOfIpv6ForTheWildcardOfIpv4() {
        try (Pair pair = new Pair("adapters.default.bind = \"0.0.0.0\"", HERE)) {
            assertFalse(pair.left.adapter.address().contains("["), pair.left.adapter.address());
        }
    }
}
