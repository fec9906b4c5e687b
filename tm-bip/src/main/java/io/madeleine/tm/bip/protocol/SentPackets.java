package io.madeleine.tm.bip.protocol;

import java.util.Arrays;

/**
 * What each datagram under way carried: one range per stream at most, and single frames as flags. Packet numbers are
 * consecutive and never used again; a number falls out of the record some time after its datagram was acknowledged or
 * counted as lost.
 *
 * <p>Threading: confined.
 */
final class SentPackets {
    /** The datagram carried credit for a stream: this flag, shifted by the stream's number. */
    static final int CREDIT = 1;

    /** All flags of {@link #CREDIT}. */
    static final int CREDITS = (1 << DatagramLayout.STREAM_COUNT) - 1;

    /**
     * The datagram said that the sender has finished; this flag and the next are the bits of {@link
     * DatagramLayout#END}.
     */
    static final int FINISHED = 1 << DatagramLayout.STREAM_COUNT;

    /** The datagram said that the sender has closed. */
    static final int CLOSED = FINISHED << 1;

    /** The datagram probes the size of the path's datagrams. */
    static final int PATH_PROBE = CLOSED << 1;

    /** A flag: it asks for grants. */
    static final int WANT = PATH_PROBE << 1;

    static final byte SETTLED = 0;
    static final byte IN_FLIGHT = 1;
    static final byte LOST = 2;

    static final int LEAST_RECORDS = 8;
    static final int MOST_RECORDS = 8192;

    private int capacity = LEAST_RECORDS;
    private long[] timesNs = new long[capacity]; // when it was sent, or when it was counted as lost
    private int[] bytes = new int[capacity];
    private byte[] states = new byte[capacity];
    private byte[] flags = new byte[capacity];
    private long[] offsets = new long[capacity * DatagramLayout.STREAM_COUNT];
    private int[] lengths = new int[capacity * DatagramLayout.STREAM_COUNT];
    private long oldest;
    private long next;
    private long inFlightBytes;
    private int inFlightCount;

    long oldest() {
        return oldest;
    }

    long next() {
        return next;
    }

    long inFlightBytes() {
        return inFlightBytes;
    }

    int inFlightCount() {
        return inFlightCount;
    }

    /** Whether no more data may be sent before old packets are settled. */
    boolean isFull() {
        return next - oldest >= MOST_RECORDS;
    }

    /** Whether not even an acknowledgement has a record left. */
    boolean isExhausted() {
        return next - oldest >= 2 * MOST_RECORDS;
    }

    private int slot(long number) {
        return (int) number & (capacity - 1);
    }

    /** Begins the record of the next packet; nothing is in flight until {@link #sent}. */
    long begin() {
        if (next - oldest == capacity) {
            forgetSettled();
        }
        if (next - oldest == capacity) {
            resize(2 * capacity);
        }
        int slot = slot(next);
        states[slot] = SETTLED;
        flags[slot] = 0;
        Arrays.fill(lengths, slot * DatagramLayout.STREAM_COUNT, (slot + 1) * DatagramLayout.STREAM_COUNT, 0);
        return next++;
    }

    private void resize(int wanted) {
        long[] newTimes = new long[wanted];
        int[] newBytes = new int[wanted];
        byte[] newStates = new byte[wanted];
        byte[] newFlags = new byte[wanted];
        long[] newOffsets = new long[wanted * DatagramLayout.STREAM_COUNT];
        int[] newLengths = new int[wanted * DatagramLayout.STREAM_COUNT];
        for (long number = oldest; number < next; number++) {
            int from = slot(number);
            int to = (int) number & (wanted - 1);
            newTimes[to] = timesNs[from];
            newBytes[to] = bytes[from];
            newStates[to] = states[from];
            newFlags[to] = flags[from];
            System.arraycopy(
                    offsets,
                    from * DatagramLayout.STREAM_COUNT,
                    newOffsets,
                    to * DatagramLayout.STREAM_COUNT,
                    DatagramLayout.STREAM_COUNT);
            System.arraycopy(
                    lengths,
                    from * DatagramLayout.STREAM_COUNT,
                    newLengths,
                    to * DatagramLayout.STREAM_COUNT,
                    DatagramLayout.STREAM_COUNT);
        }
        capacity = wanted;
        timesNs = newTimes;
        bytes = newBytes;
        states = newStates;
        flags = newFlags;
        offsets = newOffsets;
        lengths = newLengths;
    }

    /** The packet of this record carries bytes of a stream. */
    void carries(long number, int stream, long offset, int length) {
        int at = slot(number) * DatagramLayout.STREAM_COUNT + stream;
        offsets[at] = offset;
        lengths[at] = length;
    }

    void flag(long number, int flag) {
        flags[slot(number)] |= (byte) flag;
    }

    /** The packet has been sent and asks for an acknowledgement. */
    void sent(long number, int length, long nowNs) {
        int slot = slot(number);
        states[slot] = IN_FLIGHT;
        timesNs[slot] = nowNs;
        bytes[slot] = length;
        inFlightBytes += length;
        inFlightCount++;
    }

    boolean isInFlight(long number) {
        return states[slot(number)] == IN_FLIGHT;
    }

    boolean isLost(long number) {
        return states[slot(number)] == LOST;
    }

    long timeNs(long number) {
        return timesNs[slot(number)];
    }

    int bytes(long number) {
        return bytes[slot(number)];
    }

    int flags(long number) {
        return Byte.toUnsignedInt(flags[slot(number)]);
    }

    long offset(long number, int stream) {
        return offsets[slot(number) * DatagramLayout.STREAM_COUNT + stream];
    }

    int length(long number, int stream) {
        return lengths[slot(number) * DatagramLayout.STREAM_COUNT + stream];
    }

    void acknowledged(long number) {
        land(number, SETTLED);
    }

    void lost(long number, long nowNs) {
        land(number, LOST);
        timesNs[slot(number)] = nowNs;
    }

    private void land(long number, byte state) {
        int slot = slot(number);
        if (states[slot] == IN_FLIGHT) {
            inFlightBytes -= bytes[slot];
            inFlightCount--;
        }
        states[slot] = state;
    }

    /** Forgets old records: those of acknowledged packets, and of packets lost before this time. */
    void forget(long lostBeforeNs) {
        while (oldest < next) {
            int slot = slot(oldest);
            boolean over = states[slot] == SETTLED || states[slot] == LOST && timesNs[slot] - lostBeforeNs <= 0;
            if (!over) {
                return;
            }
            oldest++;
        }
    }

    private void forgetSettled() {
        while (oldest < next && states[slot(oldest)] == SETTLED) {
            oldest++;
        }
    }

    /** Forgets all lost packets and shrinks the arrays; nothing is in flight. */
    void rest() {
        oldest = inFlightCount == 0 ? next : oldest;
        if (oldest == next && capacity > LEAST_RECORDS) {
            resize(LEAST_RECORDS);
        }
    }
}
