package io.madeleine.tm.sci;

import io.madeleine.api.LossKind;
import io.madeleine.pmm.spi.ConnectionListener;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.pmm.spi.TransmissionLink;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A pair segment in use: both directions of a connection, with a ring or a line of cells for each agreed module.
 *
 * <p>Three words per side tell the other what it needs to know. <b>State</b>: still sending, finished, closed.
 * <b>Watch</b>: while it is set the side looks at the connection of its own accord, or does not care; while it is 0 who
 * sends has to announce it in the side's inbox. <b>Room wanted</b>: the side could not send and wants to hear of room.
 * Who changes one of these words looks at the data afterwards, once more or, for the watch word, {@linkplain WatchList for a
 * while}; who changes data looks at the word then. So nothing is missed, and a connection that is quiet costs nobody a look.
 *
 * <p>Threading: the sending and the receiving calls each under their lock; what begins with "poll" in {@link SciProgress}
 * by the thread that polls; the flags are volatile.
 */
final class SciConnection implements ProtocolConnection {
    private static final long FINISHED = 1;
    /** The state of a side that has let go of the connection. */
    static final long CLOSED = 2;

    private static final long BROKEN = 3;
    private static final long GIVEN_UP = 4;
    private static final long WATCHING = 1;

    private final PairSegment segment;
    private final MemorySegment memory;
    private final SciPeer peer;
    private final SciProgress progress;
    private final SciChannel channel;
    private final Consumer<SciConnection> bury;
    private final SciLink[] links;
    private final List<TransmissionLink> transmissionLinks;
    private final long peerWatch;
    private final long ownWatch;
    private final long peerRoomWanted;
    private final long ownRoomWanted;
    private final int ownSlot;
    private final int peerSlot;

    private volatile @Nullable ConnectionListener listener;
    private volatile @Nullable String breach;
    private volatile boolean interest;
    private volatile boolean listed;
    private volatile boolean receiveEnded;
    private volatile boolean sendEnded;
    private volatile boolean closed;

    private volatile boolean cut;

    /** Closed, or its memory is cut short: it must not be touched. */
    private volatile boolean untouchable;

    private volatile int stalledLinks;
    private boolean lossReported;
    private int idlePolls;
    private boolean unwatched = true;

    /** Has been watched and is about to leave the list, unless there is news. */
    private boolean leaving;

    private long unwatchedNs = System.nanoTime() - WatchList.SETTLE_NS;
    private long announcedNs = System.nanoTime();

    /** So many announcements have come in a row, each soon after the one before. */
    private int announcedInARow;

    SciConnection(
            PairSegment segment,
            SciChannel channel,
            SciPeer peer,
            List<TransmissionCapabilities> modules,
            SingleCopy singleCopy,
            SciProgress progress,
            Consumer<SciConnection> bury) {
        this.segment = segment;
        this.memory = segment.memory();
        this.peer = peer;
        this.channel = channel;
        this.progress = progress;
        this.bury = bury;
        int own = segment.side();
        int other = segment.otherSide();
        this.peerWatch = PairLayout.watch(other);
        this.ownWatch = PairLayout.watch(own);
        this.peerRoomWanted = PairLayout.roomWanted(other);
        this.ownRoomWanted = PairLayout.roomWanted(own);
        this.ownSlot = segment.ownSlot();
        this.peerSlot = segment.peerSlot();
        PairLayout layout = segment.layout();
        links = new SciLink[modules.size()];
        for (int i = 0; i < links.length; i++) {
            TransmissionCapabilities module = modules.get(i);
            links[i] = switch (module.bufferMode()) {
                case STATIC -> new SciShortLink(this, i, module, layout.rings().get(i));
                case DYNAMIC ->
                    module.id().equals(SciCellLink.DMA)
                            ? SciCellLink.dma(this, i, module, layout.cells().get(i), singleCopy)
                            : SciCellLink.regular(
                                    this, i, module, layout.cells().get(i));
            };
        }
        transmissionLinks = Arrays.stream(links).map(SciLink::link).toList();
    }

    PairSegment segment() {
        return segment;
    }

    @Override
    public ProcessIdentity peer() {
        return peer.stem().identity();
    }

    FileStem peerStem() {
        return peer.stem();
    }

    @Override
    public boolean bidirectional() {
        return true;
    }

    @Override
    public List<TransmissionLink> links() {
        return transmissionLinks;
    }

    @Override
    public void start(ConnectionListener upcalls) {
        listener = upcalls;
        receiveInterest(true);
    }

    @Override
    public void receiveInterest(boolean wanted) {
        interest = wanted;
        if (wanted && !listed) {
            progress.announceToSelf(ownSlot);
        }
    }

