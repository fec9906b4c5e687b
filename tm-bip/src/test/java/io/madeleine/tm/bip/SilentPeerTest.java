package io.madeleine.tm.bip;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.InternetAddress;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.tm.bip.protocol.DatagramLayout;
import java.io.IOException;
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

    /** An address at which no process listens. */
    private static String nobody() {
        return InternetAddress.of(new InetSocketAddress("127.0.0.1", 11), "auto")
                .toString();
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
            String said = failure(pair, call(pair, nobody(), Duration.ofMillis(200)));
            assertContains(
                    "the deadline has come, and the peer has not answered: its address 127.0.0.1 is a loopback"
                            + " address, which reaches no other host or container; if the peer runs in another one,"
                            + " set madeleine.tm.bip.adapters.default.bind there",
                    said);
        }
    }

    /** As on a busy machine: the peer answers, but not in time. */
    @Test
    void shouldSayThatTheHandshakeTookTooLongIfThePeerHasAnswered() throws IOException {
        String settings = "madeleine.tm.bip.handshake.timeout = 400ms";
        try (Pair pair = new Pair(settings, "");
                TranslatingRouter router = new TranslatingRouter(pair.right.adapter.address())) {
            router.show(datagram -> {
                if (datagram[DatagramLayout.KIND_OFFSET] == DatagramLayout.DATA) {
                    datagram[DatagramLayout.HEADER_BYTES] ^= 4;
                }
            });
            String said = failure(pair, call(pair, router.address(), Duration.ofSeconds(2)));
            assertContains(
                    "the deadline has come, and the handshake took longer than 400 ms"
                            + " (madeleine.tm.bip.handshake.timeout); is the channel",
                    said);
        }
    }

    @Test
    void shouldNotSayThatTheHandshakeOfASilentPeerTookTooLong() {
        try (Pair pair = new Pair("madeleine.tm.bip.handshake.timeout = 50ms", "")) {
            String said = failure(pair, call(pair, nobody(), Duration.ofMillis(200)));
            assertContains("the deadline has come, and the peer has not answered", said);
        }
    }
}
