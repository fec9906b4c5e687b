package io.madeleine.tm.sci.link;

import io.madeleine.api.LossKind;
import io.madeleine.pmm.spi.ConnectionListener;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.pmm.spi.TransmissionLink;
import io.madeleine.tm.sci.files.FileStem;
import io.madeleine.tm.sci.memory.OrderedWords;
import io.madeleine.tm.sci.memory.TruncatedFiles;
import io.madeleine.tm.sci.wake.PeerLine;
import io.madeleine.tm.sci.wake.SciProgress;
import io.madeleine.tm.sci.wake.WatchList;
import io.madeleine.tm.sci.wake.Watched;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A connection over one pair segment. The segment holds both directions: a ring or a line of cells for each agreed
 * module.
 *
 * <p>Each side writes three words that the other side reads:
 *
 * <ul>
 *   <li><b>State</b>: the side still sends, has finished, has closed, has found the protocol broken, or has given the
 *       connection up.
 *   <li><b>Watch</b>: 1 while the side polls the connection directly, or ignores arrivals. While it is 0, the peer has
 *       to announce what it sends in the side's inbox.
 *   <li><b>Room wanted</b>: 1 if the side could not send and wants an announcement when there is room.
 * </ul>
 *
 * <p>A side that changes one of these words checks the data afterwards: once, or, after it clears its watch word,
 * {@linkplain WatchList for a while}. A side that changes data checks the word afterwards. So no announcement is
 * missed, and nobody polls an idle connection.
 *
 * <p>Threading: the sending calls under the send lock, the receiving calls under the receive lock. The methods below
 * "for the polling thread" by the thread that holds the lead. Volatile fields by any thread.
 */
public final class SciConnection implements ProtocolConnection, Watched {
    private static final long FINISHED = 1;
    /** The state of a side that has released the connection. */
    public static final long CLOSED = 2;

    private static final long BROKEN = 3;
    private static final long GIVEN_UP = 4;
    private static final long WATCHING = 1;

    private final PairSegment segment;
    private final MemorySegment memory;
    private final PeerLine peer;
    private final SciProgress progress;
    private final Consumer<SciConnection> bury;
    private final Consumer<SciConnection> whenFreed;
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

    /** How the peer has ended; empty while it may send. */
    private volatile String endOfPeer = "";

    private volatile boolean interest;
    private volatile boolean listed;

    /**
     * Whether the announcement that the polling thread finds next may be one of {@link #receiveInterest}. A hint; the
     * announcement itself makes it visible.
     */
    private boolean announcedByReader;

    private volatile boolean receiveEnded;
    private volatile boolean sendEnded;
    private volatile boolean closed;

    private volatile boolean cut;

    /** Closed, or the segment was cut short: no thread may access its memory. */
    private volatile boolean untouchable;

    private volatile int stalledLinks;
    private boolean lossReported;
    private int idlePolls;
    private boolean unwatched = true;

    /** Was watched and is about to leave the watch list; {@link #deliver} watches it again if data arrives first. */
    private boolean leaving;

    private long unwatchedNs = System.nanoTime() - WatchList.SETTLE_NS;
    private long announcedNs = System.nanoTime();

    /** The number of consecutive announcements, each within {@link SciProgress}'s limit after the one before. */
    private int announcedInARow;

    /**
     * Makes the connection of a segment.
     *
     * @param bury takes the closed connection, which the polling thread has to {@linkplain #free free}
     * @param whenFreed called just before the memory is freed
     */
    public SciConnection(
            PairSegment segment,
            PeerLine peer,
            List<TransmissionCapabilities> modules,
            SingleCopy singleCopy,
            SciProgress progress,
            Consumer<SciConnection> bury,
            Consumer<SciConnection> whenFreed) {
        this.segment = segment;
        this.memory = segment.memory();
        this.peer = peer;
        this.progress = progress;
        this.bury = bury;
        this.whenFreed = whenFreed;
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

    public PairSegment segment() {
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
            announcedByReader = true;
            progress.announceToSelf(ownSlot);
        }
    }

    @Override
    public boolean hasArrivals() {
        try {
            return !untouchable && links[0].mayBeReadable();
        } catch (IllegalStateException _) {
            return false; // The memory has been freed.
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
        return seen == null ? endOfPeer : seen;
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
            if (!untouchable && OrderedWords.raise(memory, offset, state)) {
                VarHandle.fullFence();
                peer.announce(peerSlot);
                TruncatedFiles.settle();
            }
        } catch (InternalError e) {
            if (!isCutOff() && !peer.lookAtInbox()) {
                throw e;
            }
        }
    }

    // ---- for the links

    @Override
    public boolean isClosed() {
        return untouchable;
    }

    boolean isReceiveEnded() {
        return receiveEnded;
    }

    boolean isSendEnded() {
        return sendEnded || untouchable;
    }

    /**
     * Announces to the peer that data was written for it, unless the peer watches. Needs no fence after that write, see
     * {@link WatchList}. Any thread.
     *
     * @param isAllRead whether the peer has read it: then no sender has to wake the peer
     */
    void announce(BooleanSupplier isAllRead) {
        if (!untouchable && !isWatchedByPeer()) {
            long sleep = peer.announceSilently(peerSlot);
            if (sleep != 0) {
                peer.ring(sleep, isAllRead);
            }
        }
    }

    /** Whether a sender may be about to ring, so that a reader tells it at once that everything was read. A hint. */
    boolean mayBeRungFor() {
        return progress.mayBeRungFor();
    }

    private boolean isWatchedByPeer() {
        try {
            return OrderedWords.opaque(memory, peerWatch) != 0;
        } catch (IllegalStateException _) {
            return true; // The memory has been freed: there is no receiver to announce anything to.
        }
    }

