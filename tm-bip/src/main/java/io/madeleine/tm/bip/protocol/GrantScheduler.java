package io.madeleine.tm.bip.protocol;

import io.madeleine.pmm.SpinLock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides at the receiving end which senders of an adapter may send bytes of bip/long, and how many. Each connection
 * has an allowance that it may use unasked. A sender that has more asks for a grant. The scheduler grants so that all
 * bytes that may be under way fit in a budget, and those of open messages in a window. The window narrows when many
 * datagrams of several senders are lost.
 *
 * <p>The message that lacks the fewest bytes comes first, and the oldest always has a share; or all messages take
 * turns. A sender from which nothing comes for {@link #STALL_NS} no longer keeps others from sending.
 *
 * <p>Threading: thread-safe; calls may have the lock of a connection, and take none. They allocate nothing in steady
 * state.
 */
public final class GrantScheduler {
    /** Which open message gets the next grant. */
    public enum Order {
        /** The one that lacks the fewest bytes; the oldest has its share. */
        SHORTEST,
        /** Each in its turn. */
        FAIR
    }

    /** No deadline. */
    static final long NONE = Recovery.NONE;

    /** One part in this many of the window is for the oldest message alone. */
    static final int OLDEST_SHARE = 8;

    /** At most one part in this many of the budget is for connections without an open message. */
    static final int IDLE_SHARE = 2;

    /** A grant is at least one part in this many of the window, unless the message lacks less. */
    static final int GRANT_SHARE = 16;

    /** The allowance of a connection before its first message, at most. */
    static final int FIRST_BYTES = 16_384;

    /** A smaller allowance counts as none: the sender has to ask. */
    static final int LEAST_BYTES = 1_024;

    /** The least budget, and the least window. */
    static final int LEAST_WINDOW_BYTES = 65_536;

    /** After this time without a byte, what was granted to a sender may be granted to others too. */
    static final long STALL_NS = 10_000_000;

    /** The window narrows if more than one datagram in this many is missing in a round, and several peers send. */
    static final int LOSS_SHARE = 16;

    private final SpinLock lock = new SpinLock();
    private final long bufferBytes;
    private final int shortBytes;
    private final int longBytes;
    private final Order order;
    private final List<Grant> open = new ArrayList<>();
    private final ArrayDeque<Grant> raised = new ArrayDeque<>();
    private int count; // of connections
    private long budget;
    private long window;
    private boolean hasNarrowed;
    private long openBytes; // outstanding grants of open messages that are not stalled
    private long idleBytes; // of the other connections
    private long ages;
    private int turn;
    private long roundBytes;
    private int roundDatagrams;
    private int roundMissing;
    private int stalls;
    private boolean waits; // an open message could use more than is free
    private volatile long deadlineNs = NONE;
    private volatile boolean hasRaised;

    /**
     * A scheduler for the connections of one adapter.
     *
     * @param bufferBytes how many bytes of datagrams the system keeps for the socket
     */
    public GrantScheduler(EndpointSettings settings, int bufferBytes, Order order) {
        this.bufferBytes = bufferBytes;
        this.shortBytes = settings.shortWindowBytes();
        this.longBytes = settings.longWindowBytes();
        this.order = order;
        this.window = Math.max(LEAST_WINDOW_BYTES, longBytes);
        resize();
    }

    /** The credits of bip/short may fill the buffer up to a half; the rest is for bip/long. */
    private void resize() {
        long reserved = Math.min(bufferBytes / 2, (long) Math.max(1, count) * shortBytes);
        budget = Math.max(LEAST_WINDOW_BYTES, bufferBytes - reserved);
        window = Math.min(window, budget);
    }

    // ---- connections

    /** A connection takes part from now on. */
    Grant add(long ownId, long nowNs) {
        Grant added = new Grant(ownId, longBytes);
        lock.lock();
        try {
            count++;
            resize();
            added.movedNs = nowNs;
            allow(added, FIRST_BYTES);
            return added;
        } finally {
            lock.unlock();
        }
    }

    /** A connection takes part no more; what it has not used is free. */
    void remove(Grant removed) {
        lock.lock();
        try {
            if (removed.isRemoved) {
                return;
            }
            removed.isRemoved = true;
            uncount(removed);
            if (removed.isOpen) {
                open.remove(removed);
            }
            count--;
            resize();
            if (waits) {
                deadlineNs = removed.movedNs; // others are granted at once what this connection leaves
            }
        } finally {
            lock.unlock();
        }
    }

    // ---- what happens to them

    /**
     * Bytes have arrived, or the sender has asked for more.
     *
     * @param arrived how many bytes have arrived in all
     * @param taken how many have been read
     * @param wanted the offset up to which the sender wants to send
     * @param missing how many datagrams before this one are missing; below 0 if this one was counted as missing before
     */
    void moved(Grant grant, long arrived, long taken, long wanted, long missing, long nowNs) {
        lock.lock();
        try {
            if (grant.isRemoved) {
                return;
            }
            uncount(grant);
            if (arrived != grant.arrived || !grant.isOpen) {
                grant.movedNs = nowNs;
                grant.isStalled = false;
            }
            long fresh = arrived - grant.arrived;
            grant.arrived = arrived;
            grant.taken = taken;
            grant.wanted = Math.max(grant.wanted, wanted);
            openOrClose(grant);
            count(grant);
            endRound(fresh, missing);
            assign(grant, nowNs);
        } finally {
            lock.unlock();
        }
    }

    /** Bytes have been read, so that there is room for others. */
    void taken(Grant grant, long taken) {
        lock.lock();
        try {
            grant.taken = taken;
            if (grant.isRemoved) {
                return;
            }
            if (grant.isOpen) {
                Grant oldest = oldest();
                long kept = oldest == null || oldest == grant || order == Order.FAIR ? 0 : keptFor(oldest);
                boolean _ = give(grant, free() - kept, true, grant.movedNs);
            } else {
                allow(grant, longBytes);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Handles a deadline that has come: grants of senders from which nothing comes are free. */
    public void onTime(long nowNs) {
        lock.lock();
        try {
            if (deadlineNs == NONE || deadlineNs - nowNs > 0) {
                return;
            }
            deadlineNs = NONE;
            for (int i = 0; i < open.size(); i++) {
                Grant each = open.get(i);
                if (!each.isStalled && each.outstanding() > 0 && nowNs - each.movedNs >= STALL_NS) {
                    uncount(each);
                    each.isStalled = true;
                    stalls++;
                }
            }
            assign(null, nowNs);
        } finally {
            lock.unlock();
        }
    }

    /** When {@link #onTime} has to be called next; {@link #NONE} if nobody waits for another. */
    public long nextDeadlineNs() {
        return deadlineNs;
    }

    /** The id of a connection whose limit was raised because another one has moved; 0 if there is none. */
    public long takeRaised() {
        if (!hasRaised) {
            return 0;
        }
        lock.lock();
        try {
            Grant first = raised.poll();
            hasRaised = !raised.isEmpty();
            if (first == null) {
                return 0;
            }
            first.isListed = false;
            return first.ownId;
        } finally {
            lock.unlock();
        }
    }

    // ---- counting

    private void uncount(Grant grant) {
        if (grant.isOpen && !grant.isStalled) {
            openBytes -= grant.outstanding();
        } else if (!grant.isOpen) {
            idleBytes -= grant.outstanding();
        }
    }

    private void count(Grant grant) {
        if (grant.isOpen && !grant.isStalled) {
            openBytes += grant.outstanding();
        } else if (!grant.isOpen) {
            idleBytes += grant.outstanding();
        }
    }

    private void openOrClose(Grant grant) {
        boolean isOpen = grant.remaining() > 0;
        if (isOpen && (!grant.isOpen || grant.arrived >= grant.messageEnd)) {
            grant.messageEnd = grant.wanted;
            grant.age = ++ages;
        }
        if (isOpen && !grant.isOpen) {
            open.add(grant);
        } else if (!isOpen && grant.isOpen) {
            open.remove(grant);
            grant.isStalled = false;
        }
        grant.isOpen = isOpen;
    }

    /** How many bytes may be granted to open messages. */
    private long free() {
        return Math.min(window - openBytes, budget - openBytes - idleBytes);
    }

    // ---- granting

    /** How many bytes a connection may send unasked: all connections together have one window of bip/long. */
    private long allowance() {
        int share = longBytes / Math.max(1, count);
        return share < LEAST_BYTES ? 0 : share;
    }

    private void allow(Grant grant, long most) {
        long wanted = Math.min(allowance(), most);
        long free = Math.min(budget / IDLE_SHARE - idleBytes, budget - openBytes - idleBytes);
        long bytes = Math.min(Math.min(wanted - grant.outstanding(), free), room(grant));
        if (bytes >= Math.max(LEAST_BYTES, wanted / 4)) {
            grant.raise(bytes);
            idleBytes += bytes;
        }
    }

    private static long room(Grant grant) {
        return grant.taken + grant.capacity - grant.limit();
    }

    /** How many bytes an open message could be granted: what it lacks, and the allowance of the next one. */
    private long usable(Grant grant) {
        return Math.min(grant.wanted - grant.limit() + allowance(), room(grant));
    }

    private @Nullable Grant oldest() {
        Grant found = null;
        for (int i = 0; i < open.size(); i++) {
            Grant each = open.get(i);
            found = !each.isStalled && (found == null || each.age < found.age) ? each : found;
        }
        return found;
    }

    /** How many bytes others leave to the oldest message. */
    private long keptFor(Grant oldest) {
        return Math.max(0, Math.min(window / OLDEST_SHARE - oldest.outstanding(), usable(oldest)));
    }

    /** Grants what is available; {@code moved} is the grant that has changed, if any. */
    private void assign(@Nullable Grant moved, long nowNs) {
        if (moved != null && !moved.isOpen) {
            allow(moved, longBytes);
        }
        waits = false;
        if (order == Order.FAIR) {
            assignInTurn(moved, nowNs);
        } else {
            assignShortest(moved, nowNs);
        }
        deadlineNs = waits ? Endpoint.earlier(deadlineNs, nowNs + STALL_NS) : NONE;
    }

    private void assignShortest(@Nullable Grant moved, long nowNs) {
        Grant oldest = oldest();
        if (oldest == null) {
            return;
        }
        give(oldest, Math.min(free(), keptFor(oldest)), oldest == moved, nowNs);
        waits = false;
        sort();
        for (int i = 0; i < open.size() && !waits; i++) { // messages that lack more wait, too
            Grant next = open.get(i);
            give(next, next == oldest ? free() : free() - keptFor(oldest), next == moved, nowNs);
        }
    }

    /** Sorts by what is lacking, and equal ones by age. The list is almost sorted, because only one has moved. */
    private void sort() {
        for (int i = 1; i < open.size(); i++) {
            Grant moving = open.get(i);
            int to = i;
            for (; to > 0 && isBefore(moving, open.get(to - 1)); to--) {
                open.set(to, open.get(to - 1));
            }
            open.set(to, moving);
        }
    }

    private static boolean isBefore(Grant one, Grant other) {
        return one.remaining() != other.remaining() ? one.remaining() < other.remaining() : one.age < other.age;
    }

    private void assignInTurn(@Nullable Grant moved, long nowNs) {
        for (int inVain = 0; inVain < open.size() && !waits; inVain++) {
            Grant next = open.get(turn++ % open.size());
            long usable = usable(next);
            if (give(next, Math.min(free(), grantBytes()), next == moved, nowNs) && usable > grantBytes()) {
                inVain = -1;
            }
            turn = waits ? turn - 1 : turn; // it is the next one when there is room
        }
        turn = open.isEmpty() ? 0 : Math.floorMod(turn, open.size());
    }

    /** The usual size of a grant. */
    private long grantBytes() {
        return Math.min(window / GRANT_SHARE, longBytes / 4);
    }

    /** Grants at most {@code most} bytes to an open message; returns whether it did. */
    private boolean give(Grant grant, long most, boolean isAnnounced, long nowNs) {
        long usable = usable(grant);
        long least = Math.min(grantBytes(), grant.wanted - grant.limit());
        if (least <= 0 || grant.isStalled || usable < least) {
            return false; // the message has all it wants, or its reader has to make room
        }
        long bytes = Math.min(usable, most);
        if (bytes < least) {
            waits = true;
            return false;
        }
        if (grant.outstanding() == 0) {
            grant.movedNs = nowNs;
        }
        grant.raise(bytes);
        openBytes += bytes;
        if (!isAnnounced && !grant.isListed) {
            grant.isListed = true;
            raised.add(grant);
            hasRaised = true;
        }
        return true;
    }

    /** A round is as many bytes as the window has: narrows or widens the window at its end. */
    private void endRound(long fresh, long missing) {
        roundDatagrams++;
        roundMissing += (int) Math.min(missing, 1 << 16);
        roundBytes += fresh;
        if (roundBytes < window) {
            return;
        }
        if (open.size() > 1 && roundMissing * LOSS_SHARE > roundDatagrams) {
            hasNarrowed = true;
            window = Math.max(LEAST_WINDOW_BYTES, window * 7 / 10);
        } else if (waits) {
            window = Math.min(budget, window + (hasNarrowed ? LEAST_WINDOW_BYTES / GRANT_SHARE : window));
        }
        roundBytes = 0;
        roundDatagrams = 0;
        roundMissing = 0;
    }

    // ---- for tests

    /** How many bytes are granted and have not arrived, without those of stalled grants. */
    long outstandingBytes() {
        return openBytes + idleBytes;
    }

    long budgetBytes() {
        return budget;
    }

    long windowBytes() {
        return window;
    }

    int stallCount() {
        return stalls;
    }
}
