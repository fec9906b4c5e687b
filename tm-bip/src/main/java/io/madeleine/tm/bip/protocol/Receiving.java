package io.madeleine.tm.bip.protocol;

import java.nio.ByteBuffer;

/**
 * The receiving half of an {@link Endpoint}.
 *
 * <p>Threading: confined.
 */
final class Receiving {
    final ReceivedNumbers numbers = new ReceivedNumbers();
    final ReceiveStream[] streams = new ReceiveStream[DatagramLayout.STREAM_COUNT];
    private final long[] lengths = new long[DatagramLayout.STREAM_COUNT];
    private int endHow;

    Receiving(EndpointSettings settings, RingPool pool) {
        for (int i = 0; i < streams.length; i++) {
            int initial = i == DatagramLayout.CONTROL_STREAM ? EndpointSettings.CONTROL_WINDOW_BYTES : 0;
            streams[i] = new ReceiveStream(new Ring(pool, settings.windowBytes(i)), initial);
        }
    }

    /** Whether all frames keep what was announced: no byte beyond the credit or the end, no second end. */
    boolean permits(ByteBuffer in) {
        for (int at = DatagramLayout.HEADER_BYTES; at < in.limit(); at = Frames.next(in, at)) {
            int type = in.get(at);
            if (type == DatagramLayout.STREAM && !permitsStream(in, at)
                    || type == DatagramLayout.END && !permitsEnd(in, at)) {
                return false;
            }
        }
        return true;
    }

    private boolean permitsStream(ByteBuffer in, int at) {
        int stream = in.get(at + 1);
        long end = in.getLong(at + 4) + Short.toUnsignedInt(in.getShort(at + 2));
        if (!streams[stream].permits(end) || endHow != 0 && end > lengths[stream]) {
            return false;
        }
        streams[stream].prepare();
        return true;
    }

    private boolean permitsEnd(ByteBuffer in, int at) {
        for (int i = 0; i < streams.length; i++) {
            long length = in.getLong(at + 4 + i * Long.BYTES);
            if (length < streams[i].contiguous() || endHow != 0 && length != lengths[i]) {
                return false;
            }
        }
        return true;
    }

    void stream(Datagram datagram, int at) {
        ByteBuffer in = datagram.bytes();
        streams[in.get(at + 1)].arrived(
                in.getLong(at + 4),
                datagram.memory(),
                (long) at + DatagramLayout.STREAM_BYTES,
                Short.toUnsignedInt(in.getShort(at + 2)));
    }

    void end(ByteBuffer in, int at) {
        endHow |= in.get(at + 1);
        numbers.hurry();
        for (int i = 0; i < streams.length; i++) {
            lengths[i] = in.getLong(at + 4 + i * Long.BYTES);
        }
    }

    int endHow() {
        return endHow;
    }

    boolean isPeerClosed() {
        return (endHow & DatagramLayout.HOW_CLOSED) != 0;
    }

    boolean isComplete() {
        if (endHow == 0) {
            return false;
        }
        for (int i = 0; i < streams.length; i++) {
            if (streams[i].contiguous() < lengths[i]) {
                return false;
            }
        }
        return true;
    }

    boolean isCreditDue() {
        if (isPeerClosed() && isComplete()) {
            return false; // the peer sends nothing more
        }
        for (ReceiveStream stream : streams) {
            if (stream.isCreditDue()) {
                return true;
            }
        }
        return false;
    }

    void discard() {
        for (ReceiveStream stream : streams) {
            stream.discard();
        }
    }

    void rest() {
        for (ReceiveStream stream : streams) {
            stream.rest();
        }
    }
}
