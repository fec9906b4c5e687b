package io.madeleine.session;

import io.madeleine.api.LossKind;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.Session.PeerFailureListener;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Who of the peers is dead, and who wants to know. The first reason seen counts; each listener hears of each peer once.
 *
 * <p>Threading: thread-safe. The session itself is told at once, by the thread that brings the news; the user's
 * listeners by a thread of their own.
 */
final class PeerFailures implements AutoCloseable {
    private static final Logger LOGGER = System.getLogger(PeerFailures.class.getName());

    /** How long a peer that is lost may turn out to have left, and what it sent last has to come in, before it is given up. */
    private static final long DOUBT_MS = 300;

    /** How long a close waits for doubts to end: much longer, since a listener may be at work, or the processors are busy. */
    private static final long DECISION_MS = 3_000;

    /** How long a close waits for the listeners to hear what is known. */
    private static final long TELL_MS = 1_000;

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Integer, Loss> dead = new LinkedHashMap<>();

    /** Of them those of which the session itself has not been told to the end. */
    private final Set<Integer> unforwarded = new HashSet<>();

    private final List<PeerFailureListener> listeners = new ArrayList<>();
    private final Set<Integer> left = new HashSet<>();
    private final Map<Integer, Suspicion> suspected = new HashMap<>();
    private final Condition decided = lock.newCondition();
    private final ScheduledThreadPoolExecutor executor;
    private Sink sink = (_, _) -> {};
    private boolean patient;
    private volatile @Nullable Thread teller;

    /** What was lost, as far as was seen first, and why. */
    private record Loss(LossKind kind, String reason) {}

    /** Why a peer is taken for dead, and whether somebody says so who knows; a connection that broke is a hint only. */
    private record Suspicion(Loss loss, boolean certain) {}

    /** The session's own interest. */
    @FunctionalInterface
    interface Sink {
        /** A peer is dead. */
        void peerDied(int rank, String reason);
    }

