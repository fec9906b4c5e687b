package io.madeleine.tm.bip;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.ProtocolConnection;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A thousand connections over one socket at each end. */
@Timeout(120)
@Tag("measures")
class ManyPeersTest {
    private static final int AT_ONCE = 50;
    private static final long MOST_BYTES_PER_END = 16 * 1024;

    /** Settings of both ends. */
    String settings() {
        return "";
    }

    int count() {
        return 1000;
    }

    /** What was in use at the end of a collection: a thread that allocates later takes 300 KB of the heap. */
    private static long usedBytes() throws InterruptedException {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 4; i++) {
            System.gc();
            long used = 0;
            for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
                MemoryUsage collected = pool.getType() == MemoryType.HEAP ? pool.getCollectionUsage() : null;
                used += collected == null ? 0 : collected.getUsed();
            }
            least = Math.min(least, used);
            Thread.sleep(50);
        }
        return least;
    }

    private static void connect(Pair pair, String channels, int count, List<Pair.Ends> made) {
        while (made.size() < count) {
            List<CompletableFuture<ProtocolConnection>> calling = new ArrayList<>();
            List<CompletableFuture<ProtocolConnection>> answering = new ArrayList<>();
            for (int i = 0; i < AT_ONCE; i++) {
                String channel = channels + (made.size() + i);
                answering.add(pair.right.connect(channel, pair.left, false));
                calling.add(pair.left.connect(channel, pair.right, true));
            }
            pair.driveUntil(() -> calling.stream().allMatch(CompletableFuture::isDone)
                    && answering.stream().allMatch(CompletableFuture::isDone));
            for (int i = 0; i < AT_ONCE; i++) {
                made.add(new Pair.Ends(
                        new Pair.End(calling.get(i).join()),
                        new Pair.End(answering.get(i).join())));
            }
        }
    }

    /** One packet each way, so that whatever a connection takes at first use has been taken. */
    private static void use(Pair pair, List<Pair.Ends> connections) {
        MemorySegment block = MemorySegment.ofArray(new byte[500]);
        long header = PacketHeader.of(500, 1, 0, PacketHeader.FIRST | PacketHeader.LAST);
        for (Pair.Ends ends : connections) {
            assertTrue(ends.left().small().sendPacket(header, block, 0));
            ends.left().small().announce();
        }
        for (Pair.Ends ends : connections) {
            pair.driveUntil(() -> ends.right().small().receivePacket(header, block, 0));
        }
    }

    private static long ringBytes(Pair.Side side) {
        return ((BipAdapter) side.adapter).takenRingBytes();
    }

    @Test
    void shouldTakeLittleMemoryForEachPeerThatIsIdle() throws Exception {
        try (Pair pair = new Pair(settings(), settings())) {
            List<Pair.Ends> first = new ArrayList<>(); // takes what all connections together need once
            connect(pair, "first", AT_ONCE, first);
            use(pair, first);
            pair.driveUntil(() -> ringBytes(pair.left) + ringBytes(pair.right) == 0);
            long before = usedBytes();
            List<Pair.Ends> connections = new ArrayList<>();
            connect(pair, "c", count(), connections);
            use(pair, connections);
            pair.driveUntil(() -> ringBytes(pair.left) + ringBytes(pair.right) == 0); // else idle peers keep memory
            long perEnd = (usedBytes() - before) / (2L * count());
            System.out.println(perEnd + " bytes per end of an idle connection");
            assertTrue(perEnd < MOST_BYTES_PER_END, () -> perEnd + " bytes per end");
            use(pair, connections);
        }
    }
}
