package io.madeleine.nexus;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
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
    private static final Map<Channel, NextContext> LATEST = Collections.synchronizedMap(new WeakHashMap<>());

    private final List<IncomingMessage> kept = new ArrayList<>();
    private @Nullable Consumer<IncomingMessage> taker;

    /**
     * Makes this the keeper of a channel, after a context has begun to receive from it.
     *
     * @param context takes what the keeper before this one has for that context
     */
    void follow(Channel channel, Consumer<IncomingMessage> context) {
        NextContext before = LATEST.put(channel, this);
        if (before != null) {
            before.giveTo(context);
        }
    }

    private void giveTo(Consumer<IncomingMessage> context) {
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
