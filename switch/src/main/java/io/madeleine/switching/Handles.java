package io.madeleine.switching;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * The message objects of one direction of a connection. Free objects are reused, so that messages cost no allocation.
 * An object that stays in use, because its user never closed it, for instance, is replaced by a new one and left to the
 * garbage collector.
 *
 * <p>An object that the thread now beginning a message has closed itself is reused at once. An object that another
 * thread closed, or whose completion the program has, is reused only after several other messages: a late second {@code
 * close}, or a late look at the completion, then does no harm.
 *
 * <p>Threading: confined to the thread that begins a message, one at a time.
 *
 * @param <H> the kind of the objects
 */
final class Handles<H extends MessageHandle> {
    /** The largest number of objects that are kept for reuse. */
    static final int MOST = 8;

    /** The number of scratch words that are allocated together: an allocation costs more than an object does. */
    private static final int WORDS = 64;

    private final Function<MemorySegment, H> maker;
    private final List<H> known = new ArrayList<>(MOST);
    private H last;
    private int lastAt;
    private MemorySegment words = MemorySegment.NULL;
    private long wordsUsed = WORDS;

    /**
     * Starts with one object and makes more as needed.
     *
     * @param maker makes an object from eight bytes of native memory for it
     */
    Handles(Function<MemorySegment, H> maker) {
        this.maker = maker;
        this.last = make();
        known.add(last);
    }

    private H make() {
        if (wordsUsed == WORDS) {
            words = Arena.ofAuto().allocate((long) WORDS * Long.BYTES, Long.BYTES);
            wordsUsed = 0;
        }
        return maker.apply(words.asSlice(wordsUsed++ * Long.BYTES, Long.BYTES));
    }

    /** Returns an object for a message that begins. */
    H take() {
        H handle = last;
        if (handle.isFreeFor(Thread.currentThread().threadId())) {
            return handle;
        }
        return takeOther();
    }

    private H takeOther() {
        if (known.size() < MOST) {
            lastAt = known.size();
            last = make();
            known.add(last);
            return last;
        }
        for (int i = 1; i <= MOST; i++) {
            int at = (lastAt + i) % MOST;
            if (known.get(at).isFree()) {
                return use(at);
            }
        }
        int at = (lastAt + 1) % MOST;
        known.set(at, make());
        return use(at);
    }

    private H use(int at) {
        lastAt = at;
        last = known.get(at);
        return last;
    }
}
