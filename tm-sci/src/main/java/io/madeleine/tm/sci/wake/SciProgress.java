package io.madeleine.tm.sci.wake;

import io.madeleine.pmm.spi.ProgressSource;
import io.madeleine.pmm.spi.Reactor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Finds the connections that have data to read. It polls recently busy connections directly: they are on a short
 * {@linkplain WatchList watch list}, and a poll that finds nothing costs next to nothing, since the words it reads stay
 * in the cache. All other connections are announced in the {@linkplain Inbox inbox} by their peers. A connection leaves
 * the watch list when it has been idle for a while; all connections leave it before the engine sleeps.
 *
 * <p>Threading: the polling calls by the thread that holds the lead; {@link #announceToSelf}, {@link #setStalled} and
 * {@link #put} by any thread.
 */
public final class SciProgress implements ProgressSource {
    /** Work beside the connections: making new ones and freeing closed ones. */
    public interface ControlWork {
        /** Whether there may be work. */
        boolean isPending();

        /**
         * Does the work that is possible now.
         *
         * @param nowNs the time, {@link System#nanoTime()}
         * @param urgent whether to look into the file system even if that was done a moment ago
         * @return the number of steps taken
         */
        int step(long nowNs, boolean urgent);

        /**
         * Gives up everything that depends on a mapped file that was cut short.
         *
         * @return whether there was anything to give up
         */
        boolean giveUpCutMemory();
    }

    /**
     * The number of polls without data after which a connection leaves the watch list, shared by all connections on it.
     */
    public static final int IDLE_LOOKS = 8192;

    /**
     * A connection with this many consecutive announcements, each within {@link #DENSE_NS} after the one before, goes
     * onto the watch list, even if the polling thread polls only for a moment. A reply, the next request and one
     * message in between make fewer announcements.
     */
    public static final int DENSE_ANNOUNCEMENTS = 8;

    private static final long DENSE_NS = 100_000;

    /** The longest time that data can lie unseen if its announcement was missed. */
    private static final long LONGEST_UNSEEN_NS = 100_000_000;

    /** How long an idle process sleeps at most: each look that finds nothing doubles the time until the next. */
    private static final long LONGEST_SLEEP_NS = 3_000_000_000L;

    private final Inbox inbox;
    private final Reactor reactor;
    private final ControlWork control;
    private final WatchList watchList;
    private final AtomicReferenceArray<@Nullable Watched> bySlot = new AtomicReferenceArray<>(InboxLayout.SLOTS);
    private final AtomicLongArray stalledSlots = new AtomicLongArray(InboxLayout.SLOTS / Long.SIZE);
    private final AtomicInteger stalledCount = new AtomicInteger();
    private volatile boolean asleep;

    private volatile int highestSlot;

    private long lookedEverywhereNs;

    /** The time from one look at all connections to the next, while none of them is watched. */
    private long betweenLooksNs = LONGEST_UNSEEN_NS;

    /**
     * Whether the polling thread polls only for a moment. The thread then puts no sparse connection on the watch list:
     * to take it off again, the thread would have to wait until it has settled.
     */
    private boolean forAMoment;

    private boolean controlWork;

    public SciProgress(Inbox inbox, Reactor reactor, ControlWork control, int idleLooks) {
        this.inbox = inbox;
        this.reactor = reactor;
        this.control = control;
        this.watchList = new WatchList(idleLooks);
        this.lookedEverywhereNs = System.nanoTime();
    }

    // ---- any thread

    /** Makes the polling thread check a connection of this process. */
    public void announceToSelf(int slot) {
        try {
            long _ = inbox.announce(slot);
        } catch (InternalError e) {
            if (inbox.isWhole()) {
                throw e;
            }
        }
        if (asleep) {
            reactor.wakeUp();
        }
    }

    /** Notes whether a connection waits for room to send. */
    public void setStalled(int slot, boolean stalled) {
        long bit = InboxLayout.bit(slot);
        long before = stalledSlots.getAndAccumulate(
                slot / Long.SIZE, bit, stalled ? (word, mask) -> word | mask : (word, mask) -> word & ~mask);
        if (((before & bit) != 0) != stalled) {
            stalledCount.getAndAdd(stalled ? 1 : -1);
        }
    }

    /** Enters a connection under its slot. */
    public void put(Watched connection) {
        bySlot.set(connection.slot(), connection);
        highestSlot = Math.max(highestSlot, connection.slot());
    }

    /**
     * Whether a thread sleeps, or the polling thread stands in for it for a moment, so that senders ring for unread
     * data. A hint for other threads.
     */
    public boolean mayBeRungFor() {
        return asleep || forAMoment;
    }

    // ---- the polling thread

    @Override
    public int poll(long nowNs) {
        try {
            return pollAll(nowNs);
        } catch (InternalError e) { // The JVM may also throw it later: see TruncatedFiles.
            if (!giveUpCutMemory()) {
                throw e;
            }
            return 1;
        }
    }

    private int pollAll(long nowNs) {
        if (nowNs - lookedEverywhereNs > LONGEST_UNSEEN_NS && nowNs - lookedEverywhereNs > untilNextLookNs()) {
            lookedEverywhereNs = nowNs;
            lookEverywhere();
        }
        int work = watchList.poll();
        if (inbox.hasArrivals()) {
            work += takeArrivals(nowNs);
        }
        if (control.isPending()) {
            boolean urgent = controlWork;
            controlWork = false;
            work += control.step(nowNs, urgent);
        }
        return work;
    }

    /** Puts connections on the watch list that have data but no announcement, if any: see {@link WatchList}. */
    private void lookEverywhere() {
        if (!inbox.isWhole()) {
            boolean _ = giveUpCutMemory();
        }
        betweenLooksNs = Math.min(2 * untilNextLookNs(), LONGEST_SLEEP_NS);
        watchList.forgetWatched();
        for (int slot = 0; slot <= highestSlot; slot++) {
            Watched connection = bySlot.get(slot);
            if (connection == null || connection.isClosed()) {
                continue;
            }
            connection.tidy();
            if (!connection.isCutOff()
                    && !connection.isListed()
                    && connection.isInterested()
                    && connection.isReadable()) {
                watchList.add(connection);
            }
        }
    }

    private long untilNextLookNs() {
        return watchList.hasWatched() ? LONGEST_UNSEEN_NS : betweenLooksNs;
    }

    @Override
    public long longestSleepNs() {
        return highestSlot == InboxLayout.CONTROL_SLOT ? Long.MAX_VALUE : untilNextLookNs(); // never had a connection
    }

    private int takeArrivals(long nowNs) {
        int work = 0;
        long summary = inbox.takeSummary();
        while (summary != 0) {
            int word = Long.numberOfTrailingZeros(summary);
            summary &= summary - 1;
            long bits = inbox.takeWord(word);
            while (bits != 0) {
                int slot = word * Long.SIZE + Long.numberOfTrailingZeros(bits);
                bits &= bits - 1;
                try {
                    work += arrived(slot, nowNs);
                } catch (RuntimeException | Error e) {
                    putBack(slot, bits, word, summary, e);
                    throw e;
                }
            }
        }
        return work;
    }

    /**
     * Announces again the slots that have not been checked yet. Also announces the failed one again if its failure may
     * pass, such as a lack of memory.
     */
    private void putBack(int failedSlot, long bits, int word, long summary, Throwable failure) {
        if (failure instanceof VirtualMachineError && !(failure instanceof InternalError)) {
            announceToSelf(failedSlot);
        }
        for (long left = bits; left != 0; left &= left - 1) {
            announceToSelf(word * Long.SIZE + Long.numberOfTrailingZeros(left));
        }
        for (long words = summary; words != 0; words &= words - 1) {
            announceToSelf(Long.numberOfTrailingZeros(words) * Long.SIZE);
        }
    }

    private int arrived(int slot, long nowNs) {
        if (slot == InboxLayout.CONTROL_SLOT) {
            controlWork = true;
            return 0;
        }
        Watched connection = bySlot.get(slot);
        if (connection == null || connection.isClosed()) {
            if (connection != null) {
                connection.reportIfCutOff();
            }
            return 0; // The announcement was for a connection that is gone.
        }
        boolean dense = areDense(connection, nowNs);
        if (dense || !forAMoment || !connection.isUnwatched()) { // A watched one is announced by its reader alone.
            watchList.add(connection);
        }
        int work = connection.deliver();
        if (connection.isInterested() && connection.isReadable()) {
            // For example, a message that waits for its handler: no peer will announce it a second time.
            watchList.addAnnounced(connection);
        }
        connection.lookAtPeer();
        return work;
    }

    /** Notes an announcement; returns whether announcements are dense enough for the watch list. */
    private static boolean areDense(Watched connection, long nowNs) {
        return connection.noteAnnouncement(nowNs, DENSE_NS) >= DENSE_ANNOUNCEMENTS;
    }

    /** Forgets a closed connection, before its memory is freed. */
    public void forget(Watched connection) {
        watchList.forget(connection);
        setStalled(connection.slot(), false);
        bySlot.set(connection.slot(), null);
    }

    @Override
    public boolean recover(InternalError fault) {
        return giveUpCutMemory();
    }

    private boolean giveUpCutMemory() {
        boolean cut = !inbox.isWhole();
        if (cut) {
            inbox.giveUpFile();
        }
        for (int slot = 0; slot <= highestSlot; slot++) {
            Watched connection = bySlot.get(slot);
            if (connection != null && !connection.isClosed()) {
                if (cut) {
                    connection.cutOff("the inbox of this process was cut short by somebody");
                }
                cut |= connection.isCutOff();
            }
        }
        boolean gaveUp = control.giveUpCutMemory();
        return gaveUp || cut;
    }

    @Override
    public boolean armForBlocking() {
        try {
            return arm();
        } catch (InternalError e) {
            if (!giveUpCutMemory()) {
                throw e;
            }
            return false;
        }
    }

    private boolean arm() {
        asleep = true;
        inbox.fallAsleep();
        boolean quiet = watchList.leaveAll();
        for (int word = 0; quiet && word < stalledSlots.length(); word++) {
            quiet = areStillStalled(word);
        }
        if (quiet && control.isPending()) {
            quiet = control.step(System.nanoTime(), true) == 0;
        }
        return quiet && !inbox.hasArrivals();
    }

    private boolean areStillStalled(int word) {
        for (long bits = stalledSlots.get(word); bits != 0; bits &= bits - 1) {
            Watched connection = bySlot.get(word * Long.SIZE + Long.numberOfTrailingZeros(bits));
            if (connection != null && !connection.isClosed() && connection.isStallOver()) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void disarm() {
        forAMoment = false;
        asleep = false;
        inbox.wake();
    }

    @Override
    public void disarmForAMoment() {
        disarm();
        forAMoment = true;
    }

    /**
     * {@inheritDoc}
     *
     * <p>Returns false while a peer does not announce what it sends: to let its connection settle takes {@link
     * WatchList#SETTLE_NS}.
     */
    @Override
    public boolean rearm() {
        if (control.isPending() || stalledCount.get() != 0 || !watchList.leaveSettled()) {
            return false;
        }
        try {
            asleep = true;
            inbox.fallAsleep();
            return !inbox.hasArrivals() || (dropReadArrivals() && !inbox.hasArrivals());
        } catch (InternalError e) {
            if (!giveUpCutMemory()) {
                throw e;
            }
            return false;
        }
    }

    /**
     * Drops announcements of messages that were read before the announcements were seen.
     *
     * @return false if there is any other announcement; it stays in the inbox
     */
    private boolean dropReadArrivals() {
        boolean quiet = true;
        long nowNs = System.nanoTime();
        for (long summary = inbox.takeSummary(); summary != 0; summary &= summary - 1) {
            int word = Long.numberOfTrailingZeros(summary);
            for (long bits = inbox.takeWord(word); bits != 0; bits &= bits - 1) {
                int slot = word * Long.SIZE + Long.numberOfTrailingZeros(bits);
                Watched connection = slot == InboxLayout.CONTROL_SLOT ? null : bySlot.get(slot);
                if (connection == null || !connection.isQuiet() || areDense(connection, nowNs)) {
                    long _ = inbox.announce(slot); // The next poll takes it.
                    quiet = false;
                }
            }
        }
        return quiet;
    }
}