    PeerFailures(String sessionName) {
        executor = new ScheduledThreadPoolExecutor(
                1,
                Thread.ofPlatform()
                        .daemon()
                        .name("madeleine-events-" + sessionName)
                        .factory());
        executor.setKeepAliveTime(1, TimeUnit.SECONDS);
        executor.allowCoreThreadTimeOut(true);
        executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    /** Notes a death, unless it is known. */
    void report(int rank, String reason) {
        report(rank, new Loss(LossKind.PEER, reason));
    }

    private void report(int rank, Loss loss) {
        Sink receiver;
        lock.lock();
        try {
            if (!dead.containsKey(rank)) {
                note(rank, loss);
            } else if (!unforwarded.contains(rank)) {
                return;
            }
            receiver = sink;
        } finally {
            lock.unlock();
        }
        receiver.peerDied(rank, loss.reason); // once more when it is reported again, if memory has been short
        lock.lock();
        try {
            unforwarded.remove(rank);
        } finally {
            lock.unlock();
        }
    }

    /** All of it or, for want of memory, nothing. Under the lock. */
    private void note(int rank, Loss loss) {
        List<PeerFailureListener> hearers = List.copyOf(listeners);
        unforwarded.add(rank);
        dead.put(rank, loss);
        try {
            tell(hearers, rank, loss);
        } catch (OutOfMemoryError e) {
            dead.remove(rank);
            throw e;
        }
        decide(rank);
    }

    /**
     * A connection to the peer was lost. That is a death unless the news comes soon that the peer left: a connection
     * can break faster than news travel. Returns at once, whatever locks the caller holds.
     */
    void suspect(int rank, LossKind kind, String reason) {
        lock.lock();
        try {
            if (!left.contains(rank) && !suspected.containsKey(rank)) {
                suspect(rank, new Suspicion(new Loss(kind, reason), false));
            }
        } finally {
            lock.unlock();
        }
    }

    /** Somebody says that the peer is dead. Once the session is open, what the peer sent last has a moment to come in. */
    void notice(int rank, String reason) {
        lock.lock();
        try {
            if (patient) {
                suspect(rank, new Suspicion(new Loss(LossKind.PEER, reason), true));
                return;
            }
        } finally {
            lock.unlock();
        }
        report(rank, reason);
    }

    private void suspect(int rank, Suspicion suspicion) {
        if (dead.containsKey(rank)) {
            return;
        }
        try {
            if (!suspected.containsKey(rank)) {
                executor.schedule(() -> decideOn(rank), DOUBT_MS, TimeUnit.MILLISECONDS);
            }
            suspected.merge(rank, suspicion, (before, now) -> before.certain ? before : now);
        } catch (RejectedExecutionException _) {
            // the session is closed, which is why connections end
        }
    }

    private void decide(int rank) {
        if (suspected.remove(rank) != null) {
            decided.signalAll();
        }
    }

    private void decideOn(int rank) {
        Suspicion suspicion = null;
        while (true) {
            try {
                if (suspicion == null) {
                    suspicion = suspicionOf(rank);
                }
                if (suspicion != null) { // else it has left, or is known to be dead
                    report(rank, suspicion.loss);
                }
                return;
            } catch (OutOfMemoryError _) { // nobody else decides
                ShortMemory.pause();
            }
        }
    }

    private @Nullable Suspicion suspicionOf(int rank) {
        lock.lock();
        try {
            return suspected.get(rank);
        } finally {
            lock.unlock();
        }
    }

    /** The peer left of its own will. */
    void left(int rank) {
        lock.lock();
        try {
            left.add(rank);
            Suspicion suspicion = suspected.get(rank);
            if (suspicion != null && !suspicion.certain) {
                decide(rank);
            }
        } finally {
            lock.unlock();
        }
    }

    /** The session is open: from now on peers send. */
    void opened() {
        lock.lock();
        try {
            patient = true;
        } finally {
            lock.unlock();
        }
    }

    /** Sets the session's own interest and tells it what is known. */
    void forwardTo(Sink receiver) {
        Map<Integer, Loss> known;
        lock.lock();
        try {
            sink = receiver;
            known = new LinkedHashMap<>(dead);
        } finally {
            lock.unlock();
        }
        known.forEach((rank, loss) -> receiver.peerDied(rank, loss.reason));
    }

    /** Adds a listener and tells it what is known. */
    void listen(PeerFailureListener listener) {
        lock.lock();
        try {
            listeners.add(listener);
            dead.forEach((rank, loss) -> tell(List.of(listener), rank, loss));
        } finally {
            lock.unlock();
        }
    }

    /** The first death, in words. */
    Optional<String> first() {
        lock.lock();
        try {
            return dead.entrySet().stream()
                    .findFirst()
                    .map(death -> Exit.sentence(death.getKey(), "died", death.getValue().reason));
        } finally {
            lock.unlock();
        }
    }

    /** Tells them one after the other in one go: if one closes the session, those behind it hear of the death all the same. */
    private void tell(List<PeerFailureListener> hearers, int rank, Loss loss) {
        execute(() -> {
            teller = Thread.currentThread();
            hearers.forEach(hearer -> tell(hearer, rank, loss));
            LOGGER.log(
                    Level.DEBUG,
                    () -> Exit.sentence(rank, "is given up", loss.reason) + "; lost is " + loss.kind.noun());
        });
    }

    private static void tell(PeerFailureListener hearer, int rank, Loss loss) {
        try {
            hearer.peerFailed(
                    rank, new PeerFailedException(rank, loss.kind, Exit.sentence(rank, "is gone", loss.reason)));
        } catch (RuntimeException | Error e) { // the others are to hear of it all the same
            LOGGER.log(Level.WARNING, "a listener of peer failures failed", e);
        } finally {
            boolean _ = Thread.interrupted(); // what it leaves is not meant for the next one
        }
    }

    private void execute(Runnable news) {
        try {
            executor.execute(news);
        } catch (RejectedExecutionException _) {
            // the session is closed: nobody is told any more
        }
    }

    /**
     * Waits until it is known of each suspected peer whether it died or left: who was told of a loss by a wait, and closes
     * the session for it, hears of the death like everybody. Bounded by some seconds; does not wait in a listener.
     */
    void awaitDecisions() {
        if (teller == Thread.currentThread()) {
            return;
        }
        lock.lock();
        try {
            long leftNs = TimeUnit.MILLISECONDS.toNanos(DECISION_MS);
            while (!suspected.isEmpty() && leftNs > 0) {
                leftNs = decided.awaitNanos(leftNs);
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }

    /** Lets listeners hear what is known, and drops what is only suspected. */
    @Override
    public void close() {
        executor.shutdown();
        if (teller != Thread.currentThread()) {
            try {
                boolean _ = executor.awaitTermination(TELL_MS, TimeUnit.MILLISECONDS);
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
