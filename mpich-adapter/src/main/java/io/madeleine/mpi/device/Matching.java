package io.madeleine.mpi.device;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Posted receives and unexpected messages. Posted receives are found by their key, wildcards included; of up to four
 * that match, the oldest wins. Unexpected messages have two keys, with their tag and with any tag; a receive from any
 * source looks up each source and takes the oldest. So matching takes as long with many entries as with few.
 *
 * <p>Threading: its users hold {@link #lock}.
 */
final class Matching {
    private static final int KEPT_OBJECTS = 4096;

    final SpinLock lock = new SpinLock();
    final KeptMemory memory = new KeptMemory();

    private final int ranks;
    private final MatchTable<ReceiveOperation> posted = new MatchTable<>();
    private final MatchTable<Arrived> byTag = new MatchTable<>();
    private final MatchTable<Arrived> bySource = new MatchTable<>();
    private long sequence;

    /** How many posted receives take any source, and how many any tag. */
    private int anySources;

    private int anyTags;

    private @Nullable Arrived free;
    private int freeCount;

    Matching(int ranks) {
        this.ranks = ranks;
    }

    int postedCount() {
        return posted.count();
    }

    /** How many messages are in the queue; also without the lock. */
    int keptCount() {
        return byTag.count();
    }

    /** How many messages of these contexts are in the queue. */
    int arrivedCount(LongPredicate contexts) {
        int[] count = {0};
        byTag.forEach(arrived -> count[0] += contexts.test(arrived.byTag.context) ? 1 : 0);
        return count[0];
    }

    // ---- posted receives

    void post(ReceiveOperation receive) {
        anySources += receive.wantedSource() == Wildcards.ANY_SOURCE ? 1 : 0;
        anyTags += receive.wantedTag() == Wildcards.ANY_TAG ? 1 : 0;
        posted.add(receive.link, receive.context(), receive.wantedSource(), receive.wantedTag(), sequence++);
    }

    private void remove(Link<ReceiveOperation> link) {
        anySources -= link.source == Wildcards.ANY_SOURCE ? 1 : 0;
        anyTags -= link.tag == Wildcards.ANY_TAG ? 1 : 0;
        posted.remove(link);
    }

    /** Removes a posted receive; false if it is not posted any more. */
    boolean withdraw(ReceiveOperation receive) {
        if (!receive.link.isIn) {
            return false;
        }
        remove(receive.link);
        return true;
    }

    /** Takes the oldest posted receive that matches the envelope, or returns null. */
    @Nullable
    ReceiveOperation takePosted(long context, int source, int tag) {
        Link<ReceiveOperation> found = posted.first(context, source, tag);
        if (anySources + anyTags > 0) {
            if (anySources > 0) {
                found = older(found, posted.first(context, Wildcards.ANY_SOURCE, tag));
            }
            if (anyTags > 0) {
                found = older(found, posted.first(context, source, Wildcards.ANY_TAG));
            }
            if (anySources > 0 && anyTags > 0) {
                found = older(found, posted.first(context, Wildcards.ANY_SOURCE, Wildcards.ANY_TAG));
            }
        }
        if (found == null) {
            return null;
        }
        remove(found);
        return found.owner;
    }

    private static <T> @Nullable Link<T> older(@Nullable Link<T> one, @Nullable Link<T> other) {
        if (one == null || other == null) {
            return one == null ? other : one;
        }
        return one.sequence < other.sequence ? one : other;
    }

    /** Removes and returns all posted receives that the loss of a rank concerns. */
    List<ReceiveOperation> takePostedOf(int rank) {
        List<ReceiveOperation> concerned = new ArrayList<>();
        posted.forEach(receive -> {
            if (receive.concerns(rank)) {
                concerned.add(receive);
            }
        });
        concerned.forEach(receive -> remove(receive.link));
        return concerned;
    }

    List<Operation> allPosted() {
        List<Operation> all = new ArrayList<>();
        posted.forEach(all::add);
        return all;
    }

    // ---- unexpected messages

    Arrived newArrived() {
        Arrived taken = free;
        if (taken == null) {
            return new Arrived();
        }
        free = taken.nextFree;
        taken.nextFree = null;
        freeCount--;
        return taken;
    }

    void keep(Arrived arrived, long context) {
        long place = sequence++;
        byTag.add(arrived.byTag, context, arrived.source, arrived.tag, place);
        bySource.add(arrived.bySource, context, arrived.source, Wildcards.ANY_TAG, place);
    }

    /** Finds the oldest unexpected message for these wishes, or returns null. */
    @Nullable
    Arrived find(long context, int source, int tag) {
        if (byTag.count() == 0) {
            return null;
        }
        Link<Arrived> found = null;
        if (source != Wildcards.ANY_SOURCE) {
            found = first(context, source, tag);
        } else {
            for (int each = 0; each < ranks; each++) {
                found = older(found, first(context, each, tag));
            }
        }
        return found == null ? null : found.owner;
    }

    private @Nullable Link<Arrived> first(long context, int source, int tag) {
        return tag == Wildcards.ANY_TAG ? bySource.first(context, source, tag) : byTag.first(context, source, tag);
    }

    /** The unexpected message to which its sender gave this identity, or null. */
    @Nullable
    Arrived find(long context, int source, int tag, int sender) {
        Link<Arrived> link = byTag.first(context, source, tag);
        while (link != null && link.owner.sender != sender) {
            link = byTag.after(link);
        }
        return link == null ? null : link.owner;
    }

    /** The message with the same context, source and tag that arrived next, or null. */
    @Nullable
    Arrived after(Arrived arrived) {
        Link<Arrived> link = byTag.after(arrived.byTag);
        return link == null ? null : link.owner;
    }

    /** Describes the messages of these contexts in the queue, at most this many. */
    List<Pending> describeArrived(int most, LongPredicate contexts) {
        List<Pending> all = new ArrayList<>();
        byTag.forEach(arrived -> {
            if (all.size() < most && contexts.test(arrived.byTag.context)) {
                all.add(new Pending(
                        arrived.source,
                        arrived.byTag.context,
                        "a message of " + arrived.bytes + " bytes from rank " + arrived.source + " with tag "
                                + arrived.tag));
            }
        });
        return all;
    }

    /** The sends of this process to itself that no receive has matched. */
    List<Operation> ownSends() {
        List<Operation> all = new ArrayList<>();
        byTag.forEach(arrived -> {
            if (arrived.own != null) {
                all.add(arrived.own);
            }
        });
        return all;
    }

    void remove(Arrived arrived) {
        byTag.remove(arrived.byTag);
        bySource.remove(arrived.bySource);
    }

    /** Drops all requests to send of a lost rank: their bodies never come. */
    void dropRequestsOf(int rank) {
        List<Arrived> lost = new ArrayList<>();
        byTag.forEach(arrived -> {
            if (arrived.source == rank && arrived.stage == Arrived.Stage.REQUESTED) {
                lost.add(arrived);
            }
        });
        lost.forEach(arrived -> {
            remove(arrived);
            give(arrived);
        });
    }

    /** Takes back an object that nobody uses any more. */
    void give(Arrived arrived) {
        KeptMemory.Block block = arrived.block;
        if (block != null) {
            memory.give(block);
            arrived.block = null;
        }
        arrived.own = null;
        arrived.claimedBy = null;
        if (freeCount < KEPT_OBJECTS) {
            freeCount++;
            arrived.nextFree = free;
            free = arrived;
        }
    }
}
