package io.madeleine.tm.via.link;

import io.madeleine.api.MadeleineException;
import io.madeleine.pmm.handshake.Handshake;
import io.madeleine.pmm.handshake.HandshakeLine;
import io.madeleine.pmm.handshake.PendingConnection;
import io.madeleine.tm.via.port.MessageFlyweight;
import io.madeleine.tm.via.port.Opening;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * The line of the handshake over a connection: first an opening of each side, then the frames. Each has a slot of its
 * own in the connection's lane.
 *
 * <p>Threading: under the adapter's lock, but for {@link #onFrame}.
 */
public final class ViaLine implements HandshakeLine {
    private final ViaConnection connection;
    private final Lane lane;
    private final ConnectionEnd end;
    private final String remote;
    private final Queue<byte[]> frames = new ConcurrentLinkedQueue<>();
    private int nextSlot;
    private @Nullable Handshake handshake;

    ViaLine(ViaConnection connection, Lane lane, ConnectionEnd end, String remote) {
        this.connection = connection;
        this.lane = lane;
        this.end = end;
        this.remote = remote;
        lane.addSlots(LaneSlots.LINE, LaneSlots.LINE_BYTES);
    }

    /** The connection that it becomes. */
    public ViaConnection connection() {
        return connection;
    }

    /** The handshake over this line. Set once, before the first frame. */
    public void use(Handshake begun) {
        handshake = begun;
    }

    /** Whether there was a handshake. */
    boolean wasUsed() {
        return handshake != null;
    }

    /** Whether this end has sent something. */
    boolean hasSent() {
        return nextSlot > 0;
    }

    /** Sends an opening, {@link MessageFlyweight#OPEN} or {@link MessageFlyweight#ACCEPT}. */
    public void sendOpening(int kind, byte[] ownName) {
        int slot = nextSlot++;
        Opening opening = connection.opening(ownName);
        int bytes = opening.write(lane.memory(slot), lane.offset(slot) + MessageFlyweight.BYTES);
        connection.address(slot, kind, connection.token());
        lane.send(slot, MessageFlyweight.BYTES + bytes);
    }

    /** A frame of the handshake has arrived; false if there are too many. */
    boolean onFrame(byte[] frame) {
        if (frames.size() >= LaneSlots.FRAMES) {
            return false;
        }
        frames.add(frame);
        return true;
    }

    /** Whether {@link #feed} has work. */
    public boolean hasWork() {
        return connection.links().isEmpty() && (!frames.isEmpty() || end.isReached());
    }

    /** Gives arrived frames to the handshake; returns the number of events. */
    public int feed(long nowNs) {
        Handshake mine = handshake;
        int work = 0;
        while (mine != null && !mine.isOver()) {
            boolean ended = end.isReached(); // read before the frames: those that arrived before the end still count
            byte[] frame = frames.poll();
            if (frame != null) {
                mine.receive(ByteBuffer.wrap(frame), nowNs);
            } else if (ended) {
                mine.fail(end.reason(), false);
            } else {
                break;
            }
            work++;
        }
        return work;
    }

    /** Whether it has become a connection, or was closed. */
    public boolean isOver() {
        return !connection.links().isEmpty() || end.isClosedHere();
    }

    // ---- HandshakeLine

    @Override
    public String remote() {
        return remote;
    }

    @Override
    public void send(byte[] frame) {
        if (nextSlot == LaneSlots.FRAMES) {
            throw new IllegalStateException("a handshake of more frames than there are slots");
        }
        int slot = nextSlot++;
        long at = lane.offset(slot) + MessageFlyweight.BYTES;
        MemorySegment.copy(frame, 0, lane.memory(slot), ValueLayout.JAVA_BYTE, at, frame.length);
        connection.address(slot, MessageFlyweight.FRAME, 0);
        lane.send(slot, MessageFlyweight.BYTES + frame.length);
    }

    @Override
    public void established(PendingConnection wanted, byte[] lastFrame) {
        try {
            connection.openLinks(wanted.request());
        } catch (MadeleineException e) {
            wanted.fail(String.valueOf(e.getMessage()), e);
            connection.close();
            return;
        }
        if (lastFrame.length > 0) {
            send(lastFrame);
        }
        wanted.complete(connection);
    }

    @Override
    public void failed(byte[] lastFrame, String reason, boolean decided) {
        if (lastFrame.length > 0 && connection.knowsPeer()) {
            send(lastFrame);
        }
        connection.close();
    }
}
