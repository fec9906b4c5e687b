package io.madeleine.tm.bip;

import io.madeleine.api.LossKind;
import io.madeleine.pmm.SpinLock;
import io.madeleine.pmm.spi.ConnectionListener;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.TransmissionLink;
import io.madeleine.tm.bip.protocol.Datagram;
import io.madeleine.tm.bip.protocol.Endpoint;
import io.madeleine.tm.bip.protocol.ReceiveStream;
import io.madeleine.tm.bip.protocol.SendStream;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection: datagrams of its peer for its endpoint, and its two links once the handshake over its
 * {@link BipLine} has made them.
 *
 * <p>Threading: as {@link ProtocolConnection}; a spin lock guards the endpoint. No thread waits while it has the lock.
 */
final class BipConnection implements ProtocolConnection {
    /** A sender that holds packets back fills the peer's window with at least this many datagrams. */
    private static final int DATAGRAMS_PER_WINDOW = 4;

    final AtomicBoolean isListed = new AtomicBoolean();

    @Nullable
    BipConnection nextListed; // published by the list

    @Nullable
    BipConnection nextTouched; // for the thread that polls

    boolean isTouched;

    private final SpinLock lock = new SpinLock();
    private final BipProgress progress;
    private final BipLine line;
    private final HeldBack heldBack;
    private int heardPackets; // guarded by the lock
    private volatile Endpoint endpoint; // changes once, when both ends have keys
    private final List<InetSocketAddress> places;
    private int placeInTurn;
    private volatile InetSocketAddress target;
    private volatile @Nullable ConnectionRequest request;
    private volatile List<TransmissionLink> links = List.of();
    private @Nullable BipShortLink shortLink;
    private @Nullable BipLongLink longLink;
    private volatile @Nullable ConnectionListener listener;
    private volatile boolean interested = true;
    private volatile boolean closed;
    private volatile long dueNs = Endpoint.NONE;
    private volatile String violation = "";
    private volatile boolean removed;
    // the next three are guarded by the lock
    private boolean isMessageOpen; // a message was begun, and its last packet is not sent yet
    private boolean isMark; // the packet appended last says only that a message begins
    private boolean hasFinished;
    private volatile boolean toldLoss;
    private @Nullable SecureOpening opening; // until the peer is known to have keys; guarded by the lock

    /**
     * @param places where the peer may be; more than one only at the end that calls
     * @param call the attempt that this connection belongs to, or null at the end that was called
     */
    BipConnection(BipProgress progress, Endpoint endpoint, List<InetSocketAddress> places, @Nullable BipCall call) {
        this.progress = progress;
        this.heldBack = new HeldBack(progress.coalesceNs());
        this.endpoint = endpoint;
        this.places = places;
        this.target = places.getFirst();
        this.line = new BipLine(this, progress, call);
    }

    /** A TLS handshake comes first. */
    void opening(SecureOpening first) {
        opening = first;
    }

    void lock() {
        lock.lock();
    }

    void unlock() {
        lock.unlock();
    }

    Endpoint endpoint() {
        return endpoint;
    }

    long id() {
        return endpoint.ownId();
    }

    long remoteId() {
        return endpoint.remoteId();
    }

    /** Where to send the next datagram; while the peer has not answered, each of its places in turn. Under the lock. */
    InetSocketAddress target() {
        if (places.size() > 1 && endpoint.state() == Endpoint.State.CALLING && target == places.get(placeInTurn)) {
            InetSocketAddress now = target;
            placeInTurn = (placeInTurn + 1) % places.size();
            target = places.get(placeInTurn);
            return now;
        }
        return target;
    }

    // ---- datagrams

    /** Takes a datagram. Called by the thread that polls. */
    void receive(Datagram datagram, InetSocketAddress from, long nowNs) {
        lock.lock();
        try {
            SecureOpening first = opening;
            Endpoint to = first != null && SecureOpening.concerns(datagram) ? first.endpoint() : endpoint;
            boolean calls = to.state() == Endpoint.State.CALLING;
            boolean isFirst = to == firstOf(first);
            boolean taken = to.receive(nowNs, datagram);
            if (taken && first != null && !isFirst) {
                endOpening(); // the peer has keys
            }
            if (taken && (calls || !isFirst && hasMoved(from, datagram))) {
                target = from; // this place has answered, or the peer's address has changed
            }
        } finally {
            lock.unlock();
        }
    }

    private static @Nullable Endpoint firstOf(@Nullable SecureOpening first) {
        return first == null ? null : first.endpoint();
    }

    /** Whether the peer sends from another address than before; an old datagram that comes late does not count. */
    private boolean hasMoved(InetSocketAddress from, Datagram datagram) {
        return progress.followsPeers() && !from.equals(target) && endpoint.isNewest(datagram);
    }

