package io.madeleine.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.api.Session;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Which pages the large blocks of a session are on. */
@Tag("quiet")
class LargeBlocksIT {
    private static final Path ENABLED = Path.of("/sys/kernel/mm/transparent_hugepage/enabled");

    private static long hugeKib(String network) throws Exception {
        try (Processes processes = Ranks.of(2, Program.class)
                .over(network)
                .with("tm.sci.dma.shared-blocks=false")
                .start()) {
            processes.assertSuccess();
            String line = processes.awaitLine(1, "huge: ");
            return Long.parseLong(line.replaceAll(".*huge: ", ""));
        }
    }

    @Test
    void shouldBeHugeWhereNativeAccessIsGranted() throws Exception {
        assumeTrue(
                Files.exists(ENABLED) && !Files.readString(ENABLED).contains("[never]"),
                "this system has no transparent huge pages");
        long before = fallbacks();
        boolean huge = hugeKib("dma") >= Program.BYTES / 1024;
        assumeTrue(huge || fallbacks() == before, "the kernel had no huge page free");
        assertTrue(huge, "not on huge pages");
    }

    /** How often the kernel has had no huge page to give. */
    private static long fallbacks() throws IOException {
        return Files.readAllLines(Path.of("/proc/vmstat")).stream()
                .filter(line -> line.startsWith("thp_fault_fallback "))
                .mapToLong(line -> Long.parseLong(line.split(" ")[1]))
                .sum();
    }

    @Test
    void shouldBeOrdinaryWithoutNativeAccess() throws Exception {
        assumeTrue(
                Files.exists(ENABLED) && !Files.readString(ENABLED).contains("[always]"),
                "this system gives huge pages to everybody, or cannot tell");
        assertEquals(0, hugeKib("sci"));
    }

    /** Rank 0 sends a block, rank 1 says how much of its memory, where that has arrived, is huge. */
    static final class Program {
        static final int BYTES = 32 << 20;

        public static void main(String[] args) throws IOException {
            try (Session session = Session.open()) {
                Channel channel = session.channel();
                MemorySegment block = session.allocate(BYTES);
                if (session.rank() == 0) {
                    Contents.fill(block, 0);
                    channel.beginPacking(1).pack(block).endPacking();
                    channel.beginUnpacking().endUnpacking(); // who leaves sooner is missed, and that is said
                } else {
                    IncomingMessage in = channel.beginUnpacking();
                    in.unpack(block, SendMode.CHEAPER, ReceiveMode.CHEAPER).endUnpacking();
                    Contents.check(block, 0, "a large block");
                    long kib = Files.readAllLines(Path.of("/proc/self/smaps_rollup")).stream()
                            .filter(line -> line.startsWith("AnonHugePages:"))
                            .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
                            .sum();
                    System.out.println("huge: " + kib);
                    channel.beginPacking(0).endPacking();
                }
            }
        }
    }
}
