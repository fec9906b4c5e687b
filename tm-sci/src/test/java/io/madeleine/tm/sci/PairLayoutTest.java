package io.madeleine.tm.sci;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.typesafe.config.ConfigFactory;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.tm.sci.link.CellLayout;
import io.madeleine.tm.sci.link.PairLayout;
import io.madeleine.tm.sci.link.PairSizes;
import io.madeleine.tm.sci.memory.OrderedWords;
import io.madeleine.tm.sci.wake.InboxLayout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Where things lie in a pair segment, and how many bytes that takes. */
class PairLayoutTest {
    private static final long CONTAINER_BYTES = 64L << 20;

    private record Region(long begin, long end) {}

    private static SciConfig defaults() {
        return SciConfig.from(ConfigFactory.load());
    }

    private static SciConfig profile(String name) {
        return SciConfig.from(
                ConfigFactory.parseFile(Path.of("..", "conf", name).toFile()).withFallback(ConfigFactory.load()));
    }

    private static List<TransmissionCapabilities> modules(SciConfig config) {
        return new SciPmm(config).transmissionModules();
    }

    private static PairSizes chosen(SciConfig config, List<TransmissionCapabilities> modules) {
        return PairSizes.chosen(config.shortRingBytes(), config.regularCellBytes(), config.regularCells(), modules);
    }

    private static long bytesPerConnection(SciConfig config) {
        List<TransmissionCapabilities> modules = modules(config);
        return PairLayout.of(modules, chosen(config, modules)).totalBytes();
    }

    /** Of a session on one host with one channel: a segment for each pair, an inbox and a record for each process. */
    private static long sessionBytes(int processes, long bytesPerConnection) {
        return processes * (processes - 1L) / 2 * bytesPerConnection
                + processes * (InboxLayout.BYTES + OrderedWords.PAGE_BYTES);
    }

    @Test
    void shouldTakeAsManyBytesPerConnectionAsTheReadmeSays() throws IOException {
        String readme = Files.readString(Path.of("README.md"));
        SciConfig noSingleCopy = Side.settings("dma.single-copy = off");
        for (SciConfig config : List.of(defaults(), noSingleCopy, profile("many-processes.conf"))) {
            String bytes = String.format(Locale.ROOT, "| %,d |", bytesPerConnection(config));
            assertTrue(readme.contains(bytes), "README.md has no cell \"" + bytes + "\"");
        }
    }

    @Test
    void shouldFitAContainersMemory() {
        assertTrue(sessionBytes(8, bytesPerConnection(Side.settings("dma.single-copy = on"))) <= CONTAINER_BYTES);
        assertTrue(sessionBytes(64, bytesPerConnection(profile("many-processes.conf"))) <= CONTAINER_BYTES);
    }

    @Test
    void shouldLetNothingOverlap() {
        Random random = new Random(21);
        for (int trial = 0; trial < 1_000; trial++) {
            List<TransmissionCapabilities> modules = modules(
                    random.nextInt(64, 20_000) & ~7, random.nextInt(5)); // both, one of them, or in the other order
            PairSizes sizes = new PairSizes(
                    1 << random.nextInt(17, 22),
                    OrderedWords.PAGE_BYTES * random.nextInt(1, 33),
                    random.nextInt(PairSizes.MIN_CELLS, 70));
            assertTrue(sizes.isValid(modules));
            assertDisjoint(PairLayout.of(modules, sizes), modules + " " + sizes);
        }
    }

    private static List<TransmissionCapabilities> modules(int bufferBytes, int choice) {
        SciConfig config = Side.settings("short.buffer = " + bufferBytes + ", short.ring = 1 MiB");
        List<TransmissionCapabilities> both = modules(config);
        return switch (choice) {
            case 0 -> List.of(both.getFirst());
            case 1 -> List.of(both.getLast());
            case 2 -> both.reversed();
            default -> both;
        };
    }

    private static void assertDisjoint(PairLayout layout, String what) {
        List<Region> regions = new ArrayList<>();
        for (int side : new int[] {PairLayout.INITIATOR, PairLayout.ACCEPTOR}) {
            regions.add(new Region(PairLayout.state(side), PairLayout.state(side) + Long.BYTES));
            regions.add(new Region(PairLayout.watch(side), PairLayout.watch(side) + Long.BYTES));
            regions.add(new Region(PairLayout.roomWanted(side), PairLayout.roomWanted(side) + Long.BYTES));
        }
        layout.rings()
                .forEach(both -> both.forEach(ring -> {
                    assertEquals(0, ring.consumerOffset() % OrderedWords.LINE_BYTES, what);
                    regions.add(new Region(ring.consumerOffset(), ring.consumerOffset() + ring.totalBytes()));
                }));
        layout.cells()
                .forEach(both -> both.forEach(line -> {
                    assertEquals(0, line.controlOffset() % OrderedWords.LINE_BYTES, what);
                    assertEquals(0, line.dataOffset() % OrderedWords.PAGE_BYTES, what);
                    regions.add(new Region(
                            line.controlOffset(), line.controlOffset() + CellLayout.controlBytes(line.cells())));
                    regions.add(new Region(line.dataOffset(), line.dataOffset() + line.dataBytes()));
                }));
        regions.add(new Region(layout.totalBytes(), Long.MAX_VALUE));
        regions.sort(Comparator.comparing(Region::begin));
        for (int i = 1; i < regions.size(); i++) {
            assertTrue(regions.get(i - 1).end <= regions.get(i).begin, what + " " + regions);
        }
    }

    @Test
    void shouldShrinkUntilItFitsAndStayValid() {
        SciConfig config = Side.settings("short { ring = 1 MiB }, regular { cell = 100 KiB, cells = 9 }");
        List<TransmissionCapabilities> modules = modules(config);
        PairSizes configured = chosen(config, modules);
        long bytes = PairLayout.of(modules, configured).totalBytes();
        assertEquals(configured, configured.within(modules, bytes));
        PairSizes smallest = configured.within(modules, 0);
        long smallestBytes = PairLayout.of(modules, smallest).totalBytes();
        assertEquals(new PairSizes(64 * 1024, OrderedWords.PAGE_BYTES, PairSizes.MIN_CELLS), smallest);
        for (long limit = bytes - 1; limit >= smallestBytes; limit = limit * 9 / 10) {
            PairSizes fitting = configured.within(modules, limit);
            assertTrue(fitting.isValid(modules), fitting.toString());
            long fittingBytes = PairLayout.of(modules, fitting).totalBytes();
            assertTrue(fittingBytes <= limit, fitting + " in " + limit);
            assertTrue(fittingBytes > limit / 4 || fitting.equals(smallest), fitting + " in " + limit);
        }
    }
}