    void acceptAgain() {
        lock.lock();
        endpoint.acceptAgain(); // not if it has keys: then the peer has had the answer
        lock.unlock();
    }

    void onUnknown() {
        lock.lock();
        endpoint.onUnknown();
        lock.unlock();
    }

    /** When this connection has to be looked at next. */
    long dueNs() {
        return dueNs;
    }

    /** Sends what there is to send, from a thread of the user. */
    void flush() {
        lock.lock();
        try {
            flushLocked();
        } finally {
            lock.unlock();
        }
    }

    /** The calling thread is about to send over this connection: what it holds back for another peer has to leave. */
    void sendsOver() {
        progress.sendsOver(this);
    }

    /** What was appended to this stream is to be sent: now, or soon if it belongs to a dense stream. */
    void announce(SendStream stream) {
        sendsOver();
        lock.lock();
        try {
            if (!holdsBack(stream)) {
                flushLocked();
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Whether the packet that was appended to this stream last waits for others: it belongs to a dense stream, or only
     * says that a message begins, whose first block follows over the other link. Under the lock.
     */
    boolean holdsBack(SendStream stream) {
        boolean holds = !isOver() && (isMark ? heldBack.addMark() : joinsHeldBack(stream));
        if (holds) {
            flushSoon();
        }
        return holds;
    }

    /** Whether packets are held back, none for another peer, and the last appended one is no mark. Under the lock. */
    boolean isHolding() {
        return heldBack.isAny() && !isMark && progress.isKeptBy(this) && !isOver();
    }

    /** Whether the packet that was appended to this stream last belongs to a dense stream. Under the lock. */
    boolean joinsHeldBack(SendStream stream) {
        long fullBytes = Math.min(endpoint.datagramBytes(), stream.capacity() / DATAGRAMS_PER_WINDOW);
        return heldBack.addPacket(heardPackets, stream.unsentBytes() >= fullBytes);
    }

    /** Whether only reports are to be sent, which an answer of this process may carry. Under the lock. */
    private boolean holdsReportBack() {
        if (opening != null || !endpoint.owesOnlyReports() || !heldBack.addReport()) {
            return false;
        }
        flushSoon();
        return true;
    }

    private void flushSoon() {
        progress.keeps(this);
        if (dueNs == Endpoint.NONE || heldBack.dueNs() - dueNs < 0) {
            dueNs = heldBack.dueNs();
            progress.timers().note(dueNs);
        }
    }

    /** Sends the packets that the calling thread has held back, because it looks for an answer or at another peer. */
    void flushOwn() {
        if (heldBack.isOwn()) {
            lock.lock();
            try {
                heldBack.senderWaits();
                flushLocked();
            } finally {
                lock.unlock();
            }
        }
    }

    /** Sends what is held back on behalf of a thread that polls: its own packets, or old ones. */
    void flushOwnOrOld(long nowNs) {
        if (heldBack.isOwn()) {
            flushOwn();
        } else if (heldBack.isOld(nowNs)) {
            boolean _ = flush(nowNs, false);
        }
    }

    /** Whether packets or reports are held back; a hint. */
    boolean holdsAnything() {
        return heldBack.isAny();
    }

    /** Sends what is held back, before the session sleeps. */
    void flushHeldBack() {
        if (holdsAnything()) {
            flush();
        }
    }

    /** A sender found no room: what is held back has to leave to make some. Under the lock. */
    void flushForRoom() {
        if (heldBack.isAny()) {
            flushLocked();
        }
    }

    /** A thread looks for an answer: what it has held back has to leave. Under the lock. */
    void looksForAnswer() {
        if (heldBack.isOwn()) {
            heldBack.senderWaits();
            flushLocked();
        }
    }

    /** A packet of the peer has been read. Under the lock. */
    void heardPacket() {
        heardPackets++;
    }

    /** As {@link #flush()}, under the lock. */
    void flushLocked() {
        flushLocked(System.nanoTime(), false);
    }

    /** Sends what there is to send; returns whether a sender that had to wait can continue. */
    boolean flush(long nowNs, boolean waits) {
        lock.lock();
        try {
            flushLocked(nowNs, waits);
            return hasRoomAgain();
        } finally {
            lock.unlock();
        }
    }

    /** As {@link #flush(long, boolean)}, after datagrams have arrived. */
    boolean flushAfterArrival(long nowNs) {
        lock.lock();
        try {
            if (heldBack.isOld(nowNs) || !holdsReportBack()) {
                flushLocked(nowNs, true);
            }
            return hasRoomAgain();
        } finally {
            lock.unlock();
        }
    }

    /** Whether a sender waits because there is no memory for what it sends. */
    boolean waitsForMemory() {
        lock.lock();
        try {
            return lacksMemory();
        } finally {
            lock.unlock();
        }
    }

    /** As {@link #waitsForMemory}, under the lock. */
    private boolean lacksMemory() {
        BipShortLink small = shortLink;
        BipLongLink large = longLink;
        return small != null && small.lacksMemory() || large != null && large.lacksMemory();
    }

    private boolean hasRoomAgain() {
        BipShortLink small = shortLink;
        BipLongLink large = longLink;
        boolean shortHasRoom = small != null && small.hasRoomAgain();
        boolean longHasRoom = large != null && large.hasRoomAgain(); // always called: the call changes the link
        return shortHasRoom || longHasRoom;
    }

    private void flushLocked(long nowNs, boolean waits) {
        SecureOpening first = opening;
        boolean sent = first == null || progress.output().flush(first.endpoint(), this, nowNs, waits);
        sent = sent && (firstOf(first) == endpoint || progress.output().flush(endpoint, this, nowNs, waits));
        heldBack.sent();
        long nextNs = endpoint.nextDeadlineNs();
        if (first != null) {
            nextNs = Endpoint.earlier(nextNs, first.endpoint().nextDeadlineNs());
        }
        if (lacksMemory()) {
            nextNs = Endpoint.earlier(nextNs, nowNs + BipProgress.MEMORY_RETRY_NS);
        }
        dueNs = sent ? nextNs : nowNs + BipProgress.RETRY_NS;
        progress.timers().note(dueNs);
        progress.noteGrants();
        switch (endpoint.state()) {
            case LOST -> {
                if (!toldLoss) {
                    progress.listReady(this);
                }
            }
            case GONE -> {
                if (!removed) {
                    removed = true;
                    if (endpoint.undeliveredBytes() > 0) {
                        progress.undelivered(this, endpoint.undeliveredBytes());
                    }
                    progress.remove(this);
                }
            }
            default -> {
                // it goes on
            }
        }
    }

    /**
     * The reader has taken bytes from these streams: tells the peer of the room, if that is worth a datagram. Ends the
     * lock.
     */
    void tellRoomAndUnlock(ReceiveStream headers, ReceiveStream payload) {
        try {
            boolean owes = endpoint.owesCredit(payload) || headers != payload && endpoint.owesCredit(headers);
            if (owes && !holdsReportBack()) {
                flushLocked();
            }
        } finally {
            lock.unlock();
        }
    }

    /** As {@link #flushLocked()}; ends the lock. */
    void flushAndUnlock() {
        try {
            flushLocked();
        } finally {
            lock.unlock();
        }
    }

    /** The peer breaks the rules. Under the lock. */
    void violated(String how) {
        violation = how;
        endpoint.giveUp();
        flushLocked();
        progress.listReady(this);
    }

    /** When a silent peer is to be probed, if somebody waits. */
    long idleProbeAtNs() {
        return closed ? Endpoint.NONE : endpoint.idleProbeAtNs();
    }

    /** Gives back windows in which nothing is at the moment: others wait for memory. */
    void giveMemoryBack() {
        lock.lock();
        try {
            if (opening == null) {
                endpoint.rest();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Gives back what a quiet connection does not need. */
    void rest() {
        lock.lock();
        try {
            if (endpoint.nextDeadlineNs() == Endpoint.NONE && opening == null) {
                endpoint.rest();
            }
        } finally {
            lock.unlock();
        }
    }

    // ---- the handshake

    BipLine line() {
        return line;
    }

    boolean isHandshaking() {
        return links.isEmpty() && !closed;
    }

    /** The TLS handshake whose endpoint is still used, or null. Under the lock. */
    @Nullable
    SecureOpening opening() {
        return opening;
    }

    /** Whether frames of the handshake have to wait for keys. Under the lock. */
    boolean lacksKeys() {
        return firstOf(opening) == endpoint;
    }

    /** Both ends can derive keys: this endpoint uses them. Under the lock. */
    void protectedBy(Endpoint made) {
        endpoint = made;
    }

    /** The first endpoint, without protection, is not needed any more. Under the lock. */
    void endOpening() {
        SecureOpening over = opening;
        if (over != null && over.endpoint() != endpoint) {
            over.endpoint().replaced();
            opening = null;
        }
    }

    /** This end is closed: a TLS handshake that is not over is of no use, and takes much memory. Under the lock. */
    private void leaveOpening() {
        SecureOpening over = opening;
        if (over != null) {
            over.exchange().abandon();
        }
        endOpening();
        opening = null;
    }

    /** Whether nothing is left to send, not even a last word. */
    boolean isGone() {
        return removed;
    }

    /** Where the peer is, for messages. */
    String remote() {
        return target.getAddress().getHostAddress() + ":" + target.getPort();
    }

    /** Both sides want the connection: it gets its links. */
    void establish(ConnectionRequest made) {
        request = made;
        lock.lock();
        try {
            BipShortLink small = new BipShortLink(this, made.modules().getFirst());
            BipLongLink large = new BipLongLink(this, made.modules().get(1));
            endpoint.peerIsKnown();
            shortLink = small;
            longLink = large;
            links = List.of(small, large);
        } finally {
            lock.unlock();
        }
    }

    // ---- a connection

    @Override
    public ProcessIdentity peer() {
        ConnectionRequest made = request;
        if (made == null) {
            throw new IllegalStateException("the handshake is not over");
        }
        return made.peer();
    }

    @Override
    public boolean bidirectional() {
        return true;
    }

    @Override
    public List<TransmissionLink> links() {
        return links;
    }

    @Override
    public boolean hasArrivals() {
        BipShortLink small = shortLink;
        return small != null && !closed && small.reader().seemsToHavePackets();
    }

    @Override
    public void start(ConnectionListener receiverOfUpcalls) {
        listener = receiverOfUpcalls;
        progress.listReady(this);
        progress.wake();
    }

    @Override
    public void receiveInterest(boolean wanted) {
        interested = wanted;
        if (wanted) {
            progress.listReady(this);
            progress.wake();
        }
    }

    /** Makes upcalls for arrivals and for the end; returns the number of events. */
    int upcall() {
        ConnectionListener told = listener;
        if (told == null || closed) {
            return 0;
        }
        lock.lock();
        boolean ended = hasEnded();
        boolean readable = hasPackets();
        lock.unlock();
        int work = interested && readable ? told.onReadable() : 0;
        if (ended && !toldLoss) {
            toldLoss = true;
            boolean orderly = endpoint.hasPeerFinished() && endpoint.hasPeerEnded();
            told.onLost(LossKind.CONNECTION, orderly, orderly ? "it has finished" : whyLost());
            work++;
        }
        return work;
    }

    private String whyLost() {
        String reason = violation.isEmpty() ? endpoint.lossReason() : violation;
        return reason.isEmpty() ? "its end was closed" : reason;
    }

    private boolean hasPackets() {
        BipShortLink small = shortLink;
        BipLongLink large = longLink;
        return small != null && small.reader().hasWork()
                || large != null && large.reader().hasWork();
    }

    /** Whether there is an event for an upcall, so that the connection stays on the list. */
    boolean hasWork() {
        if (closed) {
            return false;
        }
        lock.lock();
        try {
            if (isHandshaking()) {
                return line.hasWork();
            }
            return listener != null && (interested && hasPackets() || hasEnded() && !toldLoss);
        } finally {
            lock.unlock();
        }
    }

    boolean isExpecting() {
        BipLongLink large = longLink;
        if (large == null || closed) {
            return false;
        }
        lock.lock();
        try {
            return large.isExpecting();
        } finally {
            lock.unlock();
        }
    }

    boolean isClosed() {
        return closed;
    }

    /** Whether nothing more will arrive. Under the lock. */
    boolean hasEnded() {
        return endpoint.state().compareTo(Endpoint.State.CLOSING) > 0 || endpoint.hasPeerEnded();
    }

    /** Whether sending is pointless. */
    boolean isOver() {
        return closed || endpoint.isOver();
    }

    @Override
    public String seenOfLoss() {
        return endpoint.isOver() ? whyLost() : "";
    }

    @Override
    public void finish() {
        lock.lock();
        try {
            hasFinished = true;
            endpoint.finish();
            flushLocked();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void giveUp() {
        end(() -> endpoint.giveUp());
    }

    @Override
    public void close() {
        end(() -> endpoint.close(System.nanoTime(), hasFinished && !isInMiddleOfMessage()));
    }

    /** A packet with this header was sent. Under the lock. */
    void sent(long header) {
        isMessageOpen = !PacketHeader.has(header, PacketHeader.LAST);
        isMark = isMessageOpen && PacketHeader.payloadBytes(header) == 0;
    }

    /** Whether a message was begun and not ended, so that the peer cannot use what was sent of it. Under the lock. */
    private boolean isInMiddleOfMessage() {
        BipLongLink large = longLink;
        return isMessageOpen || large != null && large.isInMiddleOfPacket();
    }

    private void end(Runnable how) {
        lock.lock();
        try {
            closed = true;
            leaveOpening();
            how.run();
            BipLongLink large = longLink;
            if (large != null) {
                large.forgetBlocks();
            }
            flushLocked();
        } finally {
            lock.unlock();
        }
    }
}
