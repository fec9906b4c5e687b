package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.PeerFailedException;
import io.madeleine.nexus.wire.Link;
import io.madeleine.nexus.wire.NodeId;
import io.madeleine.nexus.wire.RequestLayout;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Who holds a startpoint gets in by the pass in it, without an approver, and to nobody but the context it points to.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PassTest {
    private final AtomicInteger total = new AtomicInteger();

    /** A pointer to rank 0's endpoint of another session, by this address; its pass may be another one. */
    private static Startpoint pointer(
            Context holder, NodeId to, Link granted, WanAddress address, long passDifference) {
        Peer peer = holder.node().nodes().of(to);
        WanRoutes.of(peer)
                .add(List.of(new WanAddress(
                        address.host(), address.port(), address.pass(), address.passRest() ^ passDifference)));
        return new Startpoint(holder, new int[] {peer.number()}, new Link[] {granted}, false);
    }

    @Test
    void shouldLetInWhoHasThePassAndNobodyElse() {
        try (World server = new World(
                        "sci",
                        2,
                        context -> context.endpoint("sum")
                                .threaded("add", (_, request) -> total.addAndGet(request.getInt())));
                World clients = new World("sci", 2, _ -> {})) {
            Context there = server.of(0);
            AttachPoint _ = there.allowAttach(
                    new InetSocketAddress("127.0.0.1", 0), List.of("127.0.0.1"), _ -> Optional.empty());
            Link sum = there.node().grants().granted(0, RequestLayout.endpointId("sum"));
            WanAddress address =
                    WanRoutes.of(there.node().nodes().get(0)).addresses().getFirst();
            NodeId self = there.node().nodes().self();
            NodeId gone = new NodeId(self.session() + "-before", self.channel(), self.rank());

            Startpoint forged = pointer(clients.of(0), self, sum, address, 1);
            assertRefused("no longer valid", forged);
            Startpoint outdated = pointer(clients.of(1), gone, sum, address, 0);
            assertRefused("another context", outdated);
            assertEquals(0, total.get());
            pointer(clients.of(1), self, sum, address, 0).rsr("add", new Arguments().putInt(3));
            World.await(() -> total.get() == 3);
        }
    }

    private static void assertRefused(String why, Startpoint to) {
        PeerFailedException refused =
                assertThrows(PeerFailedException.class, () -> to.rsr("add", new Arguments().putInt(1)));
        assertTrue(String.valueOf(refused.getMessage()).contains(why), refused::toString);
    }
}
