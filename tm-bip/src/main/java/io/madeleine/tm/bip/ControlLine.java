package io.madeleine.tm.bip;

import io.madeleine.tm.bip.protocol.DatagramLayout;
import io.madeleine.tm.bip.protocol.Endpoint;
import io.madeleine.tm.bip.protocol.ReceiveStream;
import io.madeleine.tm.bip.protocol.SendStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Carries the frames of the handshake over the control stream, each behind its length in two bytes, big-endian.
 *
 * <p>Threading: guarded by the connection's lock.
 */
final class ControlLine {
    private static final int LENGTH_BYTES = 2;

    private final SendStream out;
    private final ReceiveStream in;
    private int length = -1;

    ControlLine(Endpoint of) {
        this.out = of.out(DatagramLayout.CONTROL_STREAM);
        this.in = of.in(DatagramLayout.CONTROL_STREAM);
    }

    /** Sends a frame; each side sends less than the stream's window in total. */
    void send(byte[] frame) {
        byte[] framed = ByteBuffer.allocate(LENGTH_BYTES + frame.length)
                .putShort((short) frame.length)
                .put(frame)
                .array();
        if (out.room() < framed.length) {
            throw new IllegalStateException("the frames of the handshake exceed the window of the control stream");
        }
        out.append(MemorySegment.ofArray(framed), 0, framed.length);
    }

    boolean hasFrame() {
        return in.readableBytes() >= (length < 0 ? LENGTH_BYTES : length);
    }

    @Nullable
    ByteBuffer take() {
        if (length < 0 && in.readableBytes() >= LENGTH_BYTES) {
            length = Short.toUnsignedInt(ByteBuffer.wrap(bytes(LENGTH_BYTES)).getShort());
        }
        if (length < 0 || in.readableBytes() < length) {
            return null;
        }
        ByteBuffer frame = ByteBuffer.wrap(bytes(length));
        length = -1;
        return frame;
    }

    private byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        in.take(MemorySegment.ofArray(bytes), 0, count);
        return bytes;
    }
}
