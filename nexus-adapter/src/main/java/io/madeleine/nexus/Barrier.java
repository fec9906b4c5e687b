package io.madeleine.nexus;

import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.PeerFailedException;
import io.madeleine.nexus.wire.RequestLayout;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.BooleanSupplier;

/**
 * The barrier of all contexts: each notifies rank 0, which notifies all. A context may leave as soon as it is released,
 * when others have not got their release yet. So only rank 0 decides whether a context is missing, and it sends that
 * decision, too. Notices carry the number of the pass: one that failed because of its deadline or an interrupt, so that
 * its notices were not sent, is made up for by the next.
 *
 * <p>Threading: thread-safe; one thread of a context at a time may pass.
 */
final class Barrier {
    private static final int ARRIVED = RequestLayout.id("arrived");
    private static final int RELEASED = RequestLayout.id("released");
    private static final int ROOT = 0;
    private static final int NOBODY = -1;

    private final Node node;
    private final AtomicLongArray arrivals;
    private final AtomicLong releases = new AtomicLong(); // the number of the last pass that is over
    private final AtomicLong entries;
    private volatile int missed = NOBODY;

    Barrier(Node node, Endpoint system) {
        this.node = node;
        this.entries = new AtomicLong((long) node.generation() << Integer.SIZE);
        this.arrivals = new AtomicLongArray(node.size());
        system.nonThreaded("arrived", (_, request) -> {
            long number = request.getLong();
            if (node.nodes().isMember(request.remote()) && isOfThisContext(number)) {
                arrivals.accumulateAndGet(request.remote(), number, Math::max);
            }
        });
        system.nonThreaded("released", (_, request) -> {
            long number = request.getLong();
            if (request.remote() == ROOT && isOfThisContext(number)) {
                released(number, request.getInt());
            }
        });
    }

    /** Channels may keep notices of an earlier context that used them. */
    private boolean isOfThisContext(long number) {
        return number >>> Integer.SIZE == node.generation();
    }

    private void released(long number, int missing) {
        if (missing != NOBODY) {
            missed = missing;
        }
        releases.accumulateAndGet(number, Math::max);
    }

    void pass(Duration timeout) {
        long number = entries.incrementAndGet();
        long deadlineNs = System.nanoTime() + timeout.toNanos();
        send(ROOT, ARRIVED, new Arguments().putLong(number), deadlineNs);
        if (node.rank() == ROOT) {
            await(() -> isComplete(number) || missing(number) != NOBODY, number, deadlineNs);
            release(number, isComplete(number) ? NOBODY : missing(number), deadlineNs);
        }
        await(() -> releases.get() >= number || isRootGone(), number, deadlineNs);
        int gone = releases.get() >= number ? missed : ROOT;
        if (gone != NOBODY) {
            throw new PeerFailedException(gone, "the barrier cannot be passed: rank " + gone + " is gone");
        }
    }

    private void send(int rank, int handler, Arguments arguments, long deadlineNs) {
        arguments.sendBy(deadlineNs);
        try {
            node.send(rank, handler, arguments);
        } catch (DeadlineExceededException e) {
            throw new DeadlineExceededException(
                    "the barrier was not passed in time by rank " + node.rank() + ": rank " + rank
                            + " receives nothing, or too slowly",
                    e);
        }
    }

    /** Notifies all ranks, then throws if one could not be notified: it has died since it arrived, for instance. */
    private void release(long number, int missing, long deadlineNs) {
        MadeleineException failure = null;
        for (int rank = 0; rank < node.size(); rank++) {
            try {
                send(rank, RELEASED, new Arguments().putLong(number).putInt(missing), deadlineNs);
            } catch (MadeleineException e) {
                failure = failure == null ? e : failure;
            }
        }
        if (missing == NOBODY && failure != null) {
            throw failure;
        }
    }

    private void await(BooleanSupplier condition, long number, long deadlineNs) {
        long leftNs = Math.max(0, deadlineNs - System.nanoTime());
        if (!node.signal().await(condition, leftNs, TimeUnit.NANOSECONDS)) {
            throw new DeadlineExceededException("the barrier was not passed in time by rank " + node.rank()
                    + (node.rank() == ROOT
                            ? ": " + countArrived(number) + " of " + node.size() + " have arrived"
                            : ": rank " + ROOT + " has not said that all have arrived"));
        }
    }

    private int countArrived(long number) {
        int count = 0;
        for (int rank = 0; rank < arrivals.length(); rank++) {
            count += arrivals.get(rank) >= number ? 1 : 0;
        }
        return count;
    }

    private boolean isComplete(long number) {
        return countArrived(number) == arrivals.length();
    }

    /** A rank that is gone and has not arrived; {@link #NOBODY} if there is none. */
    private int missing(long number) {
        for (int rank = 0; rank < arrivals.length(); rank++) {
            if (rank != node.rank() && node.nodes().get(rank).isGone() && arrivals.get(rank) < number) {
                return rank;
            }
        }
        return NOBODY;
    }

    private boolean isRootGone() {
        return node.rank() != ROOT && node.nodes().get(ROOT).isGone();
    }
}
