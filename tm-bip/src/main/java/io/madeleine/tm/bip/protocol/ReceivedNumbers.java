package io.madeleine.tm.bip.protocol;

import java.nio.ByteBuffer;

/**
 * The packet numbers that have arrived, for acknowledgements and against duplicates. A number below the floor counts as
 * a duplicate: its sender no longer tracks it and has sent its content again.
 *
 * <p>Threading: confined.
 */
final class ReceivedNumbers {
    /** So many ranges are remembered; the lowest are given up first. */
    private static final int MAX_RANGES = 256;

    private final RangeSet numbers = new RangeSet();
    private long floor;
    private long largest = -1;
    private long largestAtNs;
    private int unacknowledged; // datagrams that ask for an acknowledgement and arrived since the last one was sent
    private boolean outOfOrder;
    private long firstUnacknowledgedAtNs;

    boolean isDuplicate(long number) {
        return number < floor || numbers.contains(number);
    }

    /** The largest number that has arrived; -1 before the first. */
    long largest() {
        return largest;
    }

    /** How many numbers between the largest that has arrived and this one are missing; -1 if it is not larger. */
    long missingBefore(long number) {
        return number > largest ? number - largest - 1 : -1;
    }

    void add(long number, boolean asks, long nowNs) {
        if (asks) {
            outOfOrder |= number != largest + 1;
            if (unacknowledged++ == 0) {
                firstUnacknowledgedAtNs = nowNs;
            }
        }
        numbers.add(number, number + 1);
        if (number > largest) {
            largest = number;
            largestAtNs = nowNs;
        }
        if (numbers.count() > MAX_RANGES) {
            forgetBelow(numbers.start(1));
        }
    }

    /** The datagram that is being read should be acknowledged at once. */
    void hurry() {
        outOfOrder = true;
    }

    void forgetBelow(long number) {
        if (number > floor) {
            floor = number;
            numbers.removeBelow(number);
        }
    }

    /** Whether an acknowledgement is wanted at once. */
    boolean isUrgent() {
        return unacknowledged >= 2 || unacknowledged > 0 && outOfOrder;
    }

    boolean isAckDue(long nowNs, long delayNs) {
        return isUrgent() || unacknowledged > 0 && nowNs - firstUnacknowledgedAtNs >= delayNs;
    }

    boolean isAckPending() {
        return unacknowledged > 0;
    }

    long ackDeadlineNs(long delayNs) {
        return firstUnacknowledgedAtNs + (isUrgent() ? 0 : delayNs);
    }

    int rangeCount() {
        return numbers.count();
    }

    /** Writes an ACK frame, if there is room for one range at least and something to acknowledge. */
    void writeAck(ByteBuffer out, int roomBytes, long nowNs) {
        int ranges = Math.min(
                Math.min(numbers.count(), DatagramLayout.MAX_ACK_RANGES),
                (roomBytes - DatagramLayout.ACK_BYTES) / DatagramLayout.ACK_RANGE_BYTES);
        if (ranges <= 0) {
            return;
        }
        out.put((byte) DatagramLayout.ACK).put((byte) ranges).putShort((short) 0);
        out.putInt((int) Math.min(Integer.MAX_VALUE, Math.max(0, nowNs - largestAtNs) / 1000));
        int i = numbers.count() - 1;
        out.putLong(numbers.end(i) - 1);
        long above = numbers.end(i);
        for (int written = 0; written < ranges; written++, i--) {
            out.putInt((int) (above - numbers.end(i)));
            out.putInt((int) (numbers.end(i) - numbers.start(i)));
            above = numbers.start(i);
        }
        unacknowledged = 0;
        outOfOrder = false;
    }
}
