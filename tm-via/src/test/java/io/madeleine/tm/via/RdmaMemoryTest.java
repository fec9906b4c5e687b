package io.madeleine.tm.via;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.pmm.RegionArena;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.PostingLink;
import io.madeleine.pmm.spi.TransmissionLink;
import io.madeleine.tm.via.link.Chunks;
import io.madeleine.tm.via.port.Strictness;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
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

    /** How many polls, and for how long, a receiver waits for data to land in its block, if that is expected. */
    private static final int POLLS = 2_000;

    private static final long LANDING_NS = 5_000_000_000L;

    private static final String SHM = "shm";
    private static final String RXM = "tcp;ofi_rxm";
    private static final String NET = "net";
    private static final String STRICT = "strict ";
    private static final String STRICT_SHM = STRICT + SHM;
    private static final String STRICT_RXM = STRICT + RXM;

    /** As strict, but no registration fails: nothing of the session's memory has to be copied. */
    private static final String LOCAL = "local ";

    /** The same, without immediate data. */
    private static final String SILENT = "silent ";

    /** The same as local, with one write at a time. */
    private static final String NARROW = "narrow ";

    private static final String LOCAL_SHM = LOCAL + SHM;
    private static final String LOCAL_RXM = LOCAL + RXM;
    private static final String LOCAL_NET = LOCAL + NET;
    private static final String SILENT_SHM = SILENT + SHM;
    private static final String SILENT_RXM = SILENT + RXM;
    private static final String NARROW_SHM = NARROW + SHM;
    private static final String NARROW_RXM = NARROW + RXM;

    private static final String SMALL_CHUNKS = "madeleine.tm.via.rdma.chunk = 4 KiB\n";
    private static final String ONE_GRANT = "madeleine.tm.via.rdma.grants = 1\n";
    private static final String MANY_PACKETS = "madeleine.tm.via.rdma.headers = 64\n";
    private static final String KEEPS_NOTHING = "madeleine.tm.via.rdma { keep = off, first-chunk = 4 KiB }\n";

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
                    InPlace seen = exchange(source, target, 1, failsAtSender);
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
                    InPlace seen = exchange(source, target, number, trusts && isShared);
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

    /** Blocks of any size at any place travel without a copy, in packets of any size, and none is taken too early. */
    @ParameterizedTest
    @CsvSource({
        "shm, ''",
        "net, ''",
        "strict shm, ''",
        "strict tcp;ofi_rxm, ''",
        "local shm, ''",
        "local tcp;ofi_rxm, ''",
        "local net, ''",
        "silent shm, ''",
        "silent tcp;ofi_rxm, ''",
        "narrow shm, ''",
        "narrow tcp;ofi_rxm, ''",
        "local shm, SMALL_CHUNKS",
        "silent shm, SMALL_CHUNKS",
        "local tcp;ofi_rxm, SMALL_CHUNKS",
        "local shm, ONE_GRANT",
        "silent tcp;ofi_rxm, ONE_GRANT",
        "local shm, MANY_PACKETS",
        "local shm, KEEPS_NOTHING"
    })
    void shouldTransferBlocksOfAnySizeAtAnyPlaceInPlace(String provider, String setting) {
        String settings = switch (setting) {
            case "SMALL_CHUNKS" -> SMALL_CHUNKS;
            case "ONE_GRANT" -> ONE_GRANT;
            case "MANY_PACKETS" -> SMALL_CHUNKS + MANY_PACKETS;
            case "KEEPS_NOTHING" -> KEEPS_NOTHING;
            default -> "";
        };
        with(driver(provider, settings), driver(provider, settings), () -> {
            MemorySegment from = pattern(left.arenas.lasting().allocate(BYTES, 8), 1);
            MemorySegment to = right.arenas.lasting().allocate(BYTES, 8);
            for (int seed = 0; seed < 60; seed++) {
                Random random = new Random(seed);
                int bytes = 1 + (seed % 3 == 0 ? random.nextInt(5000) : random.nextInt(BYTES / 4));
                transferInPackets(anyPart(from, bytes, random), anyPart(to, bytes, random), random);
            }
            if (!provider.startsWith(STRICT)) { // there registrations fail
                assertEquals(0, Chunks.ofSender(left.connection()), "the payload was copied");
            }
        });
    }

    private static MemorySegment anyPart(MemorySegment memory, int bytes, Random random) {
        return memory.asSlice(random.nextInt((int) memory.byteSize() - bytes + 1), bytes);
    }

    private void transferInPackets(MemorySegment source, MemorySegment target, Random random) {
        target.fill(UNTOUCHED);
        ((PostingLink) receiving()).expect(group(target));
        int bytes = (int) source.byteSize();
        int most = 1 + random.nextInt(2 * bytes);
        BufferGroup in = group(target);
        BufferGroup out = new BufferGroup();
        int[] sent = {0};
        int[] packet = {0};
        int[] received = {0};
        Side.drive(left, right, () -> {
            while (packet[0] > 0 || sent[0] < bytes) {
                if (packet[0] == 0) {
                    packet[0] = Math.min(1 + random.nextInt(most), bytes - sent[0]);
                    out.add(source, sent[0], packet[0]);
                }
                if (sending().send(header(packet[0], 1), out, 0) != LinkStatus.COMPLETE) {
                    break;
                }
                sent[0] += packet[0];
                packet[0] = 0;
            }
            takeWhatHasLanded(source, target, in, received);
            return received[0] == bytes;
        });
        Side.drive(left, right, () -> !((PostingLink) sending()).holdsMemory());
    }

    private void takeWhatHasLanded(MemorySegment source, MemorySegment target, BufferGroup in, int[] received) {
        long header = receiving().front();
        if (header == 0) {
            return;
        }
        long taken = target.byteSize() - in.remainingBytes();
        long end = taken + receiving().receive(in, received[0] + PacketHeader.payloadBytes(header) - taken);
        assertEquals(
                -1,
                source.asSlice(taken, end - taken).mismatch(target.asSlice(taken, end - taken)),
                () -> "taken before it has landed: " + taken + " to " + end);
        if (end == received[0] + PacketHeader.payloadBytes(header)) {
            received[0] = (int) end;
            receiving().release();
        }
    }

    /**
     * Little memory can be registered: the chunks are few, or small, and the connection stays. The least is what both
     * directions of a connection fall back to: 4 KiB to receive and, with eight headers and immediate data, 16 KiB to
     * send.
     */
    @ParameterizedTest
    @CsvSource({
        "local shm, 20480, true",
        "local shm, 30000, true",
        "local shm, 140000, true",
        "local shm, 700000, true",
        "local shm, 20480, false",
        "local shm, 30000, false",
        "local shm, 140000, false",
        "local tcp;ofi_rxm, 20480, true",
        "local tcp;ofi_rxm, 30000, false",
        "silent shm, 12288, true",
        "silent shm, 8192, false"
    })
    void shouldGoOnWhereLittleMemoryCanBeRegistered(String provider, long bytes, boolean isAtSender) {
        Strictness other = strictness(provider);
        Strictness little = other.withWritableBytes(bytes);
        String name = provider.substring(provider.lastIndexOf(' ') + 1);
        with(
                Fabrics.driver(name, settings(), isAtSender ? little : other),
                Fabrics.driver(name, settings(), isAtSender ? other : little),
                () -> {
                    MemorySegment heap = MemorySegment.ofArray(new byte[BYTES]);
                    MemorySegment shared = left.arenas.lasting().allocate(BYTES, 8);
                    for (int number = 0; number < 2; number++) {
                        MemorySegment source = pattern(number % 2 == 0 ? heap : shared, number);
                        MemorySegment target = MemorySegment.ofArray(new byte[BYTES]);
                        transfer(source, target, number);
                        assertEquals(-1, source.mismatch(target));
                    }
                });
    }

    /** Memory is freed when a part of a piece is written already: the filler of the aborted message follows. */
    @ParameterizedTest
    @ValueSource(strings = {LOCAL_SHM, LOCAL_RXM, SILENT_SHM})
    void shouldFinishAPieceWhoseMemoryIsFreed(String provider) {
        with(driver(provider, ONE_GRANT), driver(provider, ONE_GRANT), () -> {
            MemorySegment target = right.arenas.lasting().allocate(BYTES, 8);
            ((PostingLink) receiving()).expect(group(target));
            left.arenas.drainBy((regions, deadlineNs) -> {}, Side.PATIENCE_NS);
            RegionArena arena = left.arenas.newArena();
            MemorySegment source =
                    arena.allocateShared(BYTES + 40_000).asSlice(40_000, BYTES).fill((byte) 1);
            BufferGroup out = group(source);
            BufferGroup in = group(target);
            long header = header(BYTES, 1);
            Side.drive(left, right, () -> {
                int _ = sending().send(header, out, 0);
                return out.remainingBytes() < BYTES;
            });
            assertEquals(0, Chunks.ofSender(left.connection()), "the payload was copied");
            CompletableFuture<Void> closing = CompletableFuture.runAsync(arena::close);
            Side.drive(left, right, closing::isDone);
            assertThrows(IllegalStateException.class, () -> sending().send(header, out, 0));
            out.replaceMemory(MemorySegment.ofArray(new byte[4096]));
            int rest = (int) out.remainingBytes();
            boolean[] sent = {false};
            Side.drive(left, right, () -> {
                sent[0] = sent[0] || sending().send(header, out, 0) == LinkStatus.COMPLETE;
                if (receiving().front() == header && !in.isEmpty()) {
                    long _ = receiving().receive(in, in.remainingBytes());
                }
                return sent[0] && in.isEmpty();
            });
            receiving().release();
            MemorySegment wanted = MemorySegment.ofArray(new byte[BYTES]);
            wanted.asSlice(0, BYTES - rest).fill((byte) 1);
            assertEquals(-1, target.mismatch(wanted));
            MemorySegment next = pattern(allocateBehind(left, 40_000), 2);
            ((PostingLink) receiving()).expect(group(target));
            transfer(next, target, 2);
            assertEquals(-1, next.mismatch(target));
        });
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
            InPlace seen = exchange(source, target, 1, true);
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
                InPlace seen = exchange(source, target, number, true);
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

    private InPlace exchange(MemorySegment source, MemorySegment target, int number, boolean mayLand) {
        BufferGroup out = group(source);
        BufferGroup in = group(target);
        long header = header(BYTES, number);
        ((PostingLink) receiving()).expect(group(target));
        boolean[] sent = {false};
        boolean[] held = {false};
        boolean[] there = {false};
        int[] polls = {0};
        MemorySegment begin = source.asSlice(0, 4096);
        long startNs = System.nanoTime();
        Side.drive(left, right, () -> {
            sent[0] = sent[0] || sending().send(header, out, 0) == LinkStatus.COMPLETE;
            held[0] |= ((PostingLink) sending()).holdsMemory();
            there[0] |= in.remainingBytes() == BYTES && begin.mismatch(target.asSlice(0, 4096)) < 0;
            if (receiving().front() == header && !in.isEmpty()) {
                boolean isLate = polls[0]++ > POLLS && (!mayLand || System.nanoTime() - startNs > LANDING_NS);
                if (there[0] || isLate) {
                    long _ = receiving().receive(in, in.remainingBytes());
                }
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
        return driver(provider, "");
    }

    private ViaPmm driver(String provider, String further) {
        String name = provider.substring(provider.lastIndexOf(' ') + 1);
        return Fabrics.driver(name, settings() + further, strictness(provider));
    }

    private static Strictness strictness(String provider) {
        Strictness lasting = Fabrics.STRICT.failingEvery(0);
        return switch (provider.substring(0, provider.lastIndexOf(' ') + 1)) {
            case STRICT -> Fabrics.STRICT;
            case LOCAL -> lasting;
            case SILENT -> lasting.withoutImmediateData();
            case NARROW -> new Strictness(true, true, 1, 0, true, 1, 4, false, Long.MAX_VALUE);
            default -> Strictness.NONE;
        };
    }

    private DynamicLink sending() {
        return (DynamicLink) left.connection().links().getLast();
    }

    private TransmissionLink receiving() {
        return right.connection().links().getLast();
    }

    private static MemorySegment pattern(MemorySegment memory, long seed) {
        byte[] bytes = new byte[(int) memory.byteSize()];
        new SplittableRandom(seed).nextBytes(bytes); // byte by byte, it would be most of the time of these tests
        return memory.copyFrom(MemorySegment.ofArray(bytes));
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
    @ValueSource(
            strings = {
                SHM,
                RXM,
                NET,
                STRICT_SHM,
                STRICT_RXM,
                LOCAL_SHM,
                LOCAL_RXM,
                LOCAL_NET,
                SILENT_SHM,
                SILENT_RXM,
                NARROW_SHM,
                NARROW_RXM
            })
    void shouldWriteNothingToBlocksThatWereTakenBack(String provider) {
        with(provider, () -> {
            for (int seed = 0; seed < 30; seed++) {
                takeBack(new Random(seed), seed);
            }
        });
    }

    private void takeBack(Random random, int number) {
        int bytes = 1 + random.nextInt(1_500_000);
        int skipped = random.nextInt(200_000);
        MemorySegment source =
                pattern(left.arenas.lasting().allocate(skipped + bytes, 8).asSlice(skipped), number);
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
    @ValueSource(strings = {SHM, RXM, NET, LOCAL_SHM, SILENT_RXM, NARROW_SHM})
    void shouldGiveBlocksBackWhenTheConnectionIsGivenUp(String provider) {
        with(provider, () -> {
            MemorySegment source = allocateBehind(left, 40_000);
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
            Side.drive(left, right, () -> !left.loss.isEmpty());
            assertEquals(
                    -1, posted.mismatch(MemorySegment.ofArray(new byte[BYTES]).fill(UNTOUCHED)));
        });
    }
}
