package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.MemorySource;
import io.madeleine.pmm.spi.Region;
import io.madeleine.pmm.spi.RegionListener;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SessionArenasTest {
    private static final int LARGE_BYTES = 100_000;

    private final SessionArenas arenas = new SessionArenas(Optional.empty());

    @AfterEach
    void close() {
        arenas.close();
    }

    /** Keeps what it hears. */
    private static class Registry implements RegionListener {
        final Map<Integer, Region> known = new HashMap<>();
        int removed;
        int freed;

        @Override
        public void added(Region region) {
            assertNull(known.put(region.number(), region), "two regions of one number");
        }

        @Override
        public void removed(Region region, long deadlineNs) {
            assertTrue(region.segment().scope().isAlive(), "it is freed before its time");
            assertEquals(region, known.remove(region.number()));
            removed++;
        }

        @Override
        public void freed(Region region) {
            assertFalse(region.segment().scope().isAlive(), "it is not freed yet");
            freed++;
        }
    }

    /** Has memory for 100,000 bytes only. */
    private static final class Source implements MemorySource {
        int explicitly;

        @Override
        public Optional<MemorySegment> allocate(long bytes, Arena arena) {
            return bytes == LARGE_BYTES ? Optional.of(arena.allocate(bytes, 4096)) : Optional.empty();
        }

        @Override
        public MemorySegment allocateShared(long bytes, Arena arena) throws IOException {
            if (bytes > LARGE_BYTES) {
                throw new IOException("there is room for " + LARGE_BYTES + " bytes");
            }
            explicitly++;
            return arena.allocate(bytes, 4096);
        }
    }

    private Region regionOf(MemorySegment memory) {
        Region found = arenas.memory().find(memory.address());
        assertTrue(found.contains(memory.address(), memory.byteSize()));
        assertSame(found, arenas.memory().find(memory.address() + memory.byteSize() - 1));
        return found;
    }

    @Test
    void shouldTellSeveralModulesOfEachRegion() {
        Registry first = new Registry();
        Registry late = new Registry();
        arenas.memory().listen(first);
        Arena arena = arenas.newArena();
        MemorySegment memory = arena.allocate(LARGE_BYTES);
        arenas.memory().listen(late);
        MemorySegment other = arenas.lasting().allocate(LARGE_BYTES);
        for (Registry registry : List.of(first, late)) {
            assertEquals(2, registry.known.size());
            assertEquals(memory.address(), regionOf(memory).base());
            assertSame(regionOf(other), registry.known.get(regionOf(other).number()));
        }
        arenas.memory().forget(first);
        arena.close();
        assertEquals(List.of(0, 1), List.of(first.removed, late.removed));
        assertEquals(List.of(0, 1), List.of(first.freed, late.freed));
        assertNull(arenas.memory().find(memory.address()));
        assertThrows(IllegalStateException.class, () -> memory.get(ValueLayout.JAVA_BYTE, 0));
    }

    @Test
    void shouldFindTheRegionOfAnyAddress() {
        SplittableRandom random = new SplittableRandom(3);
        List<Arena> open = new ArrayList<>();
        Map<MemorySegment, Arena> live = new HashMap<>();
        for (int i = 0; i < 500; i++) {
            Arena arena = arenas.newArena();
            open.add(arena);
            live.put(arena.allocate(random.nextInt(1, 200_000), 1 << random.nextInt(13)), arena);
            if (random.nextInt(3) == 0) {
                Arena closing = open.remove(random.nextInt(open.size()));
                closing.close();
                live.values().removeIf(closing::equals);
            }
        }
        for (MemorySegment memory : live.keySet()) {
            Region region = regionOf(memory);
            assertFalse(region.contains(memory.address(), region.bytes() + 1));
            Region before = arenas.memory().find(region.base() - 1);
            assertTrue(before == null || before.base() + before.bytes() == region.base());
        }
        assertNull(arenas.memory().find(0));
        assertNull(arenas.memory().find(-1));
    }

    @Test
    void shouldHaveSmallBlocksShareRegions() {
        MemorySegment[] blocks = new MemorySegment[1000];
        Registry registry = new Registry();
        arenas.memory().listen(registry);
        for (int i = 0; i < blocks.length; i++) {
            blocks[i] = arenas.lasting().allocate(100, 1);
            assertEquals(0, blocks[i].address() % 64);
            assertEquals(100, blocks[i].byteSize());
            blocks[i].fill((byte) i);
        }
        for (int i = 0; i < blocks.length; i++) {
            assertEquals((byte) i, blocks[i].get(ValueLayout.JAVA_BYTE, 99));
        }
        assertTrue(registry.known.size() <= 3, registry.known.size() + " regions");
        assertEquals(0, arenas.lasting().allocate(10, 8192).address() % 8192);
        assertThrows(IllegalArgumentException.class, () -> arenas.lasting().allocate(10, 3));
        assertThrows(IllegalArgumentException.class, () -> arenas.lasting().allocate(-1, 8));
    }

    @Test
    void shouldTakeFromASourceWhatItLikesAndSayWhyNotWhatIsToBeShared() {
        Source source = new Source();
        arenas.takeFrom(List.of(source));
        RegionArena arena = arenas.newArena();
        assertEquals(Region.Kind.SHARED, regionOf(arena.allocate(LARGE_BYTES)).kind());
        assertEquals(
                Region.Kind.ORDINARY, regionOf(arena.allocate(LARGE_BYTES - 1)).kind());
        assertEquals(Region.Kind.SHARED, regionOf(arena.allocateShared(1)).kind());
        assertEquals(1, source.explicitly);
        Region refused = regionOf(arena.allocateShared(LARGE_BYTES + 1));
        assertEquals(Region.Kind.ORDINARY, refused.kind());
        assertEquals("there is room for " + LARGE_BYTES + " bytes", refused.remark());
        assertThrows(IllegalArgumentException.class, () -> arena.allocateShared(0));
        assertThrows(IllegalArgumentException.class, () -> arena.allocateShared(Long.MAX_VALUE));
        assertThrows(IllegalArgumentException.class, () -> arenas.own(Arena.global()));
        try (SessionArenas others = new SessionArenas(Optional.empty())) {
            assertThrows(IllegalArgumentException.class, () -> arenas.own(others.newArena()));
        }
        assertSame(arena, arenas.own(arena));
    }

    /** Has memory for all from 12 KiB on. */
    private static final class Pages implements MemorySource {
        final List<Long> given = new ArrayList<>();

        @Override
        public Optional<MemorySegment> allocate(long bytes, Arena arena) {
            return bytes < commonFromBytes() ? Optional.empty() : Optional.of(allocateShared(bytes, arena));
        }

        @Override
        public long commonFromBytes() {
            return 12 * 1024;
        }

        @Override
        public MemorySegment allocateShared(long bytes, Arena arena) {
            given.add(bytes);
            return arena.allocate(bytes, 4096);
        }
    }

    @Test
    void shouldCutBlocksOutOfRegionsThatGrowWithWhatIsTaken() {
        Pages source = new Pages();
        arenas.takeFrom(List.of(source));
        RegionArena arena = arenas.newArena();
        List<MemorySegment> blocks = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            MemorySegment block = i % 2 == 0 ? arena.allocate(16_000) : arena.allocateShared(100);
            assertEquals(Region.Kind.SHARED, regionOf(block).kind());
            assertEquals(0, block.address() % 4096);
            blocks.add(block.fill((byte) i));
        }
        for (int i = 0; i < blocks.size(); i++) {
            assertEquals((byte) i, blocks.get(i).get(ValueLayout.JAVA_BYTE, 0));
            assertEquals(
                    (byte) i,
                    blocks.get(i).get(ValueLayout.JAVA_BYTE, blocks.get(i).byteSize() - 1));
        }
        assertEquals(16_384, source.given.getFirst(), "who takes one takes no more");
        assertTrue(source.given.size() <= 25, source.given + " were given");
        assertTrue(source.given.stream().mapToLong(Long::longValue).sum() < 2L * 250 * 20_480);
        assertEquals(
                Region.Kind.ORDINARY, regionOf(arena.allocate(12 * 1024 - 1)).kind());
        MemorySegment large = arena.allocate(1 << 20);
        assertEquals(1 << 20, regionOf(large).bytes());
    }

    @Test
    void shouldTakeABlockAloneWhereThereIsNoRoomForMore() {
        Source source = new Source();
        arenas.takeFrom(List.of(source));
        RegionArena arena = arenas.newArena();
        for (int i = 0; i < 30; i++) {
            assertEquals(
                    Region.Kind.SHARED, regionOf(arena.allocateShared(20_000)).kind());
        }
    }

    @Test
    void shouldWaitForThoseWhoUseMemoryBeforeModulesLetGoOfIt() {
        AtomicReference<List<Region>> drained = new AtomicReference<>();
        Registry registry = new Registry();
        arenas.memory().listen(registry);
        Arena arena = arenas.newArena();
        MemorySegment memory = arena.allocate(LARGE_BYTES);
        arenas.drainBy(
                (regions, deadlineNs) -> {
                    drained.set(regions);
                    assertEquals(0, registry.removed);
                    assertTrue(deadlineNs - System.nanoTime() > 0);
                    assertThrows(IllegalStateException.class, () -> arena.allocate(1));
                },
                60_000_000_000L);
        Region region = regionOf(memory);
        arena.close();
        assertEquals(List.of(region), drained.get());
        assertEquals(1, registry.removed);
        assertThrows(IllegalStateException.class, arena::close);
    }

    @Test
    void shouldStayOpenIfTheWaitFails() {
        AtomicBoolean fails = new AtomicBoolean(true);
        arenas.drainBy(
                (_, _) -> {
                    if (fails.get()) {
                        throw new IllegalStateException("in a handler");
                    }
                },
                0);
        Arena arena = arenas.newArena();
        MemorySegment memory = arena.allocate(LARGE_BYTES);
        assertThrows(IllegalStateException.class, arena::close);
        memory.set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
        MemorySegment more = arena.allocate(10);
        fails.set(false);
        arena.close();
        assertFalse(more.scope().isAlive());
    }

    @Test
    void shouldStayOpenIfTheWaitEndsInAnError() {
        AtomicBoolean fails = new AtomicBoolean(true);
        arenas.drainBy(
                (_, _) -> {
                    if (fails.getAndSet(false)) {
                        throw new StackOverflowError();
                    }
                },
                0);
        Arena arena = arenas.newArena();
        MemorySegment memory = arena.allocate(LARGE_BYTES);
        assertThrows(StackOverflowError.class, arena::close);
        arena.close();
        assertFalse(memory.scope().isAlive());
    }

    @Test
    void shouldBeClosedAgainOnceASystemCallHasLetGoOfTheMemory() throws Exception {
        Registry registry = new Registry();
        arenas.memory().listen(registry);
        Arena arena = arenas.newArena();
        MemorySegment memory = arena.allocate(LARGE_BYTES);
        Pipe pipe = Pipe.open();
        Thread reader = Thread.ofPlatform().start(() -> {
            try {
                int _ = pipe.source().read(memory.asByteBuffer());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        while (reader.getState() != Thread.State.RUNNABLE || !isInRead(reader)) {
            Thread.onSpinWait();
        }
        assertThrows(IllegalStateException.class, arena::close);
        assertEquals(0, registry.freed);
        int _ = pipe.sink().write(ByteBuffer.wrap(new byte[1]));
        reader.join();
        arena.close();
        assertEquals(1, registry.freed);
        assertFalse(memory.scope().isAlive());
        pipe.sink().close();
        pipe.source().close();
    }

    private static boolean isInRead(Thread thread) {
        return Arrays.stream(thread.getStackTrace())
                .anyMatch(
                        frame -> frame.isNativeMethod() && frame.getMethodName().startsWith("read"));
    }

    @Test
    void shouldNotTellALateModuleOfARegionThatIsBeingRemoved() {
        Registry late = new Registry();
        arenas.memory().listen(new Registry() {
            @Override
            public void removed(Region region, long deadlineNs) {
                super.removed(region, deadlineNs);
                arenas.memory().listen(late);
            }
        });
        Arena arena = arenas.newArena();
        MemorySegment _ = arena.allocate(LARGE_BYTES);
        arena.close();
        assertEquals(0, late.known.size());
        MemorySegment _ = arenas.lasting().allocate(LARGE_BYTES);
        assertEquals(1, late.known.size());
    }

    @Test
    void shouldFreeWhatIsStillOpenInTheEnd() {
        Arena arena = arenas.newArena();
        MemorySegment memory = arena.allocate(LARGE_BYTES);
        assertThrows(UnsupportedOperationException.class, () -> arenas.lasting().close());
        arenas.close();
        assertFalse(memory.scope().isAlive());
        arena.close(); // it has been, with the session
        assertThrows(IllegalStateException.class, () -> arena.allocate(1));
        assertThrows(IllegalStateException.class, () -> arenas.lasting().allocate(1));
    }
}
