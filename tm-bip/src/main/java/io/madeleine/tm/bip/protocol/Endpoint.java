package io.madeleine.tm.bip.protocol;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection: takes datagrams, makes datagrams, and says when it wants to be called next. It has four
 * streams in each direction. It knows neither socket nor clock; {@code PROTOCOL.md} describes what it does.
 *
 * <p>After each call that changes something, the caller calls {@link #produce} until it returns 0, and again at {@link
 * #nextDeadlineNs()}.
 *
 * <p>Threading: confined to the lock of its connection. The calls allocate nothing in steady state.
 */
public final class Endpoint {
    /** No deadline. */
    public static final long NONE = Recovery.NONE;

    /** The states of a connection; a later one never becomes an earlier one. */
    public enum State {
        /** The initiator asks the acceptor for a connection. */
        CALLING,
        /** Both directions are open, or were finished. */
        ESTABLISHED,
        /** This end was closed and delivers what was sent before. */
        CLOSING,
        /** This end has given the peer up, and tells it once. */
        GIVING_UP,
        /** The peer is lost; what has arrived can be read. */
        LOST,
        /** Nothing is left to do. */
        GONE
    }

    /** How often a closed end that waits for room probes a silent peer while it lingers. */
    static final int CLOSING_PROBES = 4;

    private final EndpointSettings settings;
    private final long ownId;
    private final Receiving receiving;
    private final Sending sending;
    private final @Nullable Greeting greeting;
    private final @Nullable Protection protection;
    private State state;
    private long remoteId;
    private boolean acceptDue;
    private int peerEncryption;
    private final Linger linger;
    private boolean awaitsFirstFrames;
    private long undeliveredBytes;
    private long heardNs;
    private long observedNs;
    private long silentNs;
    private String lossReason = "";

    private Endpoint(
            EndpointSettings settings,
            RingPool pool,
            GrantScheduler grants,
            long ownId,
            long remoteId,
            @Nullable Greeting greeting,
            @Nullable Protection protection,
            long now) {
        this.settings = settings;
        this.linger = new Linger(settings);
        this.ownId = ownId;
        this.remoteId = remoteId;
        this.greeting = greeting;
        this.protection = protection;
        this.peerEncryption = settings.encryption();
        this.state = greeting == null ? State.ESTABLISHED : State.CALLING;
        this.acceptDue = greeting == null && protection == null;
        int streamCount = settings.encrypts() && protection == null
                ? DatagramLayout.CONTROL_STREAM + 1
                : DatagramLayout.STREAM_COUNT;
        this.receiving = new Receiving(settings, pool, grants, ownId, now, streamCount);
        this.sending = new Sending(settings, pool, receiving, protection);
        this.heardNs = now;
        this.observedNs = now;
    }

    /** The end that calls. */
    public static Endpoint initiator(
            EndpointSettings settings, RingPool pool, GrantScheduler grants, long ownId, long nowNs) {
        return opening(settings, pool, grants, ownId, 0, new Greeting(nowNs), nowNs);
    }

    /** The end that was called, by a peer that has shown a valid cookie. */
    public static Endpoint acceptor(
            EndpointSettings settings, RingPool pool, GrantScheduler grants, long ownId, long remoteId, long nowNs) {
        return opening(settings, pool, grants, ownId, remoteId, null, nowNs);
    }

    /** If keys come later, the connection has only the control stream, and takes no part in the grants of others. */
    private static Endpoint opening(
            EndpointSettings settings,
            RingPool pool,
            GrantScheduler grants,
            long ownId,
            long remoteId,
            @Nullable Greeting greeting,
            long nowNs) {
        return settings.encrypts()
                ? new Endpoint(
                        settings.ofOpening(),
                        pool,
                        new GrantScheduler(settings, 0, GrantScheduler.Order.FAIR),
                        ownId,
                        remoteId,
                        greeting,
                        null,
                        nowNs)
                : new Endpoint(settings, pool, grants, ownId, remoteId, greeting, null, nowNs);
    }

    /**
     * The end of a connection whose two ends have keys, under the ids of the connection that carried the TLS handshake.
     * Its packet numbers begin anew: what came without protection counts for nothing.
     */
    public static Endpoint sealed(
            EndpointSettings settings,
            RingPool pool,
            GrantScheduler grants,
            long ownId,
            long remoteId,
            Protection protection,
            long nowNs) {
        return new Endpoint(settings, pool, grants, ownId, remoteId, null, protection, nowNs);
    }

    // ---- what its user sees

    /** The state. */
    public State state() {
        return state;
    }

    /** The id by which the peer addresses this end. */
    public long ownId() {
        return ownId;
    }

    /** The id of the peer's end; 0 before it is known. */
    public long remoteId() {
        return remoteId;
    }

    /** The peer's {@code OPEN} said how it encrypts. */
    public void peerEncryption(int said) {
        peerEncryption = said;
    }

    /** Whether both ends encrypt in the same way, or neither; true as long as the peer has not said it. */
    public boolean agreesOnEncryption() {
        return peerEncryption == settings.encryption();
    }

    /** Why the peer counts as lost, as a clause. */
    public String lossReason() {
        return lossReason;
    }

    /** The sending half of a stream. */
    public SendStream out(int stream) {
        return sending.streams[stream];
    }

    /** The receiving half of a stream. */
    public ReceiveStream in(int stream) {
        return receiving.streams[stream];
    }

    /** Whether the peer has said that it sends nothing more, and all that it has sent has arrived. */
    public boolean hasPeerEnded() {
        return receiving.isComplete();
    }

    /** Whether the peer has said that it has finished of its own will. */
    public boolean hasPeerFinished() {
        return (receiving.endHow() & DatagramLayout.HOW_FINISHED) != 0;
    }

    /** Whether sending is pointless: one of the ends is closed or lost. */
    public boolean isOver() {
        return state.compareTo(State.ESTABLISHED) > 0 || receiving.isPeerClosed();
    }

    /**
     * Whether the peer should hear that there is more room in a stream from which bytes were just taken: {@link
     * #produce} would tell it.
     */
    public boolean owesCredit(ReceiveStream read) {
        return read.isCreditDue() && (state == State.ESTABLISHED || state == State.CLOSING) && receiving.isCreditDue();
    }

    /**
     * Whether there is something to tell the peer, and nothing but what has arrived and how much more it may send,
     * which any datagram can carry, and for which the peer need not wait yet.
     */
    public boolean owesOnlyReports() {
        return state == State.ESTABLISHED
                && !acceptDue
                && (receiving.numbers.isUrgent() || receiving.isCreditDue())
                && !receiving.isCreditUrgent()
                && sending.hasNothingOfItsOwn();
    }

    /**
     * The peer may be a stranger. It gets nothing but the answer to its call until its first frames have come, and the
     * path is not probed before {@link #peerIsKnown}: so an address gets little more than it sends.
     */
    public void distrust() {
        awaitsFirstFrames = true;
        sending.recovery.path.hold(true);
    }

    /** The peer has proved who it is. */
    public void peerIsKnown() {
        sending.recovery.path.hold(false);
    }

    /** The largest datagram in use. */
    public int datagramBytes() {
        return sending.recovery.path.bytes();
    }

    /** How many bytes may be under way. */
    public long congestionWindowBytes() {
        return sending.recovery.window.bytes();
    }

    /** The smoothed round-trip time. */
    public long roundTripNs() {
        return sending.recovery.rtt.smoothedNs();
    }

    /** How many bytes are under way. */
    public long inFlightBytes() {
        return sending.recovery.sent.inFlightBytes();
    }

    /** How many packet numbers are on record, for tests of the bounds. */
    int recordCount() {
        return (int) (sending.recovery.sent.next() - sending.recovery.sent.oldest());
    }

    /** How many time-outs there were since the peer has acknowledged something, for tests. */
    int timeoutCount() {
        return sending.recovery.timeoutCount();
    }

    int receivedRanges() {
        return receiving.numbers.rangeCount();
    }

    // ---- the end

    /** Nothing more will be sent; what was sent before still arrives. */
    public void finish() {
        sending.end(DatagramLayout.HOW_FINISHED);
    }

    /**
     * This end is closed: what was sent before is delivered if possible; what arrives is dropped.
     *
     * @param isPromised whether the user counts on what was sent, so that a peer that is busy is waited for
     */
    public void close(long nowNs, boolean isPromised) {
        if (state == State.CALLING || state == State.LOST) {
            become(State.GONE);
        } else if (state == State.ESTABLISHED) {
            state = State.CLOSING;
            receiving.discard();
            sending.end(DatagramLayout.HOW_CLOSED);
            linger.begin(nowNs, isPromised);
            leaveIfDone(nowNs);
        }
    }

    private long lingerUntilNs() {
        return linger.untilNs(sending.undeliveredBytes() > 0);
    }

    /** What is lost if this end leaves now. */
    private long promisedBytes() {
        return linger.isPromised() ? sending.undeliveredBytes() : 0;
    }

    /** How many bytes that the user counted on this end has not delivered; not 0 only once it is gone. */
    public long undeliveredBytes() {
        return undeliveredBytes;
    }

    /** This process gives the peer up; what was not delivered is dropped. */
    public void giveUp() {
        if (state == State.CALLING || state == State.LOST) {
            become(State.GONE);
        } else if (state == State.ESTABLISHED || state == State.CLOSING) {
            undeliveredBytes = promisedBytes();
            receiving.discard();
            become(State.GIVING_UP);
        }
    }

    private void become(State last) {
        state = last;
        sending.discard();
        receiving.leaveScheduler();
        linger.end();
        if (last == State.GONE) {
            receiving.discard();
        }
    }

    private void lose(String reason) {
        if (state == State.CLOSING) {
            become(State.GONE);
        } else if (state == State.CALLING || state == State.ESTABLISHED) {
            lossReason = reason;
            become(State.LOST);
        }
    }

    /**
     * Leaves once the peer has everything and knows that this end has all of its own. If the peer has closed, too, it
     * may not know: the last acknowledgement may be lost. So this end answers for a moment longer what the peer
     * repeats.
     */
    private void leaveIfDone(long nowNs) {
        if (state != State.CLOSING || receiving.numbers.isAckPending()) {
            return;
        }
        if (sending.isDelivered()) {
            become(State.GONE);
        } else if (receiving.isPeerClosed()) {
            linger.peerHasClosed(nowNs, sending.recovery.rtt.probeTimeoutNs(settings.ackDelayNs()));
        }
    }

    // ---- datagrams in

    /**
     * Takes an {@linkplain Datagram#isIntact intact} datagram for this end.
     *
     * @return whether it was accepted; a datagram that breaks the rules, or comes twice, changes nothing
     */
    public boolean receive(long nowNs, Datagram datagram) {
        return switch (datagram.kind()) {
            case DatagramLayout.COOKIE -> {
                if (state == State.CALLING && greeting != null) {
                    greeting.onCookie(datagram, nowNs);
                }
                yield state == State.CALLING;
            }
            case DatagramLayout.ACCEPT -> onAccept(nowNs, datagram);
            case DatagramLayout.DATA -> protection == null && onFrames(nowNs, datagram);
            case DatagramLayout.SEALED -> protection != null && onFrames(nowNs, datagram);
            default -> false;
        };
    }

    /** Whether the peer has sent no datagram later than this one, as far as this end has seen. */
    public boolean isNewest(Datagram datagram) {
        return datagram.hasFrames() && datagram.number() == receiving.numbers.largest();
    }

    private boolean onAccept(long nowNs, Datagram datagram) {
        long id = datagram.number();
        if (state != State.CALLING || id == 0) {
            return false;
        }
        remoteId = id;
        peerEncryption = (int) datagram.floorDistance();
        state = State.ESTABLISHED;
        heard(nowNs);
        return true;
    }

    private void heard(long nowNs) {
        heardNs = nowNs;
        observedNs = nowNs;
        silentNs = 0;
        linger.heard(nowNs);
    }

    /** The peer's OPEN came again: it has not seen the answer. */
    public void acceptAgain() {
        acceptDue = protection == null && (state == State.ESTABLISHED || state == State.CLOSING);
    }

    /**
     * The peer answered that it does not know the connection: its process was restarted, or it has given up. Anybody
     * could send that answer, so it counts for nothing once both ends have keys.
     */
    public void onUnknown() {
        if (protection == null) {
            lose("its process no longer knows the connection: it has ended, or has given this process up");
        }
    }

    private boolean onFrames(long nowNs, Datagram datagram) {
        if (state != State.ESTABLISHED && state != State.CLOSING
                || datagram.floorDistance() > datagram.number()
                || datagram.number() == Long.MAX_VALUE // no other could follow, and it could not be noted as seen
                || receiving.numbers.isDuplicate(datagram.number())
                || protection != null && !protection.open(datagram)) {
            return false;
        }
        ByteBuffer in = datagram.bytes();
        if (!Frames.areWellFormed(in) || !receiving.permits(in) || !sending.permits(in)) {
            return false;
        }
        boolean asks = false;
        boolean reset = false;
        boolean wasClosed = receiving.isPeerClosed();
        for (int at = DatagramLayout.HEADER_BYTES; at < in.limit(); at = Frames.next(in, at)) {
            int type = in.get(at);
            asks |= Frames.asks(type);
            switch (type) {
                case DatagramLayout.ACK -> sending.acknowledged(in, at, nowNs);
                case DatagramLayout.CREDIT -> sending.streams[in.get(at + 1)].credit(in.getLong(at + 4));
                case DatagramLayout.STREAM -> receiving.stream(datagram, at);
                case DatagramLayout.END -> receiving.end(in, at);
                case DatagramLayout.RESET -> reset = true;
                case DatagramLayout.WANT -> receiving.want(in, at);
                default -> {
                    // PING and PADDING only ask for an acknowledgement
                }
            }
        }
        long missing = receiving.numbers.missingBefore(datagram.number());
        receiving.numbers.add(datagram.number(), asks, nowNs); // last: only stored data may be acknowledged
        receiving.numbers.forgetBelow(datagram.number() - datagram.floorDistance());
        receiving.tellScheduler(missing, nowNs);
        heard(nowNs);
        awaitsFirstFrames = false;
        if (reset) {
            lose(
                    "it has given this process up, for example because it was told that this process is gone, because it saw"
                            + " no sign of life for madeleine.peer-timeout, or because it closed and saw none for its"
                            + " madeleine.tm.bip.close-linger");
        }
        if (receiving.isPeerClosed() && !wasClosed) {
            sending.onPeerClosed();
        }
        if (receiving.isPeerClosed() && receiving.isComplete()) {
            sending.recovery.abandon();
        }
        leaveIfDone(nowNs);
        return true;
    }

    // ---- datagrams out

    /**
     * Makes the next datagram.
     *
     * @param waits whether somebody waits for this peer, or for any; a peer that is silent is probed then
     * @return its length, or 0 if there is nothing to send now
     */
    @SuppressWarnings("RefactorSwitch") // each state is a step of its own
    public int produce(long nowNs, Datagram out, boolean waits) {
        switch (state) {
            case CALLING -> {
                return greeting == null ? 0 : greeting.produce(nowNs, ownId, settings.encryption(), out);
            }
            case GIVING_UP -> {
                state = State.GONE;
                return sending.reset(out, remoteId);
            }
            case ESTABLISHED, CLOSING -> {
                if (acceptDue) {
                    acceptDue = false;
                    out.begin(DatagramLayout.ACCEPT, remoteId, ownId, settings.encryption());
                    return out.seal();
                }
                observe(nowNs);
                return state == State.LOST || state == State.GONE ? 0 : produceData(nowNs, out, waits);
            }
            default -> {
                return 0;
            }
        }
    }

    private int produceData(long nowNs, Datagram out, boolean waits) {
        if (state == State.CLOSING && lingerUntilNs() - nowNs <= 0) {
            undeliveredBytes = promisedBytes();
            become(State.GONE);
            return receiving.isPeerClosed() ? 0 : sending.reset(out, remoteId);
        }
        if (awaitsFirstFrames) {
            return 0;
        }
        sending.recovery.onTime(nowNs); // what was lost is waited for no more
        long probeAtNs = idleProbeAtNs();
        boolean isPingDue = (waits || sending.isBlocked()) && probeAtNs != NONE && probeAtNs - nowNs <= 0;
        if (isPingDue) {
            silentNs = Math.min(nowNs - heardNs, settings.peerTimeoutNs() / 2);
        }
        int length = sending.produce(nowNs, out, remoteId, isPingDue);
        leaveIfDone(nowNs); // perhaps that was the last acknowledgement
        return length;
    }

    /**
     * Counts the time in which the peer should have answered; a time without calls counts for at most a sixth of {@code
     * peer-timeout}.
     */
    private void observe(long nowNs) {
        if (sending.recovery.isWaiting()) {
            silentNs += Math.max(0, Math.min(nowNs - observedNs, settings.peerTimeoutNs() / 6));
            if (silentNs >= settings.peerTimeoutNs()) {
                lose("it has acknowledged nothing for madeleine.peer-timeout (" + settings.peerTimeoutNs() / 1_000_000
                        + " ms)");
            }
        }
        observedNs = nowNs;
    }

    /** The system refused the datagram that was made last, because it is larger than the network permits. */
    public void refusedAsTooLarge() {
        sending.recovery.path.refused();
    }

    // ---- time

    /**
     * When {@link #produce} has to be called next, even if no thread waits; {@link #NONE} if the connection is quiet.
     */
    public long nextDeadlineNs() {
        return switch (state) {
            case CALLING -> greeting == null ? NONE : greeting.deadlineNs();
            case ESTABLISHED, CLOSING -> {
                long dueNs = earlier(sending.recovery.deadlineNs(), lingerUntilNs());
                if (sending.isBlocked()) {
                    dueNs = earlier(dueNs, idleProbeAtNs());
                }
                yield receiving.numbers.isAckPending()
                        ? earlier(dueNs, receiving.numbers.ackDeadlineNs(settings.ackDelayNs()))
                        : dueNs;
            }
            default -> NONE;
        };
    }

    /** Describes the timers, for tests. */
    String describeTimers(long nowNs) {
        return state + ", acknowledgement " + (receiving.numbers.isAckPending() ? "pending" : "not pending") + ", "
                + sending.recovery.describe(nowNs);
    }

    /** The earlier of two times, of which either may be {@link #NONE}. */
    public static long earlier(long oneNs, long otherNs) {
        if (oneNs == NONE || otherNs == NONE) {
            return oneNs == NONE ? otherNs : oneNs;
        }
        return oneNs - otherNs < 0 ? oneNs : otherNs;
    }

    /** When a peer that was silent is probed, if somebody waits, or if it has no room for what is left. */
    public long idleProbeAtNs() {
        if (sending.recovery.isWaiting()) {
            return NONE;
        }
        return switch (state) {
            case ESTABLISHED -> heardNs + settings.peerTimeoutNs() / 3;
            case CLOSING -> heardNs + settings.shortLingerNs() / CLOSING_PROBES;
            default -> NONE;
        };
    }

    /** The connection under the same ids takes this one's place: nothing more is sent. */
    public void replaced() {
        become(State.GONE);
    }

    /** Gives back the memory that a quiet connection does not need. */
    public void rest() {
        sending.rest();
        receiving.rest();
    }
}
