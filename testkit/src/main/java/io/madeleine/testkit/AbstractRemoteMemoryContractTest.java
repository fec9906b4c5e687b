package io.madeleine.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.pmm.RegionArena;
import io.madeleine.pmm.spi.AttachedMemory;
import io.madeleine.pmm.spi.ExportedMemory;
import io.madeleine.pmm.spi.RemoteCompletion;
import io.madeleine.pmm.spi.RemoteMemory;
import io.madeleine.pmm.spi.RemoteMemory.Access;
import io.madeleine.pmm.spi.RemoteMemoryException;
import io.madeleine.pmm.spi.RemoteMemoryException.Kind;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/**
 * The contract of every adapter's {@link RemoteMemory}, tested between two adapters in one process: the left one
 * exports, the right one attaches.
 */
public abstract class AbstractRemoteMemoryContractTest extends AbstractSpiTest {
    private static final int UNDER_WAY = 40;
    private static final int BYTES = 3_000_001;
    private static final int FREED_ROUNDS = 120;
    private static final long SOON_NS = 4_000_000_000L;
    private static final String WITHOUT_ATOMICS = "this network cannot update words";
    private static final Set<Kind> GONE = EnumSet.of(Kind.REVOKED, Kind.LOST);

    private RegionArena arena;
    private RemoteMemory owner;
    private RemoteMemory peer;

    /** For the tests of families. */
    protected AbstractRemoteMemoryContractTest() {}

    /** The outcome of an operation. */
    private static final class Outcome implements RemoteCompletion {
        private final AtomicInteger told = new AtomicInteger();
        private volatile long value;
        private volatile @Nullable RemoteMemoryException failure;

        @Override
        public void completed(long before) {
            value = before;
            told.incrementAndGet();
        }

        @Override
        public void failed(RemoteMemoryException why) {
            failure = why;
            told.incrementAndGet();
        }

        boolean isDone() {
            return told.get() > 0;
        }

        long value() {
            assertEquals(1, told.get(), "the completion was called more than once");
            RemoteMemoryException why = failure;
            if (why != null) {
                throw why;
            }
            return value;
        }
    }

    /** The outcome of many operations. */
    private static final class Tally implements RemoteCompletion {
        private final AtomicInteger completed = new AtomicInteger();
        private volatile @Nullable RemoteMemoryException failure;

        @Override
        public void completed(long before) {
            completed.incrementAndGet();
        }

        @Override
        public void failed(RemoteMemoryException why) {
            failure = why;
        }

        /** Waits until this many operations are complete; throws the failure of one that failed. */
        void await(int count) {
            while (completed.get() < count) {
                RemoteMemoryException why = failure;
                if (why != null) {
                    throw why;
                }
                Thread.yield();
            }
        }
    }

    @BeforeEach
    void take() {
        arena = left.arenas.newArena();
        owner = left.adapter.remoteMemory().orElseThrow();
        peer = right.adapter.remoteMemory().orElseThrow();
    }

    /** Begins an operation and waits for its end; returns its value or throws its failure. */
    private long run(Consumer<RemoteCompletion> operation) {
        Outcome outcome = new Outcome();
        operation.accept(outcome);
        assertTrue(outcome.isDone() || !peer.capabilities().immediate(), "an immediate operation was pending");
        drive(outcome::isDone);
        return outcome.value();
    }

    private static Kind kindOf(Executable refused) {
        RemoteMemoryException thrown = assertThrows(RemoteMemoryException.class, refused);
        assertFalse(String.valueOf(thrown.getMessage()).isBlank());
        return thrown.kind();
    }