    @Override
    public boolean hasArrivals() {
        try {
            return !untouchable && links[0].mayHaveNews();
        } catch (IllegalStateException _) {
            return false; // freed by now
        }
    }

    @Override
    public boolean showsArrivals() {
        return true;
    }

    @Override
    public boolean hasLostArrivals() {
        return cut;
    }

    @Override
    public String seenOfLoss() {
        String seen = breach;
        return seen == null ? "" : seen;
    }

    @Override
    public void finish() {
        raiseState(FINISHED);
    }

    @Override
    public void close() {
        if (!closed) {
            raiseState(CLOSED);
            closed = true;
            untouchable = true;
            bury.accept(this);
        }
    }

    private void raiseState(long state) {
        long offset = PairLayout.state(segment.side());
        try {
            if (!untouchable && Words.plain(memory, offset) < state) {
                Words.setVolatile(memory, offset, state);
                VarHandle.fullFence();
                peer.announce(peerSlot);
                CutMemory.settle();
            }
        } catch (InternalError e) {
            if (!isCutOff() && !peer.lookAtInbox()) {
                throw e;
            }
        }
    }

    // ---- for the links

    /** Whether nobody may touch its memory any more. */
    boolean isClosed() {
        return untouchable;
    }

    boolean isReceiveEnded() {
        return receiveEnded;
    }

    boolean isSendEnded() {
        return sendEnded || untouchable;
    }

    /** Something has been written for the peer; no fence has to lie between, see {@link WatchList}. Any thread. */
    void announce() {
        if (!untouchable && !isWatchedByPeer()) {
            peer.announce(peerSlot);
        }
    }

    /** The same for a ring; a peer that has read it by now and sleeps again is not woken. */
    void announce(RingProducer ring) {
        if (!untouchable && !isWatchedByPeer()) {
            long sleep = peer.announceSilently(peerSlot);
            if (sleep != 0 && !isAllRead(ring)) {
                peer.ring(sleep);
            }
        }
    }

    private static boolean isAllRead(RingProducer ring) {
        try {
            return ring.isAllRead();
        } catch (IllegalStateException _) {
            return true; // freed by now: nobody is there to be told
        }
    }

    /** Whether who polls does so in place of a thread that sleeps, and may leave at any time. A hint. */
    boolean isPolledForAMoment() {
        return progress.isForAMoment();
    }

    private boolean isWatchedByPeer() {
        try {
            return Words.opaque(memory, peerWatch) != 0;
        } catch (IllegalStateException _) {
            return true; // freed by now: nobody is there to be told
        }
    }

    /** Space has been handed back to the peer. */
    void freed() {
        VarHandle.fullFence();
        if (Words.opaque(memory, peerRoomWanted) != 0) {
            Words.setVolatile(memory, peerRoomWanted, 0);
            VarHandle.fullFence();
            peer.announce(peerSlot);
        }
    }

    /** A link waits for room, or does not any more. Under the send lock. */
    void setStalled(int link, boolean stalled) {
        int before = stalledLinks;
        int now = stalled ? before | 1 << link : before & ~(1 << link);
        stalledLinks = now;
        if ((before == 0) != (now == 0)) {
            progress.setStalled(ownSlot, now != 0);
        }
    }

    /** What the peer wrote makes no sense: there is nothing more to be had from it. */
    void breakUp(String reason) {
        end("it broke the protocol: " + reason, BROKEN);
    }

    @Override
    public void giveUp() {
        end("this process has given it up", GIVEN_UP);
    }

    private void end(String reason, long state) {
        if (breach == null) {
            breach = reason;
            receiveEnded = true;
            sendEnded = true;
            raiseState(state);
            progress.announceToSelf(ownSlot);
        }
    }

    /**
     * Whether an error of the JVM is of memory of this connection that somebody has cut off; then the connection is lost. Any
     * thread.
     */
    boolean isCutOff() {
        if (!untouchable && !cut && !CutMemory.isWhole(memory)) {
            cutOff("the file of its shared memory was cut short by somebody");
        }
        return untouchable || cut;
    }

    /** Gives the connection up without touching its memory again, but for telling the peer where that is possible. */
    void cutOff(String reason) {
        if (untouchable || cut) {
            return;
        }
        cut = true;
        breach = reason;
        receiveEnded = true;
        sendEnded = true;
        raiseState(BROKEN);
        untouchable = true;
        progress.announceToSelf(ownSlot);
    }

    // ---- for who polls

    /** Frees the memory, after the last look at it. */
    void free() {
        peer.connections().remove(this);
        channel.remove(this);
        for (SciLink link : links) {
            link.free();
        }
        segment.arena().close();
    }

    /** Lets go of memory that is of no use any more; ten times a second. */
    void tidy() {
        for (SciLink link : links) {
            link.tidy();
        }
    }

