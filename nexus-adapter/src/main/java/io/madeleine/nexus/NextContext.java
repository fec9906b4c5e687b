package io.madeleine.nexus;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The messages of a channel for its next context, which this process has not opened yet: what comes from a process
 * behind the goodbye of its earlier context. They stay begun and untouched, so each sender has at most one here, and
 * its further ones wait on their way.
 *
 * <p>Ownership: the messages become those of the context that takes them, or end with the session.
 *
 * <p>Threading: thread-safe.
 */
final class NextContext {
    /** The channel's handler refers to them; a strong reference to kept messages would keep their channel for good. */
    private static final Map<Channel, WeakReference<NextContext>> LATEST =
            Collections.synchronizedMap(new WeakHashMap<>());

    private final List<IncomingMessage> kept = new ArrayList<>();
    private @Nullable Consumer<IncomingMessage> taker;

    /**
     * Makes this the keeper of a channel, of which a context is about to become the handler. Returns the keeper before
     * this one, which has the messages for that context; null if it is the channel's first.
     */
    @Nullable
    NextContext follow(Channel channel) {
        WeakReference<NextContext> before = LATEST.put(channel, new WeakReference<>(this));
        return before == null ? null : before.get();
    }

    /** Gives the messages to the context that they are for, which receives from the channel now. */
    void giveTo(Consumer<IncomingMessage> context) {
        List<IncomingMessage> before;
        synchronized (this) {
            taker = context; // one that comes later is another sender's
            before = List.copyOf(kept);
            kept.clear();
        }
        before.forEach(context);
    }

    /** Keeps a message, or hands it to the next context if that is open by now. */
    void keep(IncomingMessage begun) {
        Consumer<IncomingMessage> context;
        synchronized (this) {
            context = taker;
            if (context == null) {
                kept.add(begun);
            }
        }
        if (context != null) {
            context.accept(begun);
        }
    }
}
