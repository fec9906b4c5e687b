package io.madeleine.tm.via;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.PostingLink;
import io.madeleine.pmm.spi.TransmissionLink;
import io.madeleine.tm.via.port.Strictness;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory of the session is written from where it lies to where it belongs, and comes back when it is taken back. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class RdmaMemoryTest {
    private static final int BYTES = 3_000_000;
    private static final byte UNTOUCHED = 0x5A;

    /** How many polls a receiver waits for data to land in its block. */
    private static final int POLLS = 20_000;

    private static final String SHM = "shm";
    private static final String RXM = "tcp;ofi_rxm";
    private static final String NET = "net";
    private static final String STRICT = "strict ";
    private static final String STRICT_SHM = STRICT + SHM;
    private static final String STRICT_RXM = STRICT + RXM;

    private Side left;
    private Side right;

    private void with(String provider, Runnable test) {
        with(driver(provider), driver(provider), test);
    }

    private void with(ViaPmm sender, ViaPmm receiver, Runnable test) {
        String session = "memory-" + System.nanoTime();
        try (Side one = new Side(sender, session, 1)) {
            left = one;
            right = new Side(receiver, session, 2);
            Side.connect(left, right);
            test.run();
        } finally {
            right.close();
        }
    }

    /** No block can be registered on one side: its payload goes through chunks, and the other side notices nothing. */
    @ParameterizedTest
    @CsvSource({"shm, true", "shm, false", "tcp;ofi_rxm, true", "tcp;ofi_rxm, false"})
    void shouldCopyWhereRegistrationsFail(String provider, boolean failsAtSender) {
        Strictness failing = Fabrics.STRICT.failingEvery(1);
        Strictness other = Fabrics.STRICT.failingEvery(0);
        with(
                Fabrics.driver(provider, settings(), failsAtSender ? failing : other),
                Fabrics.driver(provider, settings(), failsAtSender ? other : failing),
                () -> {
                    MemorySegment source = pattern(left.arenas.lasting().allocate(BYTES, 8), 3);
                    MemorySegment target = right.arenas.lasting().allocate(BYTES, 8);
                    InPlace seen = exchange(source, target, 1);
                    assertEquals(-1, source.mismatch(target));
                    assertEquals(!failsAtSender, seen.held, "the sender's memory is read where it lies");
                    assertEquals(failsAtSender, seen.there, "the block is written where it lies");
                });
    }

    /** Native memory that is not the session's is used in place if that is trusted, unless it is one thread's. */
    @ParameterizedTest
    @CsvSource({
        "shm, true, true", "shm, true, false", "shm, false, true",
        "tcp;ofi_rxm, true, true", "tcp;ofi_rxm, true, false", "tcp;ofi_rxm, false, true",
        "strict tcp;ofi_rxm, true, true", "strict shm, true, true"
    })
    void shouldUseTrustedNativeMemoryInPlace(String provider, boolean trusts, boolean isShared) {
        String settings = settings() + "madeleine.tm.via.rdma.trust-native = " + trusts;
        Strictness strictness = provider.startsWith(STRICT) ? Fabrics.STRICT.failingEvery(0) : Strictness.NONE;
        String name = provider.replace(STRICT, "");
        try (Arena arena = isShared ? Arena.ofShared() : Arena.ofConfined()) {
            with(Fabrics.driver(name, settings, strictness), Fabrics.driver(name, settings, strictness), () -> {
                for (int number = 0; number < 5; number++) {
                    MemorySegment source = pattern(arena.allocate(BYTES, 8), number);
                    MemorySegment target = arena.allocate(BYTES, 8);
                    InPlace seen = exchange(source, target, number);
                    assertEquals(-1, source.mismatch(target));
                    assertEquals(trusts && isShared, seen.held, "the sender's memory is read where it lies");
                    assertEquals(trusts && isShared, seen.there, "the block is written where it lies");
                }
            });
        }
    }

    /** The memory of the sender and that of the receiver cross the borders of registrations at different places. */
    @ParameterizedTest
    @CsvSource({
        "shm, 40000, 0",
        "shm, 0, 40000",
        "strict shm, 40000, 0",
        "strict shm, 0, 40000",
        "strict shm, 130000, 70000",
        "strict tcp;ofi_rxm, 40000, 0",
        "strict tcp;ofi_rxm, 0, 40000",
        "strict tcp;ofi_rxm, 130000, 70000"
    })
    void shouldTransferBlocksThatLieDifferentlyInTheirRegistrations(String provider, int skipped, int skippedThere) {
        with(provider, () -> {
            for (int number = 0; number < 5; number++) {
                MemorySegment source = pattern(allocateBehind(left, skipped), number);
                MemorySegment target = allocateBehind(right, skippedThere);
                target.fill(UNTOUCHED);
                BufferGroup out = group(source);
                BufferGroup in = group(target);
                long header = header(BYTES, number);
                ((PostingLink) receiving()).expect(group(target));
                boolean[] sent = {false};
                Side.drive(left, right, () -> {
                    sent[0] = sent[0] || sending().send(header, out, 0) == LinkStatus.COMPLETE;
                    if (receiving().front() == header && !in.isEmpty()) {
                        long taken = BYTES - in.remainingBytes();
                        long end = taken + receiving().receive(in, in.remainingBytes());
                        assertEquals(
                                -1,
                                source.asSlice(taken, end - taken).mismatch(target.asSlice(taken, end - taken)),
                                () -> "taken before it has landed: " + taken + " to " + end);
                    }
                    return sent[0] && in.isEmpty();
                });
                receiving().release();
            }
        });
    }

    private static MemorySegment allocateBehind(Side side, int skipped) {
        return side.arenas.lasting().allocate(skipped + BYTES, 8).asSlice(skipped);
    }

    /** With {@code pin = mlock}, what is registered is locked in memory, until the sessions end. */
    @ParameterizedTest
    @ValueSource(strings = {SHM, RXM})
    void shouldPinWhatIsRegistered(String provider) {
        String settings = settings() + "madeleine.tm.via.pin = mlock";
        long beforeBytes = lockedBytes();
        with(Fabrics.driver(provider, settings), Fabrics.driver(provider, settings), () -> {
            MemorySegment source = pattern(left.arenas.lasting().allocate(BYTES, 8), 1);
            MemorySegment target = right.arenas.lasting().allocate(BYTES, 8);
            InPlace seen = exchange(source, target, 1);
            assertEquals(-1, source.mismatch(target));
            assumeTrue(seen.held && seen.there, "this process may not lock as much memory");
            assertTrue(lockedBytes() - beforeBytes >= 2 * BYTES, () -> "locked: " + lockedBytes());
        });
        assertEquals(beforeBytes, lockedBytes());
    }

    /** Where nothing is kept, each piece is registered for itself, and pinned no longer than it is used. */
    @ParameterizedTest
    @ValueSource(strings = {SHM, RXM})
    void shouldKeepNothingPinnedWhereNothingIsKept(String provider) {
        String settings = settings() + "madeleine.tm.via { pin = mlock, rdma { keep = off, first-chunk = 8 KiB } }";
        long beforeBytes = lockedBytes();
        with(Fabrics.driver(provider, settings), Fabrics.driver(provider, settings), () -> {
            for (int number = 0; number < 3; number++) {
                MemorySegment source = pattern(left.arenas.lasting().allocate(BYTES, 8), number);
                MemorySegment target = right.arenas.lasting().allocate(BYTES, 8);
                InPlace seen = exchange(source, target, number);
                assertEquals(-1, source.mismatch(target));
                assumeTrue(seen.held && seen.there, "this process may not lock as much memory");
            }
            Side.drive(left, right, () -> lockedBytes() - beforeBytes < BYTES); // what is pinned are the buffers
        });
        assertEquals(beforeBytes, lockedBytes());
    }

    private static long lockedBytes() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
            String line =
                    lines.filter(each -> each.startsWith("VmLck:")).findFirst().orElseThrow();
            return 1024 * Long.parseLong(line.replaceAll("\\D", ""));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Whether the sender's memory was read, and the receiver's block written, where it lies. */
    private record InPlace(boolean held, boolean there) {}

    private InPlace exchange(MemorySegment source, MemorySegment target, int number) {
        BufferGroup out = group(source);
        BufferGroup in = group(target);
        long header = header(BYTES, number);
        ((PostingLink) receiving()).expect(group(target));
        boolean[] sent = {false};
        boolean[] held = {false};
        boolean[] there = {false};
        int[] polls = {0};
        MemorySegment begin = source.asSlice(0, 4096);
        Side.drive(left, right, () -> {
            sent[0] = sent[0] || sending().send(header, out, 0) == LinkStatus.COMPLETE;
            held[0] |= ((PostingLink) sending()).holdsMemory();
            there[0] |= in.remainingBytes() == BYTES && begin.mismatch(target.asSlice(0, 4096)) < 0;
            if (receiving().front() == header && !in.isEmpty() && (there[0] || polls[0]++ > POLLS)) {
                long _ = receiving().receive(in, in.remainingBytes());
            }
            return sent[0] && in.isEmpty();
        });
        receiving().release();
        return new InPlace(held[0], there[0]);
    }

    /** Settings with which the last link is the tested one. */
    String settings() {
        return "";
    }

    private ViaPmm driver(String provider) {
        return provider.startsWith(STRICT)
                ? Fabrics.driver(provider.substring(STRICT.length()), settings(), Fabrics.STRICT)
                : Fabrics.driver(provider, settings());
    }

    private DynamicLink sending() {
        return (DynamicLink) left.connection().links().getLast();
    }

    private TransmissionLink receiving() {
        return right.connection().links().getLast();
    }

    private static MemorySegment pattern(MemorySegment memory, long seed) {
        Random random = new Random(seed);
        for (long i = 0; i < memory.byteSize(); i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt());
        }
        return memory;
    }

    private static BufferGroup group(MemorySegment memory) {
        BufferGroup group = new BufferGroup();
        group.add(memory, 0, memory.byteSize());
        return group;
    }

    private static long header(int bytes, int number) {
        return PacketHeader.of(bytes, number, 0, PacketHeader.FIRST | PacketHeader.LAST);
    }

    private void transfer(MemorySegment source, MemorySegment target, int number) {
        BufferGroup out = group(source);
        BufferGroup in = group(target);
        long header = header((int) source.byteSize(), number);
        boolean[] sent = {false};
        Side.drive(left, right, () -> {
            sent[0] = sent[0] || sending().send(header, out, 0) == LinkStatus.COMPLETE;
            if (receiving().front() == header && !in.isEmpty()) {
                long _ = receiving().receive(in, in.remainingBytes());
            }
            return sent[0] && in.isEmpty();
        });
        receiving().release();
    }

    @ParameterizedTest
    @ValueSource(strings = {SHM, RXM, NET, STRICT_SHM, STRICT_RXM})
    void shouldWriteFromTheSendersBlockIntoTheExpectedOne(String provider) {
        with(provider, () -> {
            MemorySegment source = pattern(left.arenas.lasting().allocate(BYTES, 8), 1);
            MemorySegment target = right.arenas.lasting().allocate(BYTES, 8);
            for (int number = 0; number < 5; number++) {
                target.fill(UNTOUCHED);
                ((PostingLink) receiving()).expect(group(target));
                boolean[] held = {false};
                BufferGroup out = group(source);
                BufferGroup in = group(target);
                long header = header(BYTES, number);
                boolean[] sent = {false};
                boolean[] thereBefore = {false};
                Side.drive(left, right, () -> {
                    sent[0] = sent[0] || sending().send(header, out, 0) == LinkStatus.COMPLETE;
                    held[0] |= ((PostingLink) sending()).holdsMemory();
                    if (sent[0] && !((PostingLink) sending()).holdsMemory()) {
                        thereBefore[0] |= in.remainingBytes() > 0 && source.mismatch(target) < 0;
                        long _ = receiving().receive(in, in.remainingBytes());
                    }
                    if (!sent[0] && receiving().front() == header) { // more is granted when something was taken
                        long _ = receiving().receive(in, in.remainingBytes());
                    }
                    return sent[0] && in.isEmpty();
                });
                receiving().release();
                assertEquals(-1, source.mismatch(target));
                assertTrue(held[0], "the sender's memory was copied");
                assertTrue(
                        thereBefore[0] || provider.startsWith(STRICT), // there registrations fail
                        "data was not in the block before it was received");
            }
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {SHM, RXM, NET, STRICT_SHM, STRICT_RXM})
    void shouldCopyMemoryThatIsNotTheSessions(String provider) {
        with(provider, () -> {
            MemorySegment source = pattern(MemorySegment.ofArray(new byte[BYTES]), 2);
            MemorySegment target = MemorySegment.ofArray(new byte[BYTES]);
            ((PostingLink) receiving()).expect(group(target));
            transfer(source, target, 1);
            assertEquals(-1, source.mismatch(target));
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {SHM, RXM, NET, STRICT_SHM, STRICT_RXM})
    void shouldWriteNothingToBlocksThatWereTakenBack(String provider) {
        with(provider, () -> {
            for (int seed = 0; seed < 30; seed++) {
                takeBack(new Random(seed), seed);
            }
        });
    }

    private void takeBack(Random random, int number) {
        int bytes = 1 + random.nextInt(1_500_000);
        MemorySegment source = pattern(left.arenas.lasting().allocate(bytes, 8), number);
        MemorySegment posted = right.arenas.lasting().allocate(bytes, 8).fill(UNTOUCHED);
        MemorySegment whole = MemorySegment.ofArray(new byte[bytes]);
        PostingLink link = (PostingLink) receiving();
        link.expect(group(posted));
        BufferGroup out = group(source);
        BufferGroup taken = group(posted);
        long header = header(bytes, number);
        boolean[] sent = {false};
        for (int round = random.nextInt(60); round > 0; round--) {
            sent[0] = sent[0] || sending().send(header, out, 0) == LinkStatus.COMPLETE;
            if (random.nextBoolean()) {
                left.poll();
            }
            if (random.nextBoolean()) {
                right.poll();
            }
            if (random.nextInt(8) == 0 && receiving().front() == header && !taken.isEmpty()) {
                long _ = receiving().receive(taken, taken.remainingBytes());
            }
        }
        Side.drive(left, right, () -> {
            sent[0] = sent[0] || sending().send(header, out, 0) == LinkStatus.COMPLETE;
            return link.retract() == LinkStatus.COMPLETE;
        });
        long got = bytes - taken.remainingBytes();
        MemorySegment.copy(posted, 0, whole, 0, got);
        posted.fill(UNTOUCHED);
        BufferGroup rest = new BufferGroup();
        rest.add(whole, got, bytes - got);
        Side.drive(left, right, () -> {
            sent[0] = sent[0] || sending().send(header, out, 0) == LinkStatus.COMPLETE;
            if (receiving().front() == header && !rest.isEmpty()) {
                long _ = receiving().receive(rest, rest.remainingBytes());
            }
            return sent[0] && rest.isEmpty();
        });
        Side.drive(left, right, () -> receiving().front() == header);
        receiving().release();
        assertEquals(-1, source.mismatch(whole), "seed " + number);
        assertEquals(-1, posted.mismatch(MemorySegment.ofArray(new byte[bytes]).fill(UNTOUCHED)), "seed " + number);
        Side.drive(left, right, () -> !((PostingLink) sending()).holdsMemory());
    }

    @ParameterizedTest
    @ValueSource(strings = {SHM, RXM, NET})
    void shouldGiveBlocksBackWhenTheConnectionIsGivenUp(String provider) {
        with(provider, () -> {
            MemorySegment source = left.arenas.lasting().allocate(BYTES, 8);
            MemorySegment posted = right.arenas.lasting().allocate(BYTES, 8);
            ((PostingLink) receiving()).expect(group(posted));
            BufferGroup out = group(source.fill((byte) 1));
            for (int i = 0; i < 50; i++) {
                int _ = sending().send(header(BYTES, 1), out, 0);
                left.poll();
            }
            right.connection().giveUp();
            long startNs = System.nanoTime();
            while (((PostingLink) receiving()).retract() != LinkStatus.COMPLETE) { // without the peer's help
                right.poll();
                assertTrue(System.nanoTime() - startNs < Side.PATIENCE_NS, "the blocks do not come back");
            }
            posted.fill(UNTOUCHED);
            for (int i = 0; i < 1000; i++) {
                left.poll();
                right.poll();
            }
            assertFalse(left.loss.isEmpty());
            assertEquals(
                    -1, posted.mismatch(MemorySegment.ofArray(new byte[BYTES]).fill(UNTOUCHED)));
        });
    }
}
