package io.madeleine.mpi.device;

import io.madeleine.mpi.MpiFault;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Looks for messages that have arrived and that no receive has matched.
 *
 * <p>Threading: thread-safe.
 */
final class Probing {
    private final Peers peers;
    private final Matching matching;
    private final Waiting waiting;

    /** The number of threads that wait for a message to probe. */
    private final AtomicInteger probing = new AtomicInteger();

    Probing(Peers peers, Matching matching, Waiting waiting) {
        this.peers = peers;
        this.matching = matching;
        this.waiting = waiting;
    }

    /** The oldest message that has arrived and that no receive has matched; null if there is none. */
    @Nullable
    Envelope peek(int source, long context, int tag) {
        matching.lock.lock();
        try {
            Arrived arrived = matching.find(context, source, tag);
            return arrived == null ? null : arrived.envelope();
        } finally {
            matching.lock.unlock();
        }
    }

    /**
     * As {@link #peek}; no receive or other probe finds the message any more: {@link Receiving#receiveProbed} must
     * follow.
     */
    @Nullable
    Arrived take(int source, long context, int tag) {
        matching.lock.lock();
        try {
            Arrived arrived = matching.find(context, source, tag);
            if (arrived != null) {
                matching.remove(arrived);
            }
            return arrived;
        } finally {
            matching.lock.unlock();
        }
    }

    /**
     * As {@link #peek}, waiting until there is a message.
     *
     * @param members the processes that may send if {@code source} is {@link Device#ANY_SOURCE}
     * @throws MpiFault if there is none and one that may send is lost
     */
    Envelope awaitPeek(int source, long context, int tag, IntPredicate members) {
        while (true) {
            Envelope envelope = peek(source, context, tag);
            if (envelope != null) {
                return envelope;
            }
            awaitArrival(source, context, tag, members);
        }
    }

    /** As {@link #take}, waiting as {@link #awaitPeek} does. */
    Arrived awaitTake(int source, long context, int tag, IntPredicate members) {
        while (true) {
            Arrived arrived = take(source, context, tag);
            if (arrived != null) {
                return arrived;
            }
            awaitArrival(source, context, tag, members);
        }
    }

    private void awaitArrival(int source, long context, int tag, IntPredicate members) {
        probing.incrementAndGet();
        try {
            waiting.awaitCondition(
                    () -> peek(source, context, tag) != null || peers.lossAmong(source, members) != null, source);
        } finally {
            probing.decrementAndGet();
        }
        if (peek(source, context, tag) == null) {
            checkLost(source, members);
        }
    }

    /**
     * Throws if a process is lost of which a message may be expected.
     *
     * @param members the processes that may send if {@code source} is {@link Device#ANY_SOURCE}
     */
    void checkLost(int source, IntPredicate members) {
        MpiFault lost = peers.lossAmong(source, members);
        if (lost != null) {
            throw lost;
        }
    }

    /** A message came that nobody has asked for. */
    void arrived() {
        if (probing.get() != 0) {
            waiting.signal();
        }
    }
}
