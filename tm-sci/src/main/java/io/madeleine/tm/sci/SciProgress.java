package io.madeleine.tm.sci;

import io.madeleine.pmm.spi.ProgressSource;
import io.madeleine.pmm.spi.Reactor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Finds the connections with news. Those that have been busy lately are on a short {@linkplain WatchList list} and looked
 * at directly, which costs next to nothing while nothing comes, since the words looked at stay in the cache; all others
 * announce themselves in the inbox. A connection leaves the list after a while without news, and all do before the engine
 * sleeps.
 *
 * <p>Threading: the polling calls by the thread that holds the lead; {@link #announceToSelf}, {@link #setStalled} and
 * {@link #put} by any.
 */
final class SciProgress implements ProgressSource {
    /** What else has to be done now and then: connections being made, and freed. */
    interface ControlWork {
        /** Whether there may be something to do. */
        boolean isPending();

        /**
         * Does what can be done.
         *
         * @param urgent whether to look at the file system even if that was done a moment ago
         * @return how many steps were taken
         */
        int step(long nowNs, boolean urgent);

        /** Gives up what cannot go on since a mapped file was cut short; whether there was anything. */
        boolean giveUpCutMemory();
    }

    /** How many looks at listed connections without news are afforded before one leaves the list. */
    static final int IDLE_LOOKS = 8192;

    /**
     * Who announces something so often, each time within this time of the one before, is looked at directly from then on, also by who
     * polls for a moment. A reply, the next request and a word in between make fewer.
     */
    static final int DENSE_ANNOUNCEMENTS = 8;

    private static final long DENSE_NS = 100_000;

    /** So long at most news may lie unseen that an announcement should have told of. */
    private static final long LONGEST_SLEEP_NS = 100_000_000;

    private final Inbox inbox;
    private final Reactor reactor;
    private final ControlWork control;
    private final WatchList watchList;
    private final AtomicReferenceArray<@Nullable SciConnection> bySlot = new AtomicReferenceArray<>(InboxLayout.SLOTS);
    private final AtomicLongArray stalledSlots = new AtomicLongArray(InboxLayout.SLOTS / Long.SIZE);
    private final AtomicInteger stalledCount = new AtomicInteger();
    private volatile boolean asleep;

    private volatile int highestSlot;

    private long lookedEverywhereNs;

    /** Who polls does so for a moment: what it puts on the watch list it would have to wait for when it takes it off again. */
    private boolean forAMoment;

    private boolean controlNews;

    SciProgress(Inbox inbox, Reactor reactor, ControlWork control, int idleLooks) {
        this.inbox = inbox;
        this.reactor = reactor;
        this.control = control;
        this.watchList = new WatchList(idleLooks);
        this.lookedEverywhereNs = System.nanoTime();
    }

    // ---- any thread

    /** Has the thread that polls look at a connection of this process's own. */
    void announceToSelf(int slot) {
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

    /** Notes that a connection waits for room, or does not any more. */
    void setStalled(int slot, boolean stalled) {
        long bit = InboxLayout.bit(slot);
        long before = stalledSlots.getAndAccumulate(
                slot / Long.SIZE, bit, stalled ? (word, mask) -> word | mask : (word, mask) -> word & ~mask);
        if (((before & bit) != 0) != stalled) {
            stalledCount.getAndAdd(stalled ? 1 : -1);
        }
    }

    /** Makes a connection known under its slot. */
    void put(SciConnection connection) {
        bySlot.set(connection.slot(), connection);
        highestSlot = Math.max(highestSlot, connection.slot());
    }

    /** Whether who polls does so for a moment; a hint for others. */
    boolean isForAMoment() {
        return forAMoment;
    }

    // ---- the thread that polls

    @Override
    public int poll(long nowNs) {
        try {
            return pollAll(nowNs);
        } catch (InternalError e) { // or it comes later: see CutMemory
            if (!giveUpCutMemory()) {
                throw e;
            }
            return 1;
        }
    }

    private int pollAll(long nowNs) {
        if (nowNs - lookedEverywhereNs > LONGEST_SLEEP_NS) {
            lookedEverywhereNs = nowNs;
            lookEverywhere();
        }
        int work = watchList.poll();
        if (inbox.hasArrivals()) {
            work += takeArrivals(nowNs);
        }
        if (control.isPending()) {
            boolean urgent = controlNews;
            controlNews = false;
            work += control.step(nowNs, urgent);
        }
        return work;
    }

    /** What no announcement told of, if that can be: see {@link WatchList}. */
    private void lookEverywhere() {
        if (!inbox.isWhole()) {
            boolean _ = giveUpCutMemory();
        }
        for (int slot = 0; slot <= highestSlot; slot++) {
            SciConnection connection = bySlot.get(slot);
            if (connection == null || connection.isClosed()) {
                continue;
            }
            connection.tidy();
            if (!connection.isCutOff() && !connection.isListed() && connection.isInterested() && connection.hasNews()) {
                watchList.add(connection);
            }
        }
    }

    @Override
    public long longestSleepNs() {
        return highestSlot == InboxLayout.CONTROL_SLOT ? Long.MAX_VALUE : LONGEST_SLEEP_NS; // no connection, no news
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

    /** What has been announced and not been looked at comes up again, and what failed, too, if memory was short, say. */
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
            controlNews = true;
            return 0;
        }
        SciConnection connection = bySlot.get(slot);
        if (connection == null || connection.isClosed()) {
            if (connection != null) {
                connection.reportIfCutOff();
            }
            return 0; // of one that is gone
        }
        boolean dense = areDense(connection, nowNs);
        if (dense || !forAMoment) {
            watchList.add(connection);
        }
        int work = connection.readNews();
        if (connection.isInterested() && connection.hasNews()) {
            watchList.addAnnounced(
                    connection); // what waits for its handler, say: no other announcement will tell of it
        }
        connection.lookAtPeer();
        return work;
    }

    /** Notes an announcement; whether the connection is worth looking at directly. */
    private static boolean areDense(SciConnection connection, long nowNs) {
        return connection.noteAnnouncement(nowNs, DENSE_NS) >= DENSE_ANNOUNCEMENTS;
    }

    /** Forgets a closed connection, whose memory is about to be freed. */
    void forget(SciConnection connection) {
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
            SciConnection connection = bySlot.get(slot);
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
            SciConnection connection = bySlot.get(word * Long.SIZE + Long.numberOfTrailingZeros(bits));
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

    /** Not while a peer spares announcing: to look away from that takes {@link WatchList#SETTLE_NS}. */
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

    /** Forgets announcements of messages that were found and read before these came; false if there is another one. */
    private boolean dropReadArrivals() {
        boolean quiet = true;
        long nowNs = System.nanoTime();
        for (long summary = inbox.takeSummary(); summary != 0; summary &= summary - 1) {
            int word = Long.numberOfTrailingZeros(summary);
            for (long bits = inbox.takeWord(word); bits != 0; bits &= bits - 1) {
                int slot = word * Long.SIZE + Long.numberOfTrailingZeros(bits);
                SciConnection connection = slot == InboxLayout.CONTROL_SLOT ? null : bySlot.get(slot);
                if (connection == null || !connection.isQuiet() || areDense(connection, nowNs)) {
                    long _ = inbox.announce(slot); // for the next poll
                    quiet = false;
                }
            }
        }
        return quiet;
    }
}
