package io.madeleine.tm.via.link;

import io.madeleine.pmm.SpinLock;
import io.madeleine.pmm.spi.Blocks;
import io.madeleine.tm.via.port.MessageFlyweight;

/**
 * The messages of control of a connection that may have to wait for their slots: credits, grants, revocations and the
 * answers to them. Each kind has one slot, and the peer has receives for them that data cannot use up.
 *
 * <p>Threading: any thread; {@link #answer} belongs to the thread that handles completions, {@link #flush} to the one
 * that polls.
 */
final class ControlMessages {
    private final ViaConnection connection;
    private final Lane lane;
    private final Credits packets;
    private final Credits headers;
    private final Credits tagged;
    private final RdmaReceiver receiver;
    private final SpinLock lock = new SpinLock();
    private volatile boolean creditsFollow;
    private volatile boolean receiverFollows;

    /** The revocation to be answered; 0 if there is none. Changed under the lock. */
    private volatile int unanswered;

    ControlMessages(
            ViaConnection connection,
            Lane lane,
            Credits packets,
            Credits headers,
            Credits tagged,
            RdmaReceiver receiver) {
        this.connection = connection;
        this.lane = lane;
        this.packets = packets;
        this.headers = headers;
        this.tagged = tagged;
        this.receiver = receiver;
    }

    /** Returns credits if enough are due. */
    void pushCredits() {
        if (isDue() && connection.canTell()) {
            lock.lock();
            try {
                sendCredits();
            } finally {
                lock.unlock();
            }
        }
    }

    private boolean isDue() {
        return packets.isDue() || headers.isDue() || tagged.isDue();
    }

    private void sendCredits() {
        if (!isDue()) {
            creditsFollow = false;
        } else if (lane.isFree(LaneSlots.CREDIT)) {
            connection.address(LaneSlots.CREDIT, MessageFlyweight.CREDIT, 0);
            lane.send(LaneSlots.CREDIT, MessageFlyweight.BYTES);
            creditsFollow = false;
        } else {
            creditsFollow = true;
            connection.behind();
        }
    }

    /** The receiver has grants or a revocation to send. */
    void follows() {
        receiverFollows = true;
        connection.behind();
    }

    /** Answers a revocation, now or when the slot is free; false if the last one has no answer yet. */
    boolean answer(int revocation) {
        lock.lock();
        try {
            if (unanswered != 0) {
                return false;
            }
            unanswered = revocation;
            sendAnswerLocked();
            return true;
        } finally {
            lock.unlock();
        }
    }

    private void sendAnswer() {
        lock.lock();
        try {
            if (unanswered != 0) {
                sendAnswerLocked();
            }
        } finally {
            lock.unlock();
        }
    }

    private void sendAnswerLocked() {
        RdmaSender sender = connection.sender();
        if (sender == null || !lane.isFree(LaneSlots.REVOKED)) {
            connection.behind();
            return;
        }
        long revocation = (long) unanswered << Integer.SIZE;
        unanswered = 0;
        sender.onRevoke((used, end) -> {
            long at = lane.offset(LaneSlots.REVOKED) + MessageFlyweight.BYTES;
            lane.memory(LaneSlots.REVOKED).set(Blocks.LONG, at, end);
            connection.address(LaneSlots.REVOKED, MessageFlyweight.REVOKED, revocation | used & 0xFFFFFFFFL);
        });
        lane.send(LaneSlots.REVOKED, MessageFlyweight.BYTES + Long.BYTES);
    }

    /** Sends what could not be sent before; returns whether nothing is left. */
    boolean flush() {
        if (!connection.canTell()) {
            return true;
        }
        if (creditsFollow) {
            pushCredits();
        }
        if (unanswered != 0) {
            sendAnswer();
        }
        RdmaSender sender = connection.sender();
        boolean done = sender == null || sender.flush();
        if (receiverFollows) {
            receiverFollows = false;
            done &= receiver.flush();
            RegisteredReceiver registered = connection.registeredReceiver();
            done &= registered == null || registered.flush();
        }
        return done && !creditsFollow && unanswered == 0;
    }
}
