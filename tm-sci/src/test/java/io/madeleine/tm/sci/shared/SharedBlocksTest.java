package io.madeleine.tm.sci.shared;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.Region;
import io.madeleine.pmm.spi.SessionMemory;
import io.madeleine.tm.sci.files.SessionDirectory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SharedBlocksTest {
    private static final int LARGE = (int) Slab.MAX_BLOCK_BYTES + 1;

    @TempDir
    Path parent;

    private SessionDirectory directory;
    private SharedBlocks blocks;

    @BeforeEach
    void open() {
        directory = SessionDirectory.join(parent, "now", new ProcessIdentity(1, 0));
        blocks = new SharedBlocks(directory, SessionMemory.none(), 1);
    }

    @AfterEach
    void close() {
        blocks.close();
        directory.close();
    }

    private long files() throws IOException {
        try (Stream<Path> files = Files.list(directory.path())) {
            return files.filter(file -> file.toString().endsWith(SessionDirectory.BLOCK))
                    .count();
        }
    }

    /** Takes memory that the session never announces, as if it failed in between. */
    private void takeInVain(long bytes) {
        try (Arena arena = Arena.ofShared()) {
            assertTrue(blocks.allocate(bytes, arena).isPresent());
        }
    }

    @Test
    void shouldReuseThePagesOfBlocksThatTheSessionFailedToAnnounce() throws Exception {
        for (int i = 0; i < 20; i++) {
            takeInVain(Slab.MAX_BLOCK_BYTES);
        }
        assertEquals(1, files());
    }

    @Test
    void shouldDeleteTheFilesOfBlocksThatTheSessionFailedToAnnounce() throws Exception {
        for (int i = 0; i < 20; i++) {
            takeInVain(LARGE);
        }
        assertEquals(1, files(), "the last one, until the next is taken");
    }

    private static Region region(int number, MemorySegment memory) {
        return new Region(number, memory, Region.Kind.SHARED, "");
    }

    @Test
    void shouldFindManyBlocksByTheirRegionsUntilTheseAreRemoved() throws Exception {
        int count = 100;
        try (Arena arena = Arena.ofShared()) {
            Region[] regions = new Region[count];
            for (int i = 0; i < count; i++) {
                MemorySegment memory = blocks.allocateShared(4096, arena);
                regions[i] = region(i, memory);
                blocks.added(regions[i]);
            }
            for (int i = 0; i < count; i++) {
                SharedBlock block = blocks.block(regions[i]);
                assertNotNull(block);
                assertEquals(regions[i].base(), block.memory().address());
            }
            blocks.removed(regions[50], System.nanoTime());
            assertNull(blocks.block(regions[50]));
            assertNotNull(blocks.block(regions[49]));
            assertNotNull(blocks.block(regions[51]));
        }
    }
}
