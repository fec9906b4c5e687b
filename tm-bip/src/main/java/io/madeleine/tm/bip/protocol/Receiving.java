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
    private final int streamCount; // those that the peer may use
    private int endHow;

    private final GrantScheduler scheduler;
    private final Grant grant;
    private long wanted;
    private long toldArrived;
    private long toldWanted;

    Receiving(
            EndpointSettings settings,
            RingPool pool,
            GrantScheduler scheduler,
            long ownId,
            long nowNs,
            int streamCount) {
        this.streamCount = streamCount;
        this.scheduler = scheduler;
        this.grant = scheduler.add(ownId, nowNs);
        for (int i = 0; i < streams.length; i++) {
            Ring ring = new Ring(pool, settings.windowBytes(i));
            streams[i] = switch (i) {
                case DatagramLayout.CONTROL_STREAM -> new ReceiveStream(ring, EndpointSettings.CONTROL_WINDOW_BYTES);
                case DatagramLayout.LONG_STREAM -> new ReceiveStream(ring, scheduler, grant);
                default -> new ReceiveStream(ring, 0);
            };
        }
    }

    /** Whether all frames keep what was announced: no byte beyond the credit or the end, no second end. */
    boolean permits(ByteBuffer in) {
        for (int at = DatagramLayout.HEADER_BYTES; at < in.limit(); at = Frames.next(in, at)) {
            int type = in.get(at);
            boolean names =
                    type == DatagramLayout.CREDIT || type == DatagramLayout.STREAM || type == DatagramLayout.WANT;
            if (names && in.get(at + 1) >= streamCount) {
                return false;
            }
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

    void want(ByteBuffer in, int at) {
        wanted = Math.max(wanted, in.getLong(at + 4));
    }

    /**
     * Tells the scheduler of grants what has arrived with a datagram.
     *
     * @param missing how many datagrams before it are missing; below 0 if this is one that was
     */
    void tellScheduler(long missing, long nowNs) {
        ReceiveStream payload = streams[DatagramLayout.LONG_STREAM];
        if (isComplete()) {
            scheduler.remove(grant); // the peer sends nothing more
        } else if (payload.arrivedBytes() != toldArrived || wanted != toldWanted) {
            toldArrived = payload.arrivedBytes();
            toldWanted = wanted;
            scheduler.moved(grant, toldArrived, payload.takenBytes(), wanted, missing, nowNs);
        }
    }

    /** The connection is granted nothing any more. */
    void leaveScheduler() {
        scheduler.remove(grant);
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
        for (int i = 0; i < streamCount; i++) {
            if (isCreditDue(i)) {
                return true;
            }
        }
        return false;
    }

    boolean isCreditUrgent() {
        for (int i = 0; i < streamCount; i++) {
            if (streams[i].isCreditUrgent()) {
                return true;
            }
        }
        return false;
    }

    boolean isCreditDue(int stream) {
        return stream < streamCount && streams[stream].isCreditDue();
    }

    void discard() {
        leaveScheduler();
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