    /**
     * Runs a call that may wait for a process's engine in another thread, and polls both processes; returns its result.
     */
    private <T> T meanwhile(Supplier<T> call) {
        CompletableFuture<T> result = CompletableFuture.supplyAsync(
                call, task -> Thread.ofPlatform().daemon().start(task));
        drive(result::isDone);
        try {
            return result.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof RemoteMemoryException refused) {
                throw refused;
            }
            throw e;
        }
    }

    private AttachedMemory attachAs(byte[] descriptor) {
        return meanwhile(() -> peer.attach(descriptor));
    }

    private static MemorySegment pattern(int bytes, int seed) {
        byte[] pattern = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            pattern[i] = (byte) (i * 31 + (i >> 9) + seed);
        }
        return MemorySegment.ofArray(pattern);
    }

    private AttachedMemory attach(MemorySegment memory, Access access) {
        AttachedMemory attached = attachAs(owner.export(memory, access).descriptor());
        assertEquals(memory.byteSize(), attached.bytes());
        return attached;
    }

    private long put(AttachedMemory to, long at, long value) {
        MemorySegment word = MemorySegment.ofArray(new long[] {value});
        return run(completion -> to.put(word, 0, at, Long.BYTES, completion));
    }

    @Test
    void shouldPutAndGetWhereverMemoryIsExported() {
        MemorySegment all = arena.allocateShared(BYTES);
        for (int bytes : new int[] {1, 7, 4096, 2_500_000}) {
            MemorySegment exported = all.asSlice(bytes % 977, bytes);
            try (AttachedMemory attached = attach(exported, Access.READ_WRITE)) {
                for (MemorySegment memory : new MemorySegment[] {
                    pattern(bytes, bytes), Arena.ofAuto().allocate(bytes).fill((byte) 3)
                }) {
                    run(completion -> attached.put(memory, 0, 0, bytes, completion));
                    assertEquals(-1, exported.mismatch(memory), "put of " + bytes);
                    MemorySegment back = Arena.ofAuto().allocate(bytes + 5);
                    run(completion -> attached.get(0, back, 5, bytes, completion));
                    assertEquals(-1, back.asSlice(5).mismatch(memory), "get of " + bytes);
                }
                run(completion -> attached.put(pattern(1, 1), 0, bytes - 1, 1, completion));
                assertEquals(
                        pattern(1, 1).get(ValueLayout.JAVA_BYTE, 0), exported.get(ValueLayout.JAVA_BYTE, bytes - 1));
                run(completion -> attached.get(bytes, exported, 0, 0, completion));
            }
        }
        assertEquals(0, all.get(ValueLayout.JAVA_BYTE, BYTES - 1), "a byte outside the export was written");
    }

    @Test
    void shouldAddAndSetWordsOfBothWidths() {
        assumeTrue(peer.capabilities().atomics(), WITHOUT_ATOMICS);
        MemorySegment memory = arena.allocateShared(64);
        try (AttachedMemory attached = attach(memory, Access.READ_WRITE)) {
            memory.set(ValueLayout.JAVA_LONG, 8, -5);
            assertEquals(-5, run(completion -> attached.fetchAdd(8, 8, 1L << 40, completion)));
            assertEquals((1L << 40) - 5, memory.get(ValueLayout.JAVA_LONG, 8));
            memory.set(ValueLayout.JAVA_INT, 20, Integer.MAX_VALUE);
            assertEquals(Integer.MAX_VALUE, run(completion -> attached.fetchAdd(20, 4, 1, completion)));
            assertEquals(Integer.MIN_VALUE, memory.get(ValueLayout.JAVA_INT, 20));
            assertEquals(0, memory.get(ValueLayout.JAVA_LONG, 24));
            assertEquals(Integer.MIN_VALUE, run(completion -> attached.compareAndSet(20, 4, 1, 2, completion)));
            assertEquals(Integer.MIN_VALUE, memory.get(ValueLayout.JAVA_INT, 20));
            assertEquals(
                    Integer.MIN_VALUE,
                    run(completion -> attached.compareAndSet(20, 4, Integer.MIN_VALUE, 9, completion)));
            assertEquals(9, memory.get(ValueLayout.JAVA_INT, 20));
            assertEquals(0, run(completion -> attached.compareAndSet(32, 8, 0, -1, completion)));
            assertEquals(-1, memory.get(ValueLayout.JAVA_LONG, 32));
        }
    }

    @Test
    void shouldRefuseToUpdateWordsWhereItCannot() {
        assumeFalse(peer.capabilities().atomics(), "this network updates words");
        try (AttachedMemory attached = attach(arena.allocateShared(64), Access.READ_WRITE)) {
            assertEquals(Kind.UNSUPPORTED, kindOf(() -> attached.fetchAdd(8, 8, 1, new Outcome())));
            assertEquals(Kind.UNSUPPORTED, kindOf(() -> attached.compareAndSet(8, 4, 1, 2, new Outcome())));
        }
    }

    @Test
    void shouldCountWithoutLosingAny() {
        assumeTrue(peer.capabilities().atomics(), WITHOUT_ATOMICS);
        int each = 2_000;
        MemorySegment memory = arena.allocateShared(16);
        byte[] descriptor = owner.export(memory, Access.READ_WRITE).descriptor();
        CompletableFuture<?>[] threads = new CompletableFuture<?>[3];
        for (int i = 0; i < threads.length; i++) {
            RemoteMemory from = i == 2 ? owner : peer; // the owner can attach its own export
            threads[i] = CompletableFuture.runAsync(() -> {
                try (AttachedMemory attached = from.attach(descriptor)) {
                    Tally tally = new Tally();
                    for (int n = 0; n < each; n++) {
                        attached.fetchAdd(n % 2 * 8L, n % 2 == 0 ? 8 : 4, 1, tally);
                        tally.await(n + 1 - UNDER_WAY);
                    }
                    tally.await(each);
                }
            });
        }
        drive(CompletableFuture.allOf(threads)::isDone);
        CompletableFuture.allOf(threads).join();
        assertEquals(threads.length * each / 2, memory.get(ValueLayout.JAVA_LONG, 0));
        assertEquals(threads.length * each / 2, memory.get(ValueLayout.JAVA_LONG, 8));
    }

    @Test
    void shouldRefuseWhatIsOutsideOrNoWordOrNotAllowed() {
        MemorySegment memory = arena.allocateShared(1000);
        RemoteCompletion none = new Outcome();
        MemorySegment own = MemorySegment.ofArray(new byte[2000]);
        try (AttachedMemory attached = attach(memory.asSlice(8, 100), Access.READ_WRITE);
                AttachedMemory readable = attach(memory, Access.READ)) {
            for (long[] place :
                    new long[][] {{-1, 1}, {0, 101}, {100, 1}, {Long.MAX_VALUE, 2}, {1, Long.MAX_VALUE}, {0, -1}}) {
                assertEquals(Kind.OUT_OF_RANGE, kindOf(() -> attached.put(own, 0, place[0], place[1], none)));
                assertEquals(Kind.OUT_OF_RANGE, kindOf(() -> attached.get(place[0], own, 0, place[1], none)));
            }
            for (int[] word : new int[][] {{1, 8}, {4, 8}, {2, 4}, {0, 2}, {0, 16}, {96, 8}, {100, 4}, {-8, 8}}) {
                assertEquals(Kind.OUT_OF_RANGE, kindOf(() -> attached.fetchAdd(word[0], word[1], 1, none)));
                assertEquals(Kind.OUT_OF_RANGE, kindOf(() -> attached.compareAndSet(word[0], word[1], 0, 1, none)));
            }
            assertEquals(Kind.READ_ONLY, kindOf(() -> readable.put(own, 0, 0, 1, none)));
            assertEquals(Kind.READ_ONLY, kindOf(() -> readable.fetchAdd(0, 8, 1, none)));
            run(completion -> readable.get(0, own, 0, 1000, completion));
        }
        assertEquals(-1, memory.mismatch(MemorySegment.ofArray(new byte[1000])));
    }

    private static void assertNamed(String argument, Executable refused) {
        assertEquals(argument, assertThrows(NullPointerException.class, refused).getMessage());
    }

    @Test
    @SuppressWarnings("NullAway") // null is what is tested
    void shouldNameAnArgumentThatIsNull() {
        MemorySegment memory = arena.allocateShared(64);
        MemorySegment own = MemorySegment.ofArray(new byte[64]);
        RemoteCompletion none = new Outcome();
        assertNamed("memory", () -> owner.export(null, Access.READ));
        assertNamed("access", () -> owner.export(memory, null));
        assertNamed("descriptor", () -> peer.attach(null));
        try (AttachedMemory attached = attach(memory, Access.READ_WRITE)) {
            for (int bytes : new int[] {0, 8}) {
                assertNamed("source", () -> attached.put(null, 0, 0, bytes, none));
                assertNamed("completion", () -> attached.put(own, 0, 0, bytes, null));
                assertNamed("target", () -> attached.get(0, null, 0, bytes, none));
                assertNamed("completion", () -> attached.get(0, own, 0, bytes, null));
            }
            assertNamed("completion", () -> attached.fetchAdd(0, 8, 1, null));
            assertNamed("completion", () -> attached.compareAndSet(0, 8, 0, 1, null));
            settle();
            put(attached, 8, 5);
        }
        assertEquals(0, memory.get(ValueLayout.JAVA_LONG, 0), "a refused operation took effect");
        assertEquals(5, memory.get(ValueLayout.JAVA_LONG, 8));
    }

    @Test
    void shouldRefuseDescriptorsThatNobodyOfTheSessionHasMade() {
        byte[] good = owner.export(arena.allocateShared(100), Access.READ_WRITE).descriptor();
        assertTrue(good.length <= RemoteMemory.MAX_DESCRIPTOR_BYTES);
        for (int bytes : new int[] {0, 1, good.length - 1, good.length + 1}) {
            assertEquals(Kind.MALFORMED, kindOf(() -> peer.attach(Arrays.copyOf(good, bytes))));
        }
        Set<Kind> seen = EnumSet.noneOf(Kind.class);
        for (int i = 0; i < good.length; i++) {
            byte[] forged = good.clone();
            forged[i] ^= (byte) (1 << i % 8);
            seen.add(kindOf(() -> peer.attach(forged)));
        }
        assertEquals(EnumSet.of(Kind.MALFORMED, Kind.OTHER_SESSION, Kind.FORGED), seen);
        assertEquals(Kind.MALFORMED, kindOf(() -> peer.attach(new byte[good.length])));
        try (SpiEnd stranger = new SpiEnd(newDriver(directory), "another-session", 7)) {
            assertEquals(
                    Kind.OTHER_SESSION,
                    kindOf(() -> stranger.adapter.remoteMemory().orElseThrow().attach(good)));
        }
        attachAs(good).close();
    }

    @Test
    void shouldRefuseToExportWhatPeersCannotReach() {
        for (MemorySegment memory : new MemorySegment[] {
            MemorySegment.ofArray(new byte[8]), Arena.global().allocate(8), arena.allocate(8)
        }) {
            assertEquals(Kind.NOT_EXPORTABLE, kindOf(() -> owner.export(memory, Access.READ)));
        }
        MemorySegment ofPeer = right.arenas.newArena().allocateShared(100);
        assertEquals(Kind.NOT_EXPORTABLE, kindOf(() -> owner.export(ofPeer, Access.READ)));
    }

    @Test
    void shouldRefuseToExportReadOnlyMemoryForWriting() {
        MemorySegment memory = arena.allocateShared(64);
        memory.set(ValueLayout.JAVA_LONG, 8, 7);
        MemorySegment view = memory.asReadOnly();
        RemoteMemoryException refused =
                assertThrows(RemoteMemoryException.class, () -> owner.export(view, Access.READ_WRITE));
        assertEquals(Kind.READ_ONLY, refused.kind());
        String text = String.valueOf(refused.getMessage());
        assertTrue(text.contains("read-only segment: expected a writable one") && text.contains("Access.READ,"), text);
        try (AttachedMemory attached = attach(view, Access.READ)) {
            long[] own = new long[1];
            run(done -> attached.get(8, MemorySegment.ofArray(own), 0, 8, done));
            assertEquals(7, own[0]);
            assertEquals(Kind.READ_ONLY, kindOf(() -> put(attached, 0, 1)));
        }
    }

    @Test
    void shouldRefuseToExportFreedMemory() {
        RegionArena passing = left.arenas.newArena();
        MemorySegment freed = passing.allocateShared(BYTES);
        passing.close();
        MemorySegment next = arena.allocateShared(BYTES); // may lie at the same place
        RemoteMemoryException refused =
                assertThrows(RemoteMemoryException.class, () -> owner.export(freed, Access.READ));
        assertEquals(Kind.NOT_EXPORTABLE, refused.kind());
        assertTrue(String.valueOf(refused.getMessage()).contains("freed"), refused::toString);
        owner.export(next, Access.READ).close();
    }

    /** Asserts that neither a put from this memory nor a get into it begins. */
    private void assertRefused(
            Class<? extends RuntimeException> kind,
            AttachedMemory attached,
            MemorySegment own,
            long offset,
            long bytes) {
        Outcome none = new Outcome();
        assertThrows(kind, () -> attached.put(own, offset, 0, bytes, none));
        assertThrows(kind, () -> attached.get(0, own, offset, bytes, none));
        settle();
        assertFalse(none.isDone(), "the completion of a refused operation was called");
    }

    @Test
    void shouldRefuseRangesOutsideTheCallersMemoryAtOnce() {
        MemorySegment memory = arena.allocateShared(BYTES);
        MemorySegment own = pattern(BYTES - 1, 1);
        MemorySegment before = MemorySegment.ofArray(own.toArray(ValueLayout.JAVA_BYTE));
        try (AttachedMemory attached = attach(memory, Access.READ_WRITE)) {
            for (long[] place : new long[][] {
                {0, BYTES},
                {1, BYTES - 1},
                {-1, 1},
                {BYTES - 1, 1},
                {BYTES, 0},
                {Long.MAX_VALUE, 1},
                {Long.MIN_VALUE, 0}
            }) {
                assertRefused(IndexOutOfBoundsException.class, attached, own, place[0], place[1]);
            }
        }
        assertEquals(-1, own.mismatch(before), "a refused get took effect");
        assertEquals(-1, memory.mismatch(MemorySegment.ofArray(new byte[BYTES])), "a refused put took effect");
    }

    @Test
    void shouldRefuseToGetIntoReadOnlyMemoryAtOnce() {
        MemorySegment memory = arena.allocateShared(64);
        try (AttachedMemory attached = attach(memory, Access.READ_WRITE)) {
            for (MemorySegment own :
                    new MemorySegment[] {pattern(8, 1), Arena.ofAuto().allocate(8), arena.allocate(8)}) {
                MemorySegment view = own.asReadOnly();
                Outcome none = new Outcome();
                for (int bytes : new int[] {0, 8}) {
                    assertThrows(IllegalArgumentException.class, () -> attached.get(0, view, 0, bytes, none));
                }
                settle();
                assertFalse(none.isDone(), "the completion of a refused operation was called");
                run(done -> attached.put(view, 0, 0, 8, done));
                assertEquals(-1, memory.asSlice(0, 8).mismatch(own));
            }
        }
    }

    @Test
    void shouldRefuseFreedMemoryOfTheCallerAtOnce() {
        MemorySegment freed;
        try (Arena passing = Arena.ofShared()) {
            freed = passing.allocate(8);
        }
        try (AttachedMemory attached = attach(arena.allocateShared(64), Access.READ_WRITE)) {
            assertRefused(IllegalStateException.class, attached, freed, 0, 0);
            assertRefused(IllegalStateException.class, attached, freed, 0, 8);
        }
    }

    @Test
    void shouldRefuseMemoryThatNoThreadMayCopyAtOnce() {
        MemorySegment memory = arena.allocateShared(64);
        try (AttachedMemory attached = attach(memory, Access.READ_WRITE);
                Arena mine = Arena.ofConfined()) {
            MemorySegment own = mine.allocate(8).fill((byte) 5);
            CompletableFuture.runAsync(() -> {
                        Outcome none = new Outcome();
                        assertThrows(WrongThreadException.class, () -> attached.put(own, 0, 0, 8, none));
                        assertThrows(WrongThreadException.class, () -> attached.get(0, own, 0, 8, none));
                    })
                    .join();
            if (peer.capabilities().immediate()) {
                run(done -> attached.put(own, 0, 0, 8, done));
                assertEquals(-1, memory.asSlice(0, 8).mismatch(own));
            } else {
                assertRefused(WrongThreadException.class, attached, own, 0, 8);
            }
        }
    }

    @Test
    void shouldEndOperationsWhoseMemoryIsFreedMeanwhile() {
        MemorySegment memory = arena.allocateShared(BYTES);
        try (AttachedMemory attached = attach(memory, Access.READ_WRITE)) {
            for (boolean puts : new boolean[] {true, false}) {
                Outcome outcome = new Outcome();
                try (Arena passing = Arena.ofShared()) {
                    MemorySegment own = passing.allocate(BYTES);
                    if (puts) {
                        attached.put(own, 0, 0, BYTES, outcome);
                    } else {
                        attached.get(0, own, 0, BYTES, outcome);
                    }
                }
                drive(outcome::isDone);
                RemoteMemoryException failure = outcome.failure;
                assertTrue(failure == null || failure.kind() == Kind.CLOSED, String.valueOf(failure));
            }
            put(attached, 0, 1);
        }
    }

    /** Closes the arena in another thread, a while after this flag is set. */
    private static CompletableFuture<Void> closing(Arena arena, AtomicBoolean began, long pauseNs) {
        return CompletableFuture.runAsync(() -> {
            while (!began.get()) {
                Thread.onSpinWait();
            }
            long untilNs = System.nanoTime() + pauseNs;
            while (System.nanoTime() - untilNs < 0) {
                Thread.onSpinWait();
            }
            arena.close();
        });
    }

    @Test
    void shouldLeaveNoThreadInterruptedWhoseMemoryAnotherFrees() {
        try (AttachedMemory attached = attach(arena.allocateShared(BYTES), Access.READ_WRITE)) {
            for (int round = 0; round < FREED_ROUNDS; round++) {
                Arena passing = Arena.ofShared();
                MemorySegment own = passing.allocate(BYTES);
                AtomicBoolean began = new AtomicBoolean();
                CompletableFuture<Void> closed = closing(passing, began, round * 5_000L);
                Outcome outcome = new Outcome();
                began.set(true);
                try {
                    if (round % 2 == 0) {
                        attached.put(own, 0, 0, BYTES, outcome);
                    } else {
                        attached.get(0, own, 0, BYTES, outcome);
                    }
                    drive(outcome::isDone);
                } catch (IllegalStateException _) { // freed before it began, or under an immediate one
                }
                closed.join();
                assertFalse(Thread.interrupted(), "interrupted though nobody asked for it");
            }
        }
    }

    @Test
    void shouldFailOnceItIsRevoked() {
        MemorySegment memory = arena.allocateShared(100);
        ExportedMemory export = owner.export(memory, Access.READ_WRITE);
        try (AttachedMemory attached = attachAs(export.descriptor());
                AttachedMemory other = attach(memory, Access.READ_WRITE)) {
            put(attached, 0, 1);
            assertTrue(meanwhile(() -> export.revoke(PATIENCE_NS)));
            assertTrue(export.revoke(0));
            assertEquals(Kind.REVOKED, kindOf(() -> put(attached, 0, 2)));
            assertEquals(Kind.REVOKED, kindOf(() -> run(done -> attached.get(0, memory, 0, 1, done))));
            if (peer.capabilities().atomics()) {
                assertEquals(Kind.REVOKED, kindOf(() -> run(done -> attached.fetchAdd(0, 8, 1, done))));
                assertEquals(Kind.REVOKED, kindOf(() -> run(done -> attached.compareAndSet(0, 8, 1, 2, done))));
            }
            assertEquals(Kind.REVOKED, kindOf(() -> attachAs(export.descriptor())));
            assertEquals(1, memory.get(ValueLayout.JAVA_LONG, 0));
            put(other, 8, 3);
            assertEquals(3, memory.get(ValueLayout.JAVA_LONG, 8));
        }
    }

    @Test
    void shouldFailOnceTheMemoryIsFreed() {
        try (AttachedMemory attached = attach(arena.allocateShared(BYTES), Access.READ_WRITE)) {
            put(attached, 0, 1);
            Integer _ = meanwhile(() -> {
                arena.close();
                return 0;
            });
            assertTrue(GONE.contains(kindOf(() -> put(attached, 0, 2))));
            RegionArena next = left.arenas.newArena();
            MemorySegment again = next.allocateShared(BYTES);
            assertTrue(GONE.contains(kindOf(() -> put(attached, 0, 2))));
            assertEquals(0, again.get(ValueLayout.JAVA_LONG, 0), "the put went into other memory");
        }
    }

    @Test
    void shouldFailOnceTheOwnerHasLeft() {
        byte[] descriptor =
                owner.export(arena.allocateShared(100), Access.READ_WRITE).descriptor();
        try (AttachedMemory attached = attachAs(descriptor)) {
            left.adapter.close();
            RemoteMemoryException thrown = assertThrows(RemoteMemoryException.class, () -> {
                Outcome outcome = new Outcome();
                attached.put(pattern(8, 0), 0, 0, 8, outcome);
                while (!outcome.isDone()) {
                    right.poll();
                }
                long _ = outcome.value();
            });
            assertTrue(GONE.contains(thrown.kind()), thrown::toString);
            assertTrue(GONE.contains(kindOf(() -> peer.attach(descriptor))));
        }
    }

    @Test
    void shouldFailOnceItIsClosed() {
        AttachedMemory attached = attach(arena.allocateShared(100), Access.READ_WRITE);
        attached.close();
        attached.close();
        assertEquals(Kind.CLOSED, kindOf(() -> put(attached, 0, 1)));
    }

    @Test
    void shouldRefuseOnceTheAdapterIsClosed() {
        MemorySegment memory = arena.allocateShared(100);
        byte[] descriptor = owner.export(memory, Access.READ).descriptor();
        left.adapter.close();
        assertEquals(Kind.CLOSED, kindOf(() -> owner.export(memory, Access.READ)));
        assertEquals(Kind.CLOSED, kindOf(() -> owner.attach(descriptor)));
    }

    @Test
    void shouldNotRunOutOfExports() {
        MemorySegment memory = arena.allocateShared(100);
        for (int i = 0; i < 1000; i++) {
            ExportedMemory export = owner.export(memory, Access.READ_WRITE);
            if (i % 100 == 0) {
                try (AttachedMemory attached = attachAs(export.descriptor())) {
                    assertEquals(0, put(attached, 0, i));
                    assertEquals(i, memory.get(ValueLayout.JAVA_LONG, 0));
                }
            }
            export.close();
        }
    }

    private CompletableFuture<Void> putUntilRevoked(ExportedMemory export, AtomicBoolean began) {
        return CompletableFuture.runAsync(() -> {
            try (AttachedMemory attached = peer.attach(export.descriptor())) {
                for (int n = 0; ; n++) {
                    MemorySegment source = pattern(BYTES, n);
                    Outcome outcome = new Outcome();
                    attached.put(source, 0, 0, BYTES, outcome);
                    began.set(true);
                    while (!outcome.isDone()) {
                        Thread.onSpinWait();
                    }
                    long _ = outcome.value();
                }
            } catch (RemoteMemoryException e) {
                assertEquals(Kind.REVOKED, e.kind());
            }
        });
    }

    @Test
    void shouldWriteNothingAfterItWasRevoked() {
        MemorySegment memory = arena.allocateShared(BYTES);
        for (int round = 0; round < 4; round++) {
            ExportedMemory export = owner.export(memory, Access.READ_WRITE);
            AtomicBoolean began = new AtomicBoolean();
            CompletableFuture<Void> putting = putUntilRevoked(export, began);
            drive(began::get);
            assertTrue(meanwhile(() -> export.revoke(PATIENCE_NS)));
            MemorySegment before = Arena.ofAuto().allocate(BYTES).copyFrom(memory);
            drive(putting::isDone);
            putting.join();
            assertEquals(-1, memory.mismatch(before));
        }
    }

    @Test
    @Tag("measures")
    void shouldBeQuietSoonAfterARevocationRanOutUnderAnOperation() {
        MemorySegment memory = arena.allocateShared(BYTES);
        for (int round = 0; round < 4; round++) {
            ExportedMemory export = owner.export(memory, Access.READ_WRITE);
            AtomicBoolean began = new AtomicBoolean();
            CompletableFuture<Void> putting = putUntilRevoked(export, began);
            drive(began::get);
            boolean _ = meanwhile(() -> export.revoke(1_000)); // may run out
            long startNs = System.nanoTime();
            assertTrue(meanwhile(() -> export.revoke(PATIENCE_NS)));
            drive(putting::isDone);
            long endedNs = System.nanoTime() - startNs;
            putting.join();
            assertTrue(endedNs < SOON_NS, "the operation ended " + endedNs + " ns after the revocation");
        }
        try (AttachedMemory attached = attach(memory, Access.READ_WRITE)) {
            put(attached, 0, 1); // the peers still reach each other
        }
    }
}
