package io.madeleine.bench.peer;

import io.madeleine.bench.measure.Block;
import io.madeleine.bench.measure.ControlLine;
import io.madeleine.bench.measure.Wire;
import io.madeleine.pmm.WaitMode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The barest way through shared memory: per direction one mailbox in a mapped file, with a flag that says "full" and
 * one that says "empty again". Nothing overlaps, nothing is queued; what is larger than the box goes in pieces.
 *
 * <pre>
 *   offset 0    how many pieces have been put in     (written by the sender)
 *   offset 128  how many pieces have been taken out  (written by the receiver)
 *   offset 256  the piece
 * </pre>
 *
 * <p>Threading: confined to caller.
 */
final class MailboxWire implements Wire {
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final long PUT = 0;
    private static final long TAKEN = 128;
    private static final long PIECE = 256;
    private static final long PIECE_BYTES = 4 << 20;
    private static final long BOX_BYTES = PIECE + PIECE_BYTES;
    private static final long BY_HAND_BYTES = 64;
    private static final Path FOLDER = Path.of("/dev/shm");

    private final Arena arena;
    private final MemorySegment out;
    private final MemorySegment in;
    private final Idling idling;
    private long put;
    private long taken;

    private MailboxWire(int rank, WaitMode wait, Arena arena, MemorySegment boxes) {
        this.arena = arena;
        this.idling = new Idling(wait);
        this.out = boxes.asSlice(rank * BOX_BYTES, BOX_BYTES);
        this.in = boxes.asSlice((1 - rank) * BOX_BYTES, BOX_BYTES);
    }

    /** Rank 0 makes the file; rank 1 takes away its name once both have mapped it. */
    static MailboxWire open(int rank, WaitMode wait, ControlLine line) throws IOException {
        Arena arena = Arena.ofConfined();
        if (rank == 0) {
            Path folder = Files.isDirectory(FOLDER) ? FOLDER : Path.of(System.getProperty("java.io.tmpdir"));
            Path file = Files.createTempFile(folder, "mad-mailbox", null);
            file.toFile().deleteOnExit(); // in case that the other end does not come
            reserve(file);
            MemorySegment boxes = map(file, arena);
            line.exchangeContacts(file.toString());
            return new MailboxWire(rank, wait, arena, boxes);
        }
        Path file = Path.of(line.exchangeContacts("-"));
        MemorySegment boxes = map(file, arena);
        Files.delete(file);
        return new MailboxWire(rank, wait, arena, boxes);
    }

    private static MemorySegment map(Path file, Arena arena) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, 2 * BOX_BYTES, arena);
        }
    }

    /** Writes all of it: a mapping of memory that is not there would fail only when it is touched. */
    private static void reserve(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            ByteBuffer zeros = ByteBuffer.allocateDirect(1 << 20);
            for (long left = 2 * BOX_BYTES; left > 0; ) {
                left -= channel.write(zeros.clear().limit((int) Math.min(left, zeros.capacity())));
            }
        }
    }

    @Override
    public void send(Block block, long bytes) {
        for (long at = 0; at < bytes; at += PIECE_BYTES) {
            await(out, TAKEN, put);
            copy(block.memory(), at, out, PIECE, Math.min(PIECE_BYTES, bytes - at));
            LONG.setRelease(out, PUT, ++put);
        }
    }

    @Override
    public void receive(Block block, long bytes) {
        for (long at = 0; at < bytes; at += PIECE_BYTES) {
            await(in, PUT, ++taken);
            copy(in, PIECE, block.memory(), at, Math.min(PIECE_BYTES, bytes - at));
            LONG.setRelease(in, TAKEN, taken);
        }
    }

    /** A few bytes are moved by hand: a bulk copy costs more than the rest of a small message. */
    private static void copy(MemorySegment from, long fromOffset, MemorySegment to, long toOffset, long bytes) {
        if (bytes > BY_HAND_BYTES) {
            MemorySegment.copy(from, fromOffset, to, toOffset, bytes);
            return;
        }
        long at = 0;
        for (; at + Long.BYTES <= bytes; at += Long.BYTES) {
            to.set(
                    ValueLayout.JAVA_LONG_UNALIGNED,
                    toOffset + at,
                    from.get(ValueLayout.JAVA_LONG_UNALIGNED, fromOffset + at));
        }
        for (; at < bytes; at++) {
            to.set(ValueLayout.JAVA_BYTE, toOffset + at, from.get(ValueLayout.JAVA_BYTE, fromOffset + at));
        }
    }

    private void await(MemorySegment box, long flag, long expected) {
        for (int turn = 0; (long) LONG.getAcquire(box, flag) < expected; turn++) {
            if (idling.next(turn) != Idling.Step.POLL) {
                Thread.yield(); // a process cannot sleep until a mailbox changes
            }
        }
    }

    @Override
    public void close() {
        arena.close();
    }
}
