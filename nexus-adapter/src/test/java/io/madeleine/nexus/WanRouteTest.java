package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.nexus.wan.Credentials;
import io.madeleine.nexus.wan.Handshake;
import io.madeleine.nexus.wan.SealedConnection;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The beginning and the end of a wide-area connection as a way. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WanRouteTest {
    private static final InetSocketAddress LOOPBACK = new InetSocketAddress("127.0.0.1", 0);
    private static final int TIMEOUT_MS = 10_000;

    @Test
    void shouldBeLostWhenItsConnectionIsClosedBeforeItStarts() throws Exception {
        try (World server = new World("sci", 1, _ -> {});
                World guests = new World("sci", 1, _ -> {})) {
            AttachPoint point = server.of(0).allowAttach(LOOPBACK, List.of("127.0.0.1"), _ -> Optional.empty());
            Node node = guests.of(0).node();
            Credentials credentials = new Credentials(node.session().deriveKey("nexus wide area 2"), null);
            Peer peer = node.nodes().of(server.of(0).node().nodes().self());
            SealedConnection connection = Handshake.connect("127.0.0.1", point.port(), credentials, TIMEOUT_MS);
            WanRoute route = new WanRoute(node, peer, connection, null, false);
            connection.close(); // as the deadline of the connect timeout does
            assertThrows(IOException.class, route::start);
            assertTrue(String.valueOf(route.lost()).contains("its connection is lost"), route::lost);
            assertFalse(peer.isAtWork());
            assertNull(peer.current());
        }
    }

    /** As after a loss that has run out of memory behind the place where the count is. */
    @Test
    void shouldGiveItsPlaceBackOnceThoughItsLossIsRepeated() {
        ContextOptions one = ContextOptions.DEFAULT.withMaxAttached(1);
        try (World server = new World("sci", 1, one, _ -> {});
                World guests = new World("sci", 3, _ -> {})) {
            Context host = server.of(0);
            AttachPoint point = host.allowAttach(
                    LOOPBACK,
                    List.of("127.0.0.1"),
                    _ -> Optional.of(host.endpoint().startpoint()));
            assertFalse(guests.of(0).attach(point.url()).isLocal());
            Peer first = host.node().nodes().foreign().iterator().next();
            World.await(first::isAtWork);
            Route route = first.routes().getFirst();
            first.routeLost(route, "memory is short");
            first.routeLost(route, "memory is short");
            assertFalse(guests.of(1).attach(point.url()).isLocal());
            AttachException full =
                    assertThrows(AttachException.class, () -> guests.of(2).attach(point.url()));
            assertTrue(String.valueOf(full.getMessage()).contains("maxAttached"), full::toString);
        }
    }
}
