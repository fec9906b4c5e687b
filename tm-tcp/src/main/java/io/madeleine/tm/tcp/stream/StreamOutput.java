package io.madeleine.tm.tcp.stream;

import io.madeleine.pmm.SpinLock;
import io.madeleine.pmm.StreamDetector;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The sending half of a connection. It holds back small messages of a dense stream for a short time, so that one write
 * carries many of them; the sender or {@link Coalescing} flushes them. It also sends the farewell.
 *
 * <p>Threading: thread-safe; packets come from one thread at a time. The lock is held for the length of a write; its
 * holder never waits.
 */
final class StreamOutput {
    /**
     * False only to measure the gain of direct sends (Nemesis, section 3.4): then the thread that drives the engine
     * sends each packet.
     */
    private static final boolean SEND_BYPASS =
            !System.getProperty("io.madeleine.tm.tcp.send-bypass", "true").equals("false");

    /** A copy of this size takes so long that {@link StreamDetector} would take it for a pause of the sender. */
    private static final int LONG_COPY_BYTES = 4 * 1024;

    private final LinkReports connection;
    private final StreamSender stream;
    private final Coalescing coalescing;
    private final StreamDetector detector;
    private final SpinLock lock = new SpinLock();

    private boolean queued;

    // guarded by the lock; read without it as hints
    private boolean kept;
    private @Nullable Thread keeper;
    private long keptSinceNs;
    private int keptMessages;
    private long seenSinceNs;
    private boolean listed;
    private boolean finishing;
    private boolean ended;

    StreamOutput(LinkReports connection, StreamSender stream, Coalescing coalescing) {
        this.connection = connection;
        this.stream = stream;
        this.coalescing = coalescing;
        this.detector = new StreamDetector(coalescing.coalesceNs());
    }

    /**
     * Sends one packet; see {@link io.madeleine.pmm.spi.DynamicLink#send}.
     *
     * @param heardPackets the number of packets received from the peer so far; only changes of it matter
     */
    int send(long header, BufferGroup group, long trailer, int heardPackets) throws IOException {
        if (!SEND_BYPASS && !queued) {
            queued = true;
            return LinkStatus.PENDING;
        }
        coalescing.sendsOver(this);
        int status = sendLocked(header, group, trailer, heardPackets);
        if (kept) {
            startTimer();
        }
        return status;
    }

    private void startTimer() {
        try {
            coalescing.startTimer();
        } catch (OutOfMemoryError _) { // no thread would flush it later
            flushKept();
        }
    }

    private int sendLocked(long header, BufferGroup group, long trailer, int heardPackets) throws IOException {
        lock.lock();
        try {
            if (ended || finishing) { // given up since the caller looked; nothing may follow the last word
                return LinkStatus.CLOSED;
            }
            boolean mayKeep = !stream.isUnderWay() && detector.next(heardPackets) && !isOverdue(detector.nowNs());
            int status = stream.send(header, group, trailer, mayKeep);
            if (mayKeep && status == LinkStatus.COMPLETE && stream.hasStaged()) {
                if (stream.hasWritten() || PacketHeader.payloadBytes(header) >= LONG_COPY_BYTES) {
                    kept &= !stream.hasWritten(); // after a write the buffer holds only this message
                    detector.written();
                }
                keep();
            } else {
                detector.written();
                if (kept) {
                    kept = false; // written, or the message under way takes it along
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
        keptSinceNs = detector.nowNs();
        kept = true;
        try {
            coalescing.kept(this, !listed);
            listed = true;
        } catch (OutOfMemoryError _) { // no thread would flush it later
            flushKeptNow();
        }
    }

    /** Flushes under the lock that the caller holds. */
    private void flushKeptNow() {
        try {
            kept = !stream.flush();
        } catch (IOException e) {
            kept = false;
            connection.sendFailed(e);
        }
        connection.sentKept(kept);
    }

    /** Whether messages are held back; a hint. */
    boolean hasKept() {
        return kept;
    }

    /** Flushes the messages that the calling thread has held back, because it waits or turns to another peer. */
    void flushOwn() {
        if (kept && keeper == Thread.currentThread()) {
            lock.lock();
            detector.waits(keptMessages);
            flushAndUnlock();
        }
    }

    /**
     * Flushes on behalf of a polling thread: its own messages at once, those of others from an age of {@code ageNs}.
     */
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

    /**
     * Whether the sender has begun a new batch since the timer's last call: then it writes without the timer's help.
     */
    boolean goesOn() {
        long sinceNs = keptSinceNs;
        boolean goesOn = sinceNs != seenSinceNs;
        seenSinceNs = sinceNs;
        return goesOn;
    }

    /**
     * Flushes on behalf of the timer, except a batch younger than half of the coalescing time: its sender still looks
     * at the clock itself. Returns whether the socket has accepted everything, or nothing was to be written.
     */
    boolean flushIdle(long nowNs) {
        return !kept || nowNs - keptSinceNs < coalescing.coalesceNs() / 2 || flushKept();
    }

    /** Flushes unless the sender holds the lock; returns false only if the socket did not accept everything. */
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

    /** Ends the stream if it still holds nothing back; the timer calls this after a while without messages. */
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
            coalescing.delist(this);
        }
    }

    /**
     * Stages the farewell behind the last packet. {@link #flushLast} continues to send it.
     *
     * @return false in the middle of a packet, where no farewell can stand
     */
    boolean finish() {
        lock.lock();
        try {
            if (stream.isUnderWay()) {
                return false;
            }
            stream.stageLast(StreamReceiver.FAREWELL);
            finishing = true;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Tells the peer behind the last packet that this process has given it up, unless a packet is under way, and sends
     * what the socket accepts.
     */
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

    /**
     * Sends the rest of the end-of-stream word and the bytes before it.
     *
     * @return whether this is complete, or pointless because the connection has failed
     */
    boolean flushLast() {
        lock.lock();
        try {
            if (finishing) {
                finishing = !stream.flush();
                kept &= finishing;
            }
        } catch (IOException _) {
            finishing = false; // the receiving half reports the failure
        } finally {
            lock.unlock();
        }
        return !finishing;
    }

    boolean hasLastToSend() {
        return finishing;
    }

    /**
     * Ends the output: no more packets come. Messages held back are sent last, and from now on only {@link #flushLast}
     * writes.
     */
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
