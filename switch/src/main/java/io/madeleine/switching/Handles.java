package io.madeleine.switching;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * The message objects of one direction of a connection. Those that are free serve again, so that messages cost no
 * allocation; the others, which have not been closed, say, are left to the collector as new ones take their places.
 *
 * <p>An object that the beginning thread has closed itself serves again at once. One that another thread has closed, or
 * somebody has a completion of, waits until several messages have come between: a second {@code close}, or one more look
 * at the completion, by who does not know that it may serve again, does no harm then.
 *
 * <p>Threading: confined to whoever begins a message, which is one thread at a time.
 *
 * @param <H> the kind of the objects
 */
final class Handles<H extends MessageHandle> {
    /** How many objects are known at most. */
    static final int MOST = 8;

    /** Memory for the scratch words of so many objects is allocated together: it costs more than an object does. */
    private static final int WORDS = 64;

    private final Function<MemorySegment, H> maker;
    private final List<H> known = new ArrayList<>(MOST);
    private H last;
    private int lastAt;
    private MemorySegment words = MemorySegment.NULL;
    private long wordsUsed = WORDS;

    /**
     * One object, and more as they are needed.
     *
     * @param maker makes an object, to which it gives the eight bytes of native memory
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

    /** An object for a message that begins. */
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
