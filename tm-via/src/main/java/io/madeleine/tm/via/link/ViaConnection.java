package io.madeleine.tm.via.link;

import io.madeleine.api.LossKind;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.SessionException;
import io.madeleine.pmm.spi.ConnectionListener;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.pmm.spi.TransmissionLink;
import io.madeleine.tm.via.port.MessageFlyweight;
import io.madeleine.tm.via.port.Opening;
import io.madeleine.tm.via.port.Receives;
import io.madeleine.tm.via.port.ViaPort;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection, whose handshake goes over its {@link ViaLine}. Messages go to a number and carry a token,
 * both of which the receiver chose; messages with another token do not count.
 *
 * <p>Threading: as {@link ProtocolConnection}; until the handshake is over, under the adapter's lock.
 * {@link #onMessage} and {@link #onWritten} belong to the thread that handles completions, {@link #flush} and
 * {@link #pollUp} to the one that polls.
 */
public final class ViaConnection implements ProtocolConnection {
    private final Home home;
    private final int number;
    private final long token;
    private final long peer;
    private final ConnectionSizes sizes;
    private final Receives receives;
    private final Lane lane;
    private final Inbox inbox;
    private final Credits packets;
    private final Credits headers;
    private final RdmaReceiver receiver;
    private volatile @Nullable RdmaSender sender;
    private final Credits tagged;
    private volatile @Nullable RegisteredReceiver registeredReceiver;
    private volatile @Nullable RegisteredSender registeredSender;
    private final ConnectionEnd end = new ConnectionEnd();
    private final ViaLine line;
    private final ControlMessages control;
    private final MessageHandler messages;
    private final AtomicBoolean active = new AtomicBoolean();
    private @Nullable ViaConnection nextActive;
    private volatile boolean heard;
    private int peerNumber = MessageFlyweight.NO_CONNECTION;
    private long peerToken;
    private int peerPacketCount;
    private int peerHeaderCount;
    private int peerTaggedCount;
    private int peerPieceBytes;
    private boolean reserved;
    private volatile @Nullable ConnectionRequest request;
    private volatile @Nullable ViaPoolLink pool;
    private volatile List<TransmissionLink> links = List.of();
    private volatile @Nullable ConnectionListener listener;
    private volatile boolean interested = true;
    private volatile boolean peerIsDead;

    /**
     * A connection to a peer, before the handshake.
     *
     * @param number this end's number
     * @param token this end's token
     * @param peer the peer's number in the address vector
     * @param remote the peer's address, for messages
     */
    public ViaConnection(Home home, int number, long token, long peer, String remote, ConnectionSizes sizes) {
        this.home = home;
        this.number = number;
        this.token = token;
        this.peer = peer;
        this.sizes = sizes;
        this.receives = home.port().receives();
        int headerCount = sizes.rdma().headers();
        int slots = LaneSlots.LINE
                + sizes.packetCount()
                + headerCount
                + sizes.registered().window();
        this.lane = new Lane(home.port(), peer, slots, home::behind, this::roomMade, this::isPeerDead);
        this.inbox = new Inbox(receives, sizes.packetCount());
        this.packets = new Credits(sizes.packetCount());
        this.headers = new Credits(headerCount);
        this.tagged = new Credits(sizes.registered().window());
        this.receiver = new RdmaReceiver(this, lane, home.regions(), headers, sizes.rdma());
        this.control = new ControlMessages(this, lane, packets, headers, tagged, receiver);
        this.messages = new MessageHandler(this, inbox, receiver, control);
        this.line = new ViaLine(this, lane, end, remote);
    }

    ViaPort port() {
        return home.port();
    }

    /** The number that the peer gave the connection. */
    int peerNumber() {
        return peerNumber;
    }

    /** The tag by which this end receives a piece of via/registered. */
    long ownTag(int piece) {
        return PieceTags.of(port().tagBits(), number, token, piece);
    }

    /** The tag by which the peer receives a piece. */
    long peerTag(int piece) {
        return PieceTags.of(port().tagBits(), peerNumber, peerToken, piece);
    }

    /** This end's number. */
    public int number() {
        return number;
    }

    /** This end's token. */
    public long token() {
        return token;
    }

    /** The peer's number in the address vector. */
    public long peerAddress() {
        return peer;
    }

    Receives receives() {
        return receives;
    }

    // ---- the handshake

    /** The line of the handshake. */
    public ViaLine line() {
        return line;
    }

    /** Whether the peer has answered a message of this end. */
    public boolean wasHeard() {
        return heard;
    }

    /** Reserves the receives of a connection, before the peer can send anything. */
    public void reserve() {
        if (!reserved) {
            receives.reserve(sizes.receiveCount(home.port()));
            reserved = true;
        }
    }

    /** What the peer has to know of this end before the first frame. */
    Opening opening(byte[] ownName) {
        return new Opening(
                number,
                sizes.packetCount(),
                sizes.rdma().headers(),
                sizes.registered().window(),
                sizes.registered().pieceBytes(),
                ownName);
    }

    /** The peer has said how to reach its end; returns false if it has done so before. */
    public boolean opened(Opening opening, long itsToken) {
        if (knowsPeer()) {
            return false;
        }
        heard = line.hasSent(); // the peer answers
        peerNumber = opening.number();
        peerToken = itsToken;
        peerPacketCount = opening.packetCount();
        peerHeaderCount = opening.headerCount();
        peerTaggedCount = opening.taggedCount();
        peerPieceBytes = opening.pieceBytes();
        return true;
    }

    /** Whether the peer has said how to reach its end. */
    boolean knowsPeer() {
        return peerNumber != MessageFlyweight.NO_CONNECTION;
    }

    /**
     * Both sides want the connection: it gets its links.
     *
     * @throws MadeleineException if the two ends do not fit, or memory is short
     */
    void openLinks(ConnectionRequest made) {
        reserve();
        request = made;
        int window = Math.min(sizes.packetCount(), peerPacketCount);
        lane.addSlots(sizes.packetCount(), sizes.messageBytes());
        ViaPoolLink opened =
                new ViaPoolLink(this, made.modules().getFirst(), lane, inbox, packets, LaneSlots.LINE, window);
        pool = opened;
        List<TransmissionLink> all = new ArrayList<>(List.of(opened));
        for (TransmissionCapabilities further :
                made.modules().subList(1, made.modules().size())) {
            all.add(further.id().equals(ViaPacketLink.REGISTERED) ? openRegistered(further) : openRdma(further));
        }
        links = List.copyOf(all);
    }

    private ViaPacketLink openRegistered(TransmissionCapabilities capabilities) {
        RegisteredSizes own = sizes.registered();
        int window = Math.min(own.window(), peerTaggedCount);
        int pieceBytes = Math.min(own.pieceBytes(), peerPieceBytes);
        if (window < 2 || pieceBytes < 1) {
            throw new SessionException("the peer has no room for the module " + capabilities.id()
                    + ": set madeleine.tm.via.registered alike in all processes");
        }
        int firstSlot = lane.slotCount();
        lane.addSlots(own.window(), LaneSlots.HEADER_BYTES);
        RegisteredReceiver receives = new RegisteredReceiver(this, home.regions(), tagged, own.window(), pieceBytes);
        RegisteredSender sends =
                new RegisteredSender(this, lane, home.regions(), tagged, firstSlot, window, pieceBytes);
        registeredReceiver = receives;
        registeredSender = sends;
        return new ViaPacketLink(this, capabilities, sends, receives);
    }

    private ViaPacketLink openRdma(TransmissionCapabilities capabilities) {
        int firstSlot = lane.slotCount();
        int window = Math.min(sizes.rdma().headers(), peerHeaderCount);
        lane.addSlots(sizes.rdma().headers(), LaneSlots.HEADER_BYTES);
        RdmaSender opened = new RdmaSender(this, lane, home.regions(), headers, firstSlot, window, sizes.rdma());
        sender = opened;
        opened.open();
        receiver.open();
        return new ViaPacketLink(this, capabilities, opened, receiver);
    }

    /** Whether a handshake has failed, so that this never was a connection. */
    public boolean hasFailedToOpen() {
        return links.isEmpty() && line.wasUsed();
    }

    /** The address of the peer's adapter, once this process has requested the connection. */
    public Optional<String> requestedAddress() {
        return Optional.ofNullable(request).map(ConnectionRequest::peerAddress);
    }

    // ---- messages

    /** Writes a message's head into a slot. */
    void address(int slot, int kind, long word) {
        MemorySegment memory = lane.memory(slot);
        long at = lane.offset(slot);
        MessageFlyweight.address(memory, at, peerNumber, kind, peerToken, word);
        MessageFlyweight.credits(memory, at, packets.report(), headers.report(), tagged.report());
    }

    /** A message for this connection has arrived, with the right token. */
    public void onMessage(int slot, MemorySegment memory, long at, int bytes) {
        heard = true;
        boolean mayHaveRoom = packets.enter(MessageFlyweight.packets(memory, at));
        mayHaveRoom |= headers.enter(MessageFlyweight.headers(memory, at));
        mayHaveRoom |= tagged.enter(MessageFlyweight.tagged(memory, at));
        if (mayHaveRoom) {
            roomMade();
        }
        if (!messages.handle(slot, memory, at, bytes)) {
            receives.post(slot);
        }
    }

    /** A part of a piece of payload has landed. */
    public void onWritten(long immediate) {
        receiver.onWritten(
                GrantFlyweight.grant(immediate), GrantFlyweight.part(immediate), GrantFlyweight.moreFollow(immediate));
        activate();
    }

    /** A frame of the handshake has arrived; false if there are too many. */
    boolean onFrame(byte[] frame) {
        boolean taken = line.onFrame(frame);
        home.lineHasWork();
        return taken;
    }

    /** The peer has finished. */
    void finished() {
        end(end::finished);
    }

    /** The connection is broken; {@code reason} is a clause. Any thread. */
    public void lost(String reason) {
        lost(LossKind.CONNECTION, reason);
    }

    /** The peer cannot be reached any more; {@code reason} is a clause. Any thread. */
    public void lost(LossKind kind, String reason) {
        end(() -> end.ended(kind, reason));
    }

    /** The peer's process has ended; {@code reason} is a clause. */
    public void peerDied(String reason) {
        peerIsDead = true;
        lost(LossKind.PEER, reason);
    }

    /** Whether the peer's process has ended. */
    boolean isPeerDead() {
        return peerIsDead;
    }

    private void end(Runnable mark) {
        mark.run();
        activate();
        home.lineHasWork();
    }

    void activate() {
        home.active(this);
    }

    void roomMade() {
        if (hasRoomAgain()) {
            activate();
        }
    }

    private boolean hasRoomAgain() {
        ViaPoolLink small = pool;
        RdmaSender large = sender;
        RegisteredSender medium = registeredSender;
        return small != null && small.hasRoomAgain()
                || large != null && large.hasRoomAgain()
                || medium != null && medium.hasRoomAgain();
    }

    /** Returns credits if enough are due. */
    void pushControl() {
        control.pushCredits();
    }

    /** A control message could not be sent now: {@link #flush} tries again. */
    void controlFollows() {
        control.follows();
    }

    /** Whether this end is open and knows the peer's number. */
    boolean canTell() {
        return !end.isClosedHere() && knowsPeer();
    }

    /** Tells the adapter that {@link #flush} is needed. */
    void behind() {
        home.behind();
    }

    /** Sends what could not be sent before; returns whether nothing is left. */
    public boolean flush() {
        if (end.isClosedThere()) {
            lane.drop(); // nobody receives it any more
        }
        boolean done = lane.flush();
        String failure = lane.failure();
        if (failure != null && !end.isReached()) {
            lost("sending to it failed: " + failure);
        }
        return control.flush() && done;
    }

    /** The sending half of via/rdma; null if there is none yet. */
    @Nullable
    RdmaSender sender() {
        return sender;
    }

    /** The receiving half of via/registered; null if there is none. */
    @Nullable
    RegisteredReceiver registeredReceiver() {
        return registeredReceiver;
    }

    /** Whether everything that was sent has left, and no tagged receive of this connection is posted. */
    public boolean isIdle() {
        RdmaSender opened = sender;
        RegisteredSender medium = registeredSender;
        RegisteredReceiver posted = registeredReceiver;
        return lane.isIdle()
                && (opened == null || opened.isIdle())
                && (medium == null || medium.isIdle())
                && (posted == null || posted.isIdle());
    }

    /** Whether memory of the user is granted to the peer, or posted for a tagged message of it. */
    public boolean hasPosted() {
        RegisteredReceiver posted = registeredReceiver;
        return receiver.hasPosted() || posted != null && posted.hasPosted();
    }

    private boolean mayRetract() {
        RegisteredReceiver posted = registeredReceiver;
        return receiver.mayRetract() || posted != null && posted.mayRetract();
    }

    // ---- the connection

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

    /** Looks at the completion queue, unless another thread does so just now, if no packet has arrived yet. */
    @Override
    public boolean hasArrivals() {
        ViaPoolLink opened = pool;
        if (opened == null || end.isClosedHere()) {
            return false;
        }
        return opened.hasPackets() || home.port().pollAside() > 0 && opened.hasPackets();
    }

    @Override
    public boolean showsArrivals() {
        return true;
    }

    @Override
    public void start(ConnectionListener receiverOfUpcalls) {
        listener = receiverOfUpcalls;
        activate();
        home.wake();
    }

    @Override
    public void receiveInterest(boolean wanted) {
        interested = wanted;
    }

    private boolean hasPackets() {
        ViaPoolLink opened = pool;
        RegisteredReceiver medium = registeredReceiver;
        return opened != null
                && (opened.hasPackets() || receiver.hasPackets() || medium != null && medium.hasPackets());
    }

    /** Makes upcalls for arrivals and for the end; returns the number of events. */
    public int pollUp() {
        ConnectionListener told = listener;
        if (told == null || end.isClosedHere()) {
            return 0;
        }
        boolean ended = end.isReached();
        int work = interested && hasPackets() ? told.onReadable() : 0;
        if (ended && !end.isTold()) {
            told.onLost(end.kind(), end.isOrderly(), end.reason());
            end.told();
            work++;
        }
        return work;
    }

    /** Whether there is an event for the layer above, so that the engine must not sleep. */
    public boolean hasWork() {
        ViaPoolLink opened = pool;
        if (end.isClosedHere() || opened == null) {
            return false;
        }
        return listener != null
                && (interested && hasPackets() || end.isReached() && !end.isTold() || hasRoomAgain() || mayRetract());
    }

    /** Whether there may be an event later without another message. */
    boolean staysActive() {
        ViaPoolLink opened = pool;
        return !end.isClosedHere()
                && opened != null
                && (hasPackets() || end.isReached() && !end.isTold() || hasRoomAgain() || mayRetract());
    }

    /** Marks it as being on the list of active connections; returns whether it was not. */
    boolean markActive() {
        return !active.get() && active.compareAndSet(false, true);
    }

    void clearActive() {
        active.set(false);
    }

    @Nullable
    ViaConnection nextActive() {
        return nextActive;
    }

    void nextActive(@Nullable ViaConnection next) {
        nextActive = next;
    }

    boolean isClosed() {
        return end.isClosedHere();
    }

    /** Whether sending is pointless: one of the two ends is closed. */
    boolean isOver() {
        return end.isClosedHere() || end.isClosedThere();
    }

    /**
     * Whether the links look as if the peer's end were closed. That is so only once the layer above has heard why: a
     * call that finds a link closed before does not know what kind of loss it is.
     */
    boolean looksOver() {
        return end.isClosedHere() || end.isClosedThere() && isHeardOf();
    }

    /** Whether the links look as if nothing more will arrive. */
    boolean looksEnded() {
        return end.isReached() && isHeardOf();
    }

    private boolean isHeardOf() {
        return listener == null || end.isTold();
    }

    @Override
    public String seenOfLoss() {
        return end.isClosedThere() ? end.reason() : "";
    }

    @Override
    public void finish() {
        if (!isOver()) {
            address(LaneSlots.FINISH, MessageFlyweight.FINISH, 0);
            lane.send(LaneSlots.FINISH, MessageFlyweight.BYTES);
        }
    }

    @Override
    public void giveUp() {
        leave(1);
    }

    private void leave(int word) {
        if (end.closeHere() && knowsPeer() && !end.isClosedThere()) {
            address(LaneSlots.END, MessageFlyweight.END, word);
            lane.send(LaneSlots.END, MessageFlyweight.BYTES);
        }
    }

    @Override
    public void close() {
        leave(0);
        if (end.buryOnce()) {
            inbox.drop();
            RegisteredReceiver posted = registeredReceiver;
            if (posted != null) {
                posted.cancelAll();
            }
            home.closing(this);
        }
    }

    /** Gives up what has not been sent. */
    public void drop() {
        lane.drop();
    }

    /** Frees the memory; everything has left, or the endpoint is closed. */
    public void free() {
        inbox.drop();
        if (reserved) {
            receives.release(sizes.receiveCount(home.port()));
        }
        receiver.free();
        RdmaSender opened = sender;
        if (opened != null) {
            opened.free();
        }
        RegisteredSender medium = registeredSender;
        RegisteredReceiver posted = registeredReceiver;
        if (medium != null && posted != null) {
            medium.free();
            posted.free();
        }
        lane.free();
    }
}
