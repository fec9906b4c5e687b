package io.madeleine.mpi.device;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A hash table of entries with equal keys in the order in which they were added. Each bucket is a list in that order,
 * so that the first entry of a key is the oldest. The table grows with the number of entries and never shrinks: 16
 * bytes
 * per bucket.
 *
 * <p>Threading: guarded by the lock of the device.
 */
final class MatchTable<T> {
    private static final int FIRST_BUCKETS = 64;

    private @Nullable Link<T>[] heads = newBuckets(FIRST_BUCKETS);
    private @Nullable Link<T>[] tails = newBuckets(FIRST_BUCKETS);
    private int count;

    @SuppressWarnings({"unchecked", "rawtypes"}) // arrays of generic types
    private static <T> @Nullable Link<T>[] newBuckets(int size) {
        return new Link[size];
    }

    int count() {
        return count;
    }

    private static int bucket(long context, int source, int tag, int buckets) {
        long mixed = context * 0x9E3779B97F4A7C15L + source * 0xC2B2AE3D27D4EB4FL + tag * 0x165667B19E3779F9L;
        return (int) ((mixed ^ mixed >>> 29 ^ mixed >>> 43) & (buckets - 1));
    }

    /** Adds an entry behind all others of its key. */
    void add(Link<T> link, long context, int source, int tag, long sequence) {
        link.context = context;
        link.source = source;
        link.tag = tag;
        link.sequence = sequence;
        link.isIn = true;
        if (count > 2 * heads.length) {
            grow();
        }
        count++;
        append(link);
    }

    private void append(Link<T> link) {
        int at = bucket(link.context, link.source, link.tag, heads.length);
        Link<T> last = tails[at];
        link.previous = last;
        link.next = null;
        if (last == null) {
            heads[at] = link;
        } else {
            last.next = link;
        }
        tails[at] = link;
    }

    private void grow() {
        @Nullable Link<T>[] old = heads;
        @Nullable Link<T>[] newHeads = newBuckets(4 * old.length);
        tails = newBuckets(4 * old.length); // memory is short before anything has changed, or not at all
        heads = newHeads;
        for (Link<T> first : old) {
            Link<T> link = first;
            while (link != null) { // in order, so equal keys keep theirs
                Link<T> next = link.next;
                append(link);
                link = next;
            }
        }
    }

    /** The oldest entry with this key, or null. */
    @Nullable
    Link<T> first(long context, int source, int tag) {
        Link<T> link = heads[bucket(context, source, tag, heads.length)];
        while (link != null && !link.has(context, source, tag)) {
            link = link.next;
        }
        return link;
    }

    /** The entry with the same key that was added next, or null. */
    @Nullable
    Link<T> after(Link<T> link) {
        Link<T> later = link.next;
        while (later != null && !later.has(link.context, link.source, link.tag)) {
            later = later.next;
        }
        return later;
    }

    void remove(Link<T> link) {
        int at = bucket(link.context, link.source, link.tag, heads.length);
        Link<T> before = link.previous;
        Link<T> behind = link.next;
        if (before == null) {
            heads[at] = behind;
        } else {
            before.next = behind;
        }
        if (behind == null) {
            tails[at] = before;
        } else {
            behind.previous = before;
        }
        link.previous = null;
        link.next = null;
        link.isIn = false;
        count--;
    }

    /** Calls the action for each entry, in no particular order. */
    void forEach(Consumer<T> action) {
        for (Link<T> first : heads) {
            for (Link<T> link = first; link != null; link = link.next) {
                action.accept(link.owner);
            }
        }
    }
}
