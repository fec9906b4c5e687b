package io.madeleine.tm.tcp;

import io.madeleine.pmm.SpinLock;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The sending half of a connection: small messages of a dense stream are kept back for a moment, so that one write takes many
 * of them, until {@link Coalescing} brings the next flush about or the sender does; and the farewell.
 *
 * <p>Threading: thread-safe; packets come from one thread at a time. The lock is held for as long as a write takes, and by
 * whoever holds it nothing is waited for.
 */
final class StreamOutput {
    /** Switched off to measure what it is worth (Nemesis, section 3.4): then a packet is sent by whoever drives the engine. */
    private static final boolean SEND_BYPASS =
            !System.getProperty("io.madeleine.tm.tcp.send-bypass", "true").equals("false");

    /** Copying so much takes long enough to be mistaken for a pause of the sender. */
    private static final int LONG_COPY_BYTES = 4 * 1024;

    private final TcpConnection connection;
    private final StreamSender stream;
    private final Coalescing coalescing;
    private final Density density;
    private final SpinLock lock = new SpinLock();

    private boolean queued;

    // guarded by the lock; looked at without it as hints
    private boolean kept;
    private @Nullable Thread keeper;
    private long keptSinceNs;
    private int keptMessages;
    private long seenSinceNs;
    private boolean listed;
    private boolean finishing;
    private boolean ended;

    StreamOutput(TcpConnection connection, StreamSender stream, Coalescing coalescing) {
        this.connection = connection;
        this.stream = stream;
        this.coalescing = coalescing;
        this.density = new Density(coalescing.coalesceNs());
    }

    /**
     * As {@link io.madeleine.pmm.spi.DynamicLink#send} says.
     *
     * @param heardPackets how many packets have come from the peer, in any terms
     */
    int send(long header, BufferGroup group, long trailer, int heardPackets) throws IOException {
        if (!SEND_BYPASS && !queued) {
            queued = true;
            return LinkStatus.PENDING;
        }
        coalescing.sendsOver(connection);
        lock.lock();
        try {
            boolean mayKeep = !stream.isUnderWay() && density.next(heardPackets) && !isOverdue(density.nowNs());
            int status = stream.send(header, group, trailer, mayKeep);
            if (mayKeep && status == LinkStatus.COMPLETE && stream.hasStaged()) {
                if (stream.hasWritten() || PacketHeader.payloadBytes(header) >= LONG_COPY_BYTES) {
                    kept &= !stream.hasWritten(); // what is in the buffer now is of this message alone
                    density.written();
                }
                keep();
            } else {
                density.written();
                if (kept) {
                    kept = false; // it has left, or the message that is under way takes it along
                }
            }
            queued = status == LinkStatus.PENDING;
            return status;
        } finally {
            lock.unlock();
        }
    }

    private boolean isOverdue(long nowNs) {
        return kept && nowNs - keptSinceNs >= coalescing.coalesceNs();
    }

    private void keep() {
        Thread self = Thread.currentThread();
        if (keeper != self) {
            keeper = self;
        }
        if (kept) {
            keptMessages++;
            return;
        }
        keptMessages = 1;
        keptSinceNs = density.nowNs();
        kept = true;
        try {
            coalescing.kept(connection, !listed);
            listed = true;
        } catch (OutOfMemoryError _) { // nobody would see to it: it leaves now
            flushKeptNow();
        }
    }

    /** Under the lock. */
    private void flushKeptNow() {
        try {
            kept = !stream.flush();
        } catch (IOException e) {
            kept = false;
            connection.sendFailed(e);
        }
        connection.sentKept(kept);
    }

    /** Whether something was kept back a moment ago. */
    boolean hasKept() {
        return kept;
    }

    /** The calling thread waits or turns to another peer: what it has kept leaves. */
    void flushOwn() {
        if (kept && keeper == Thread.currentThread()) {
            lock.lock();
            density.waits(keptMessages);
            flushAndUnlock();
        }
    }

    /** Somebody polls: what the same thread has kept leaves, and what others have kept for so long. */
    void flushOwnOrOld(long nowNs, long ageNs) {
        if (!kept) {
            return;
        }
        if (keeper == Thread.currentThread()) {
            flushOwn();
        } else if (nowNs - keptSinceNs >= ageNs) {
            flushKept();
        }
    }

    /** Whether the sender has begun to keep anew since the last time that the timer asked: it writes by itself. */
    boolean goesOn() {
        long sinceNs = keptSinceNs;
        boolean goesOn = sinceNs != seenSinceNs;
        seenSinceNs = sinceNs;
        return goesOn;
    }

    /** A timer looks: what is kept leaves, unless its sender has just begun to keep, and will look at the clock itself. */
    boolean flushIdle(long nowNs) {
        return !kept || nowNs - keptSinceNs < coalescing.coalesceNs() / 2 || flushKept();
    }

    /** Writes what is kept unless its sender is at it; returns whether the socket has taken all. */
    boolean flushKept() {
        return !kept || !lock.tryLock() || flushAndUnlock();
    }

    private boolean flushAndUnlock() {
        boolean all = true;
        try {
            if (!kept) {
                return true;
            }
            all = stream.flush();
            kept = !all;
        } catch (IOException e) {
            kept = false;
            connection.sendFailed(e);
        } finally {
            lock.unlock();
        }
        connection.sentKept(!all);
        return all;
    }

    /** Nothing has been kept for a while: the stream has ended, if that is still so. */
    void endStream() {
        if (lock.tryLock()) {
            try {
                if (!kept) {
                    delist();
                }
            } finally {
                lock.unlock();
            }
        }
    }

    private void delist() {
        if (listed) {
            listed = false;
            keeper = null;
            coalescing.delist(connection);
        }
    }

    /** Puts the farewell behind the last packet; returns false where there is no place for it. Goes on by {@link #flushLast}. */
    boolean finish() {
        lock.lock();
        try {
            if (stream.isUnderWay()) {
                return false; // in the middle of a packet
            }
            stream.stageLast(StreamReceiver.FAREWELL);
            finishing = true;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Puts behind the last packet that the peer has been given up, if there is a place for it, and sends what the socket takes. */
    void giveUp() {
        lock.lock();
        try {
            if (!ended && !finishing && !stream.isUnderWay()) {
                stream.stageLast(StreamReceiver.GIVEN_UP);
                finishing = true;
            }
        } finally {
            lock.unlock();
        }
        flushLast();
    }

    /** Sends the last that is to be sent, or what is left of it; returns whether that is done or has become pointless. */
    boolean flushLast() {
        lock.lock();
        try {
            if (finishing) {
                finishing = !stream.flush();
                kept &= finishing;
            }
        } catch (IOException _) {
            finishing = false; // the receiving half sees the same end
        } finally {
            lock.unlock();
        }
        return !finishing;
    }

    boolean hasLastToSend() {
        return finishing;
    }

    /** No packets come any more; what is kept is the last to be sent. From now on only {@link #flushLast} writes. */
    void end() {
        lock.lock();
        try {
            if (!ended) {
                ended = true;
                finishing |= kept;
                kept = false;
                delist();
            }
        } finally {
            lock.unlock();
        }
    }
}
