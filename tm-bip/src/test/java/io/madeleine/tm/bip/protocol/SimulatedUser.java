package io.madeleine.tm.bip.protocol;

import java.lang.foreign.MemorySegment;
import java.util.Random;

/**
 * The user of one end in a simulation: appends bytes to the streams and reads those of the peer, in pieces and with
 * pauses. Each byte is a function of its place, so every wrong, missing or repeated byte shows.
 */
final class SimulatedUser {
    private static final MemorySegment SCRATCH = MemorySegment.ofArray(new byte[4096]);

    private static final int MOST_IN_VAIN = 100;

    private final Random random;
    private final int side;
    private final long seed;
    private final long[] wanted = new long[DatagramLayout.STREAM_COUNT];
    private final long[] appended = new long[DatagramLayout.STREAM_COUNT];
    private final long[] read = new long[DatagramLayout.STREAM_COUNT];
    private final boolean readsPlaced;
    private final SimulatedMemory memory;
    private boolean finished;
    long pauseUntilNs;

    SimulatedUser(Random random, int side, long seed, int scale) {
        this.random = random;
        this.side = side;
        this.seed = seed;
        wanted[DatagramLayout.CONTROL_STREAM] = random.nextInt(300);
        wanted[DatagramLayout.SHORT_STREAM] = random.nextInt(scale);
        wanted[DatagramLayout.HEADER_STREAM] = random.nextInt(500);
        wanted[DatagramLayout.LONG_STREAM] = random.nextInt(3) == 0 ? 0 : random.nextInt(3 * scale);
        readsPlaced = random.nextBoolean();
        memory = new SimulatedMemory(random, 3 * scale);
    }

    void open(Endpoint end) {
        if (readsPlaced) {
            end.in(DatagramLayout.LONG_STREAM).placement(memory);
        }
    }

    static byte at(long seed, int side, int stream, long offset) {
        return (byte) (seed * 7 + side * 101 + stream * 31 + offset * 13 + (offset >>> 8) * 17);
    }

    /** Appends and reads a little; returns whether anything moved. */
    boolean step(Endpoint end, long nowNs) {
        boolean moved = false;
        for (int stream = 0; stream < DatagramLayout.STREAM_COUNT; stream++) {
            moved |= append(end.out(stream), stream);
            if (nowNs >= pauseUntilNs) {
                moved |= read(end.in(stream), stream);
            }
        }
        if (!finished && hasAppendedAll()) {
            finished = true;
            end.finish();
            moved = true;
        }
        return moved;
    }

    /** Reads all that has arrived. */
    void readRest(Endpoint end) {
        for (int stream = 0; stream < DatagramLayout.STREAM_COUNT; stream++) {
            for (int vain = 0; vain < MOST_IN_VAIN; vain++) {
                vain = read(end.in(stream), stream) ? 0 : vain;
            }
        }
    }

    private boolean append(SendStream out, int stream) {
        long left = wanted[stream] - appended[stream];
        int bytes = (int) Math.min(Math.min(left, out.room()), 1 + random.nextInt((int) SCRATCH.byteSize()));
        if (bytes <= 0) {
            return false;
        }
        for (int i = 0; i < bytes; i++) {
            SCRATCH.set(java.lang.foreign.ValueLayout.JAVA_BYTE, i, at(seed, side, stream, appended[stream] + i));
        }
        out.append(SCRATCH, 0, bytes);
        appended[stream] += bytes;
        return true;
    }

    private boolean read(ReceiveStream in, int stream) {
        if (stream == DatagramLayout.LONG_STREAM && readsPlaced) {
            memory.change(in);
        }
        int readable = in.readableBytes();
        int bytes = readable == 0 ? 0 : in.pieceBytes(Math.min(readable, 1 + random.nextInt((int) SCRATCH.byteSize())));
        if (bytes == 0) {
            return false;
        }
        MemorySegment from = SCRATCH;
        long position = 0;
        if (in.isPlaced()) {
            from = memory.bytes();
            position = in.takenBytes();
            in.take(bytes);
        } else {
            in.take(SCRATCH, 0, bytes);
        }
        for (int i = 0; i < bytes; i++) {
            byte found = from.get(java.lang.foreign.ValueLayout.JAVA_BYTE, position + i);
            if (found != at(seed, 1 - side, stream, read[stream] + i)) {
                throw new AssertionError("a wrong byte at " + (read[stream] + i) + " of stream " + stream);
            }
        }
        read[stream] += bytes;
        return true;
    }

    private boolean hasAppendedAll() {
        return java.util.Arrays.equals(wanted, appended);
    }

    boolean hasReadAllOf(SimulatedUser peer) {
        return java.util.Arrays.equals(peer.wanted, read);
    }

    boolean hasReadWhatWasAppendedBy(SimulatedUser peer) {
        return java.util.Arrays.equals(peer.appended, read);
    }

    @Override
    public String toString() {
        return "wanted " + java.util.Arrays.toString(wanted) + " appended " + java.util.Arrays.toString(appended)
                + " read " + java.util.Arrays.toString(read) + (readsPlaced ? " placed" : "");
    }
}