    boolean isListed() {
        return listed;
    }

    void setListed(boolean onList) {
        listed = onList;
        leaving = false;
    }

    int slot() {
        return ownSlot;
    }

    /** Counts polls without news; returns how many that makes. */
    int countIdlePoll() {
        return ++idlePolls;
    }

    /** Spares the peer announcing. */
    void watch() {
        idlePolls = 0;
        unwatched = false;
        leaving = false;
        Words.setVolatile(memory, ownWatch, WATCHING);
    }

    /** Stops sparing the peer; what came before that has to be looked for until {@linkplain #isSettled it has settled}. */
    void unwatch() {
        Words.setVolatile(memory, ownWatch, 0);
        VarHandle.fullFence();
        unwatched = true;
        leaving = true;
        unwatchedNs = System.nanoTime();
    }

    boolean isUnwatched() {
        return unwatched;
    }

    /** Whether the peer announces what it sends, and has got out what it sent before it saw that it has to. */
    boolean isSettled() {
        return unwatched && System.nanoTime() - unwatchedNs >= WatchList.SETTLE_NS;
    }

    /** Notes that the peer has announced something; returns how often it has by now, each time within that time of the one before. */
    int noteAnnouncement(long nowNs, long withinNs) {
        announcedInARow = nowNs - announcedNs < withinNs ? announcedInARow + 1 : 1;
        announcedNs = nowNs;
        return announcedInARow;
    }

    /**
     * Whether what the peer has announced is a message that has been read by now, or that nobody wants yet, and nothing else. Who
     * becomes interested announces it again.
     */
    boolean isQuiet() {
        return !untouchable
                && (!interest || !hasNews())
                && !peer.isGone()
                && Words.acquire(memory, PairLayout.state(segment.otherSide())) == 0;
    }

    boolean isInterested() {
        return interest;
    }

    /** Whether a link has something to read. */
    boolean hasNews() {
        for (int i = 0; i < links.length; i++) {
            if (links[i].hasNews()) {
                return true;
            }
        }
        return false;
    }

    /** Lets the layer above read, if there is something. */
    int readNews() {
        ConnectionListener upcalls = listener;
        if (!interest || upcalls == null || !hasNews()) {
            return 0;
        }
        int work = upcalls.onReadable();
        if (work > 0) {
            idlePolls = 0;
            if (leaving && listed) {
                watch();
            }
        }
        return work;
    }

    /** Asks to hear of room and looks whether there is some already, or will be none. */
    boolean isStallOver() {
        Words.setVolatile(memory, ownRoomWanted, 1);
        VarHandle.fullFence();
        int stalled = stalledLinks;
        boolean over = sendEnded && stalled != 0;
        for (int i = 0; i < links.length; i++) {
            over |= (stalled & 1 << i) != 0 && links[i].hasRoom();
        }
        return over;
    }

    /** Looks whether the peer has finished, closed, died or broken the protocol, and reports it once. */
    void lookAtPeer() {
        boolean gone = peer.isGone(); // first: what it said before it went counts
        long state = cut ? BROKEN : Words.acquire(memory, PairLayout.state(segment.otherSide()));
        if (state < 0 || state > GIVEN_UP) {
            breakUp("its state is 0x" + Long.toHexString(state));
        }
        if (state >= CLOSED || gone) {
            sendEnded = true;
        }
        if (state >= FINISHED || gone) {
            receiveEnded = true;
        }
        ConnectionListener upcalls = listener;
        if (receiveEnded && !lossReported && upcalls != null) {
            lossReported = true;
            try {
                report(upcalls, state);
            } catch (VirtualMachineError e) { // memory is short, say: once more
                lossReported = false;
                progress.announceToSelf(ownSlot);
                throw e;
            }
        }
    }

    /** Reports a connection that was cut off, if that is why it must not be touched. */
    void reportIfCutOff() {
        if (cut && !closed) {
            lookAtPeer();
        }
    }

    private void report(ConnectionListener upcalls, long state) {
        String fault = breach;
        if (fault != null) {
            upcalls.onLost(LossKind.CONNECTION, false, fault);
        } else if (state == BROKEN) {
            upcalls.onLost(
                    LossKind.CONNECTION,
                    false,
                    "it broke the connection off because what it found there was no packet");
        } else if (state == GIVEN_UP) {
            upcalls.onLost(
                    LossKind.CONNECTION,
                    false,
                    "it has given this process up, as when it has no sign of it for madeleine.peer-timeout, or when a call of"
                            + " its own has failed in the midst of a packet; its log says which");
        } else if (state >= FINISHED) {
            upcalls.onLost(LossKind.CONNECTION, true, "it closed the connection");
        } else {
            upcalls.onLost(LossKind.PEER, false, "its process ended");
        }
    }
}
