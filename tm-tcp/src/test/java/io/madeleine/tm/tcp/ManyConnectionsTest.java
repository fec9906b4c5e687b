package io.madeleine.tm.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.testkit.Certificates;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What connections cost that nothing comes through: 256 of them, both ends in this process. */
@Timeout(300)
@Tag("measures")
class ManyConnectionsTest {
    private static final int COUNT = 256;

    /** So few that their handshakes take much less than the patience of {@link Pair}, also on a busy machine. */
    private static final int AT_ONCE = 32;

    private static final long MAX_BYTES_PER_END = 64 * 1024;

    private static long usedBytes() throws InterruptedException {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 4; i++) {
            System.gc();
            Thread.sleep(50);
            Runtime runtime = Runtime.getRuntime();
            least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
        }
        long direct = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
        return least + direct;
    }

    private record Connections(List<Pair.End> left, List<Pair.End> right) {}

    private static Connections connect(Pair pair) throws Exception {
        List<CompletableFuture<ProtocolConnection>> calling = new ArrayList<>();
        List<CompletableFuture<ProtocolConnection>> answering = new ArrayList<>();
        while (calling.size() < COUNT) {
            for (int i = 0; i < AT_ONCE; i++) {
                String channel = "c" + calling.size();
                answering.add(pair.right.connect(channel, pair.left, false, 42));
                calling.add(pair.left.connect(channel, pair.right, true, 42));
            }
            pair.driveUntil(() -> calling.stream().allMatch(CompletableFuture::isDone)
                    && answering.stream().allMatch(CompletableFuture::isDone));
        }
        Connections made = new Connections(new ArrayList<>(), new ArrayList<>());
        for (int i = 0; i < COUNT; i++) {
            made.left.add(new Pair.End(calling.get(i).get()));
            made.right.add(new Pair.End(answering.get(i).get()));
        }
        return made;
    }

    /** One packet each, so that whatever a connection takes at first use has been taken. */
    private static void use(Pair pair, Connections connections) {
        for (int i = 0; i < COUNT; i++) {
            Pair.End to = connections.right.get(i);
            long header = PacketHeader.of(0, 0, 0, PacketHeader.FIRST);
            assertEquals(LinkStatus.COMPLETE, connections.left.get(i).link.send(header, new BufferGroup(), 0));
            pair.driveUntil(() -> to.link.front() != 0);
            to.link.release();
        }
    }

    private static void assertCheap(String what, Pair pair) throws Exception {
        try (pair) {
            pair.connect("warm-up");
            long before = usedBytes();
            Connections connections = connect(pair);
            use(pair, connections);
            long perEnd = (usedBytes() - before) / (2 * COUNT);
            System.out.println(what + ": " + perEnd + " bytes per end of an idle connection");
            assertTrue(perEnd < MAX_BYTES_PER_END, () -> what + ": " + perEnd + " bytes per end");
            use(pair, connections);
        }
    }

    @Test
    void shouldTakeLittleMemoryForEachConnectionThatIsIdle() throws Exception {
        assertCheap("plain", new Pair());
    }

    @Test
    void shouldTakeLittleMemoryForEachEncryptedConnectionThatIsIdle() throws Exception {
        // many handshakes are under way at once, maybe on a busy machine
        String settings = Certificates.settingsOfThisRun(Pair.TLS) + "\nmadeleine.tm.tcp.handshake.timeout = 60s";
        assertCheap(
                "TLS",
                new Pair(
                        new Pair.Side(1, Pair.SESSION, Pair.SECRET, settings),
                        new Pair.Side(2, Pair.SESSION, Pair.SECRET, settings)));
    }
}
