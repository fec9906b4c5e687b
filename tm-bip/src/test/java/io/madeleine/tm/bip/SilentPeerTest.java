package io.madeleine.tm.bip;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.InternetAddress;
import io.madeleine.pmm.spi.ProtocolConnection;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is said about a peer that answers nothing, or not all. */
@Timeout(60)
class SilentPeerTest {
    private static CompletableFuture<ProtocolConnection> call(Pair pair, String address, Duration patience) {
        return pair.left
                .adapter
                .openChannel("silent")
                .connect(new ConnectionRequest(
                        pair.right.identity,
                        address,
                        true,
                        pair.left.driver.transmissionModules(),
                        42,
                        System.nanoTime() + patience.toNanos()));
    }

    private static String failure(Pair pair, CompletableFuture<ProtocolConnection> calling) {
        pair.driveUntil(calling::isDone);
        return String.valueOf(
                assertThrows(CompletionException.class, calling::join).getMessage());
    }

    private static void assertContains(String expected, String found) {
        assertTrue(found.contains(expected), found);
    }

    /** In another network namespace the host is the same, as far as the process can tell. */
    @Test
    void shouldSayThatThePeersAddressIsALoopbackAddress() {
        try (Pair pair = new Pair("", "")) {
            String nobody = InternetAddress.of(new InetSocketAddress("127.0.0.1", 11), "auto")
                    .toString();
            String said = failure(pair, call(pair, nobody, Duration.ofMillis(200)));
            assertContains(
                    "the deadline has come, and the peer has not answered: its address 127.0.0.1 is a loopback"
                            + " address, which reaches no other host or container; if the peer runs in another one,"
                            + " set madeleine.tm.bip.adapters.default.bind there",
                    said);
        }
    }
}
