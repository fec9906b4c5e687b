package io.madeleine.tm.bip.protocol;

import java.nio.ByteBuffer;

/**
 * Checks and steps through the frames of a DATA datagram.
 *
 * <p>Threading: stateless.
 */
final class Frames {
    private static final int MALFORMED = -1;

    private Frames() {}

    /** The length of the frame at a position, or {@link #MALFORMED}. */
    private static int length(ByteBuffer in, int at, int limit) {
        int left = limit - at;
        if (left < 4) {
            return MALFORMED;
        }
        int second = Byte.toUnsignedInt(in.get(at + 1));
        int third = Short.toUnsignedInt(in.getShort(at + 2));
        return switch (in.get(at)) {
            case DatagramLayout.ACK ->
                second >= 1 && second <= DatagramLayout.MAX_ACK_RANGES && third == 0
                        ? DatagramLayout.ACK_BYTES + second * DatagramLayout.ACK_RANGE_BYTES
                        : MALFORMED;
            case DatagramLayout.CREDIT ->
                second < DatagramLayout.STREAM_COUNT && third == 0 ? DatagramLayout.CREDIT_BYTES : MALFORMED;
            case DatagramLayout.STREAM ->
                second < DatagramLayout.STREAM_COUNT && third > 0 ? DatagramLayout.STREAM_BYTES + third : MALFORMED;
            case DatagramLayout.PING -> second == 0 && third == 0 ? DatagramLayout.PING_BYTES : MALFORMED;
            case DatagramLayout.PADDING -> second == 0 ? DatagramLayout.PADDING_BYTES + third : MALFORMED;
            case DatagramLayout.END ->
                second != 0 && (second & ~(DatagramLayout.HOW_FINISHED | DatagramLayout.HOW_CLOSED)) == 0 && third == 0
                        ? DatagramLayout.END_BYTES
                        : MALFORMED;
            case DatagramLayout.RESET -> second == 0 && third == 0 ? DatagramLayout.RESET_BYTES : MALFORMED;
            case DatagramLayout.WANT ->
                second == DatagramLayout.LONG_STREAM && third == 0 ? DatagramLayout.WANT_BYTES : MALFORMED;
            default -> MALFORMED;
        };
    }

    /** The position behind the frame at a position of a datagram that was {@linkplain #areWellFormed checked}. */
    static int next(ByteBuffer in, int at) {
        return at + length(in, at, in.limit());
    }

    /** Whether a datagram consists of whole, possible frames. */
    static boolean areWellFormed(ByteBuffer in) {
        int limit = in.limit();
        int at = DatagramLayout.HEADER_BYTES;
        while (at < limit) {
            int length = length(in, at, limit);
            if (length == MALFORMED || length > limit - at || !isPossible(in, at)) {
                return false;
            }
            at += length;
        }
        return true;
    }

    private static boolean isPossible(ByteBuffer in, int at) {
        return switch (in.get(at)) {
            case DatagramLayout.ACK -> areRangesPossible(in, at);
            case DatagramLayout.CREDIT, DatagramLayout.WANT -> in.getLong(at + 4) >= 0;
            case DatagramLayout.STREAM -> {
                long offset = in.getLong(at + 4);
                yield offset >= 0 && offset <= Long.MAX_VALUE - 0x10000;
            }
            default -> true;
        };
    }

    private static boolean areRangesPossible(ByteBuffer in, int at) {
        long largest = in.getLong(at + 8);
        if (largest < 0 || largest == Long.MAX_VALUE) { // the sums below must not overflow
            return false;
        }
        long below = largest + 1;
        int ranges = in.get(at + 1);
        for (int i = 0; i < ranges; i++) {
            long gap = Integer.toUnsignedLong(
                    in.getInt(at + DatagramLayout.ACK_BYTES + i * DatagramLayout.ACK_RANGE_BYTES));
            long count = Integer.toUnsignedLong(
                    in.getInt(at + DatagramLayout.ACK_BYTES + i * DatagramLayout.ACK_RANGE_BYTES + 4));
            below -= gap + count;
            if (count == 0 || below < 0) {
                return false;
            }
        }
        return true;
    }

    /** Whether the frame asks for an acknowledgement. */
    static boolean asks(int type) {
        return type != DatagramLayout.ACK && type != DatagramLayout.PADDING;
    }
}
