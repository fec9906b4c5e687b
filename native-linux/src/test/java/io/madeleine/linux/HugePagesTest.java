package io.madeleine.linux;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.pmm.spi.LargePages;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.ServiceLoader;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the kernel says of memory that is asked for on huge pages. */
class HugePagesTest {
    private static final long BYTES = 9_000_001;

    private final LargePages pages =
            ServiceLoader.load(LargePages.class).findFirst().orElseThrow();

    @BeforeEach
    void need() {
        assumeTrue(pages.availability().on(), pages.availability().reason());
    }

    /** How many KiB of the mapping at an address are huge pages; -1 if nothing is mapped there. */
    private static long hugeKib(long address) throws Exception {
        boolean here = false;
        for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
            if (line.matches("[0-9a-f]+-[0-9a-f]+ .*")) {
                String[] range = line.substring(0, line.indexOf(' ')).split("-");
                here = Long.compareUnsigned(Long.parseUnsignedLong(range[0], 16), address) <= 0
                        && Long.compareUnsigned(Long.parseUnsignedLong(range[1], 16), address) > 0;
            } else if (here && line.startsWith("AnonHugePages:")) {
                return Long.parseLong(line.replaceAll("[^0-9]", ""));
            }
        }
        return -1;
    }

    @Test
    void shouldBeOnHugePagesThatAreZeroAndGoWithTheirArena() throws Exception {
        long left = 0;
        for (int i = 0; i < 10 && left != -1; i++) { // another thread may map something in its place
            MemorySegment memory;
            try (Arena arena = Arena.ofShared()) {
                memory = pages.allocate(BYTES, arena).orElseThrow();
                checkOnHugePages(memory);
            }
            assertThrows(IllegalStateException.class, () -> memory.get(ValueLayout.JAVA_BYTE, 0));
            left = hugeKib(memory.address());
        }
        assertEquals(-1, left, "still mapped");
    }

    private void checkOnHugePages(MemorySegment memory) throws Exception {
        assertEquals(BYTES, memory.byteSize());
        assertEquals(0, memory.address() % pages.pageBytes());
        long before = faultsWithoutHugePage();
        assertEquals(0, memory.get(ValueLayout.JAVA_BYTE, BYTES - 1));
        memory.fill((byte) 1);
        long kib = hugeKib(memory.address());
        boolean enough = kib >= BYTES / 1024 / 2;
        assumeTrue(enough || faultsWithoutHugePage() == before, "the system has no huge page to give at the moment");
        assertTrue(enough, kib + " KiB of huge pages");
        assertThrows(IndexOutOfBoundsException.class, () -> memory.get(ValueLayout.JAVA_BYTE, BYTES));
    }

    /** How often the system had to take small pages where it wanted a huge one. */
    private static long faultsWithoutHugePage() throws Exception {
        return Files.readAllLines(Path.of("/proc/vmstat")).stream()
                .filter(line -> line.startsWith("thp_fault_fallback "))
                .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(' ') + 1)))
                .sum();
    }

    private static long mappedPages() throws Exception {
        return Long.parseLong(Files.readString(Path.of("/proc/self/statm")).split(" ")[0]);
    }

    @Test
    void shouldGiveAllOfItBack() throws Exception {
        long before = mappedPages();
        for (int round = 0; round < 50; round++) {
            try (Arena arena = Arena.ofConfined()) {
                assertTrue(pages.allocate(1L << 30, arena).isPresent());
            }
        }
        assertTrue(mappedPages() - before < (1L << 30) / 4096, "what was cut off at the ends counts, too");
        for (int round = 0; round < 3_000; round++) {
            try (Arena arena = Arena.ofConfined()) {
                assertTrue(pages.allocate(1, arena).isPresent());
            }
        }
        assertTrue(mappedPages() - before < (1L << 30) / 4096, "the cuts of small blocks are left");
    }

    @Test
    void shouldTakeNothingForAnArenaThatIsClosed() {
        Arena arena = Arena.ofShared();
        arena.close();
        assertThrows(IllegalStateException.class, () -> pages.allocate(BYTES, arena));
        assertTrue(pages.allocate(1L << 62, Arena.ofAuto()).isEmpty());
    }

    @Test
    void shouldSayWhyThereAreNone(@TempDir Path system) throws Exception {
        assertTrue(new HugePages(system).availability().reason().contains("not in this kernel"));
        Files.write(system.resolve("enabled"), List.of("always madvise [never]"));
        HugePages none = new HugePages(system);
        assertFalse(none.availability().on());
        assertTrue(none.availability().reason().contains("switched off"));
        assertThrows(IllegalStateException.class, () -> none.allocate(BYTES, Arena.ofAuto()));
    }
}
