package io.madeleine.tm.bip;

import io.madeleine.pmm.StreamDetector;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Notes what a connection holds back for a moment, so that one datagram carries more: packets of a dense stream; the
 * mark that begins a message whose first block follows over the other link; and reports to the peer on what has arrived
 * and what was read, which an answer may carry. The sender flushes packets and marks when they are many or old, when it
 * looks for an answer, and when it turns to another peer. A thread that polls flushes what is old; a demand asks for
 * one after {@value #LOOK_NS} ns.
 *
 * <p>Threading: guarded by the connection's lock; {@link #isAny}, {@link #isOwn} and {@link #isOld} are hints without
 * it.
 */
final class HeldBack {
    /** How long after the first packet a thread that polls is to look: waking it costs more than a datagram. */
    static final long LOOK_NS = 200_000;

    /**
     * In a fast stream the clock is read for one packet in this many: reading it takes as long as the rest of the work
     * for a packet.
     */
    static final int CLOCK_PACKETS = 4;

    /**
     * The most of the coalescing time that counts for density: packets with longer gaps would seldom share a datagram.
     */
    private static final long DENSE_NS = 20_000;

    private final StreamDetector detector;
    private final LongSupplier clock;
    private final long coalesceNs;
    private boolean any;
    private @Nullable Thread sender; // of packets and marks
    private long sinceNs;
    private int packets;

    /** @param coalesceNs how long something may be held back; 0 for not at all */
    HeldBack(long coalesceNs) {
        this(coalesceNs, System::nanoTime);
    }

    /** With a given clock, in nanoseconds. */
    HeldBack(long coalesceNs, LongSupplier clock) {
        this.coalesceNs = coalesceNs;
        this.clock = clock;
        this.detector = new StreamDetector(Math.min(coalesceNs, DENSE_NS), clock);
    }

    /**
     * The calling thread has appended a packet. Returns whether it is held back.
     *
     * @param heardPackets the number of packets received from the peer so far; only changes of it matter
     * @param isFull whether a datagram is full
     */
    boolean addPacket(int heardPackets, boolean isFull) {
        boolean joins = packets % CLOCK_PACKETS != 0 && any && !isFull && detector.isFast();
        if (joins) {
            packets++;
            setSender();
            return true;
        }
        if (!detector.next(heardPackets) || isFull || any && isOld(detector.nowNs())) {
            return false;
        }
        hold(detector.nowNs());
        packets++;
        setSender();
        return true;
    }

    /** The calling thread has appended a packet that says only that a message begins; as {@link #addPacket}. */
    boolean addMark() {
        if (!addReport()) {
            return false;
        }
        setSender();
        return true;
    }

    /** There is something to report; returns whether the report is held back. */
    boolean addReport() {
        if (coalesceNs == 0) {
            return false;
        }
        if (!any) {
            hold(clock.getAsLong());
        }
        return true;
    }

    private void hold(long nowNs) {
        if (!any) {
            any = true;
            sinceNs = nowNs;
            packets = 0;
        }
    }

    private void setSender() {
        Thread self = Thread.currentThread();
        if (sender != self) {
            sender = self;
        }
    }

    /** Everything has been sent. */
    void sent() {
        if (any) {
            any = false;
            sender = null;
        }
        detector.written();
    }

    /** The sender looks for an answer, or turns to another peer. */
    void senderWaits() {
        if (packets > 0) {
            detector.waits(packets);
        }
    }

    /** Whether anything is held back. */
    boolean isAny() {
        return any;
    }

    /** Whether a packet or mark of the calling thread is held back. */
    boolean isOwn() {
        return any && sender == Thread.currentThread();
    }

    /** Whether something has been held back for as long as it may be. */
    boolean isOld(long nowNs) {
        return any && nowNs - sinceNs >= coalesceNs;
    }

    /** When a thread that polls has to look. */
    long dueNs() {
        return sinceNs + LOOK_NS;
    }
}
