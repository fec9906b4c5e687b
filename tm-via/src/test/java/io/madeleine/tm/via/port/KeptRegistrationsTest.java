package io.madeleine.tm.via.port;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.Region;
import io.madeleine.tm.via.Fabrics;
import io.madeleine.tm.via.ffi.Fabric;
import io.madeleine.tm.via.ffi.FabricException;
import io.madeleine.tm.via.ffi.FabricInfo;
import io.madeleine.tm.via.ffi.FabricLibrary;
import io.madeleine.tm.via.ffi.Flags;
import io.madeleine.tm.via.ffi.Registration;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Registrations that are kept, of real memory with a real provider. */
class KeptRegistrationsTest {
    private static final int CELL = 4096;
    private static final int CELLS = 6;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory = arena.allocate((long) CELLS * CELL - 100, CELL);
    private final Region region = new Region(0, memory, Region.Kind.ORDINARY, "");
    private FabricInfo info;
    private Fabric fabric;
    private long keys;
    private long mostAtOnce = Long.MAX_VALUE;
    private KeptRegistrations kept;
    private KeptRegistrations.Cells cells;

    @BeforeEach
    void open() {
        Fabrics.require();
        info = FabricInfo.find(
                        FabricLibrary.load(Optional.empty()),
                        new FabricInfo.Query(Optional.of("net"), Optional.empty(), Optional.of("127.0.0.1")))
                .getFirst();
        fabric = new Fabric(info, 64, false);
    }

    @AfterEach
    void close() {
        kept.remove(cells);
        assertEquals(0, kept.count());
        fabric.closeEndpoint();
        fabric.close();
        arena.close();
    }

    private void keep(long mostBytes, int mostCount) {
        kept = new KeptRegistrations(this::register, CELL, mostBytes, mostCount);
        cells = kept.cells(region);
    }

    private Registration register(long address, long bytes) {
        if (kept.countUnlocked() >= mostAtOnce) {
            throw new FabricException(0, "too much is registered");
        }
        return fabric.register(address, bytes, Flags.FI_REMOTE_WRITE, ++keys);
    }

    private KeptRegistration use(int cell) {
        return kept.use(cells, memory.address() + (long) cell * CELL + 17);
    }

    private long keyOf(int cell) {
        KeptRegistration used = use(cell);
        used.endUse();
        return used.key();
    }

    @Test
    void shouldEndWhatIsOnlyKeptWhenSomethingElseNeedsRoom() {
        keep(CELLS * CELL, CELLS);
        KeptRegistration used = use(0);
        use(1).endUse();
        use(2).endUse();
        assertTrue(kept.endUnused());
        assertEquals(1, kept.count());
        assertFalse(kept.endUnused(), "one is in use");
        used.endUse();
    }

    @Test
    void shouldRegisterACellOnceAndWhole() {
        keep(CELLS * CELL, CELLS);
        KeptRegistration first = use(1);
        assertEquals(memory.address() + CELL, first.base());
        first.endUse();
        assertEquals(first.key(), keyOf(1));
        assertNotEquals(first.key(), keyOf(2));
        assertEquals(2, kept.count());
        assertEquals(CELL - 17, cells.bytesLeft(memory.address() + 17));
        assertEquals(CELL - 100, use(CELLS - 1).bytes());
        assertEquals(3, kept.count());
        use(CELLS - 1).endUse();
        use(CELLS - 1).endUse();
    }

    @Test
    void shouldEndThoseThatWereNotUsedForTheLongestTime() {
        keep(CELLS * CELL, 2);
        long zero = keyOf(0);
        long one = keyOf(1);
        assertEquals(zero, keyOf(0)); // now 1 is the oldest
        keyOf(2);
        assertEquals(2, kept.count());
        assertEquals(zero, keyOf(0));
        assertNotEquals(one, keyOf(1));
    }

    @Test
    void shouldBoundTheirBytes() {
        keep(3 * CELL, CELLS);
        for (int cell = 0; cell < CELLS; cell++) {
            keyOf(cell);
            assertEquals(Math.min(3, cell + 1), kept.count());
        }
    }

    @Test
    void shouldKeepNothingIfNothingMayBeKept() {
        keep(0, 0);
        long first = keyOf(0);
        assertEquals(0, kept.count());
        assertNotEquals(first, keyOf(0));
    }

    @Test
    void shouldNotEndWhatIsInUse() {
        keep(CELLS * CELL, 1);
        KeptRegistration used = use(0);
        KeptRegistration other = use(1);
        assertEquals(2, kept.count());
        assertEquals(used.key(), keyOf(0));
        other.endUse();
        assertEquals(1, kept.count());
        used.endUse();
        assertEquals(1, kept.count());
    }

    @Test
    void shouldEndUnusedOnesWhenARegistrationFails() {
        keep(CELLS * CELL, CELLS);
        mostAtOnce = 2;
        keyOf(0);
        KeptRegistration used = use(1);
        KeptRegistration next = use(2); // 0 has ended for it
        assertEquals(2, kept.count());
        assertThrows(FabricException.class, () -> use(3));
        next.endUse();
        assertNotEquals(used.key(), keyOf(3));
        used.endUse();
    }

    @Test
    void shouldEndWithTheirRegionOrWithTheirLastUse() {
        keep(CELLS * CELL, CELLS);
        keyOf(0);
        KeptRegistration used = use(1);
        kept.remove(cells);
        assertEquals(0, kept.count());
        assertNotEquals(used.key(), keyOf(1)); // nobody finds it any more
        used.endUse();
        assertEquals(1, kept.count());
    }
}