    /**
     * Announces to the peer that it has room to send, if it asked for this. The caller has returned space to it before.
     */
    void freed() {
        VarHandle.fullFence();
        if (OrderedWords.opaque(memory, peerRoomWanted) != 0) {
            OrderedWords.setVolatile(memory, peerRoomWanted, 0);
            VarHandle.fullFence();
            peer.announce(peerSlot);
        }
    }

    /** Notes whether a link waits for room to send. Under the send lock. */
    void setStalled(int link, boolean stalled) {
        int before = stalledLinks;
        int now = stalled ? before | 1 << link : before & ~(1 << link);
        stalledLinks = now;
        if ((before == 0) != (now == 0)) {
            progress.setStalled(ownSlot, now != 0);
        }
    }

    /** Ends the connection because the peer wrote something invalid. */
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

    @Override
    public boolean isCutOff() {
        if (!untouchable && !cut && !TruncatedFiles.isWhole(memory)) {
            cutOff("the file of its shared memory was cut short by somebody");
        }
        return untouchable || cut;
    }

    @Override
    public void cutOff(String reason) {
        if (untouchable || cut) {
            return;
        }
        breach = reason; // First, so that a thread that sees the cut can tell the reason.
        cut = true;
        receiveEnded = true;
        sendEnded = true;
        raiseState(BROKEN);
        untouchable = true;
        progress.announceToSelf(ownSlot);
    }

    // ---- for the polling thread

    /** Frees the memory. Nothing may access it afterwards. */
    public void free() {
        whenFreed.accept(this);
        for (SciLink link : links) {
            link.free();
        }
        segment.arena().close();
    }

    @Override
    public void tidy() {
        for (SciLink link : links) {
            link.tidy();
        }
    }

    @Override
    public boolean isListed() {
        return listed;
    }

    @Override
    public void setListed(boolean onList) {
        listed = onList;
        leaving = false;
    }

    @Override
    public int slot() {
        return ownSlot;
    }

    @Override
    public int countIdlePoll() {
        return ++idlePolls;
    }

    @Override
    public void watch() {
        idlePolls = 0;
        unwatched = false;
        leaving = false;
        OrderedWords.setVolatile(memory, ownWatch, WATCHING);
    }

    @Override
    public void unwatch() {
        OrderedWords.setVolatile(memory, ownWatch, 0);
        VarHandle.fullFence();
        unwatched = true;
        leaving = true;
        unwatchedNs = System.nanoTime();
    }

    @Override
    public boolean isUnwatched() {
        return unwatched;
    }

    @Override
    public boolean isSettled() {
        return unwatched && System.nanoTime() - unwatchedNs >= WatchList.SETTLE_NS;
    }

    @Override
    public int noteAnnouncement(long nowNs, long withinNs) {
        if (announcedByReader) {
            announcedByReader = false;
            if (!isReadable()) {
                return 0;
            }
        }
        announcedInARow = nowNs - announcedNs < withinNs ? announcedInARow + 1 : 1;
        announcedNs = nowNs;
        return announcedInARow;
    }

    @Override
    public boolean isQuiet() {
        return !untouchable
                && (!interest || unwatched && !isReadable())
                && !peer.isGone()
                && OrderedWords.acquire(memory, PairLayout.state(segment.otherSide())) == 0;
    }

    @Override
    public boolean isInterested() {
        return interest;
    }

    @Override
    public boolean isReadable() {
        for (int i = 0; i < links.length; i++) {
            if (links[i].isReadable()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public int deliver() {
        ConnectionListener upcalls = listener;
        if (!interest || upcalls == null || !isReadable()) {
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

    @Override
    public boolean isStallOver() {
        OrderedWords.setVolatile(memory, ownRoomWanted, 1);
        VarHandle.fullFence();
        int stalled = stalledLinks;
        boolean over = sendEnded && stalled != 0;
        for (int i = 0; i < links.length; i++) {
            over |= (stalled & 1 << i) != 0 && links[i].hasRoom();
        }
        return over;
    }

    @Override
    public void lookAtPeer() {
        boolean gone = peer.isGone(); // Read before the state: the state that the peer wrote before it died counts.
        long state = cut ? BROKEN : OrderedWords.acquire(memory, PairLayout.state(segment.otherSide()));
        if (state < 0 || state > GIVEN_UP) {
            breakUp("its state is 0x" + Long.toHexString(state));
        }
        if (state >= FINISHED || gone) {
            endOfPeer = endOfPeer(state); // first, so that a thread that finds a link closed can tell the reason
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
            } catch (VirtualMachineError e) { // For example, memory is short: the next poll reports again.
                lossReported = false;
                progress.announceToSelf(ownSlot);
                throw e;
            }
        }
    }

    @Override
    public void reportIfCutOff() {
        if (cut && !closed) {
            lookAtPeer();
        }
    }

    private void report(ConnectionListener upcalls, long state) {
        String fault = breach;
        if (fault != null) {
            upcalls.onLost(LossKind.CONNECTION, false, fault);
        } else {
            boolean finished = state == FINISHED || state == CLOSED;
            upcalls.onLost(state < FINISHED ? LossKind.PEER : LossKind.CONNECTION, finished, endOfPeer(state));
        }
    }

    private static String endOfPeer(long state) {
        if (state == BROKEN) {
            return "it broke the connection off because it found data there that is not a packet";
        }
        if (state == GIVEN_UP) {
            return "it has given this process up, for example because it was told that this process is gone, because it"
                    + " had no sign of it for madeleine.peer-timeout, or because a call of its own failed in the middle"
                    + " of a packet; its log says which";
        }
        return state >= FINISHED ? "it closed the connection" : "its process ended";
    }
}
