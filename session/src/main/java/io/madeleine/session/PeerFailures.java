package io.madeleine.session;

import io.madeleine.api.LossKind;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.Session.PeerFailureListener;
import io.madeleine.session.bootstrap.Exit;
import io.madeleine.session.bootstrap.OutOfMemoryRetry;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The dead peers of a session and the listeners for peer failures. The first reason for a peer counts, and each
 * listener is called once per peer.
 *
 * <p>Threading: thread-safe. The thread that reports a death calls the session's own {@link Sink} at once; a thread of
 * this object calls the user's listeners.
 */
final class PeerFailures implements AutoCloseable {
    private static final Logger LOGGER = System.getLogger(PeerFailures.class.getName());

    /**
     * The delay between a suspicion and its decision. Within it a peer may prove to have left, and its last messages
     * may arrive.
     */
    private static final long DOUBT_MS = 300;

    /**
     * The time that closing waits for decisions. Much longer than a decision takes, since a listener may be running or
     * the processors may be busy.
     */
    private static final long DECISION_MS = 3_000;

    /** The time that closing waits for listeners to be called. */
    private static final long TELL_MS = 1_000;

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Integer, Loss> dead = new LinkedHashMap<>();

    /** The dead peers that the session's own sink has not been told completely. */
    private final Set<Integer> unforwarded = new HashSet<>();

    private final List<PeerFailureListener> listeners = new ArrayList<>();
    private final Set<Integer> left = new HashSet<>();
    private final Map<Integer, Suspicion> suspected = new HashMap<>();
    private final Condition decided = lock.newCondition();
    private final ScheduledThreadPoolExecutor executor;
    private Sink sink = (_, _) -> {};
    private boolean patient;
    private volatile @Nullable Thread teller;

    /** The first loss that was noticed, and its reason. */
    private record Loss(LossKind kind, String reason) {}

    /**
     * Why a peer may be dead. It is certain if another process reports the death, or the peer has given this process
     * up; a broken connection is only a hint.
     */
    private record Suspicion(Loss loss, boolean certain) {}

    /** The session's own listener. */
    @FunctionalInterface
    interface Sink {
        /** A peer is dead. Called again for the same peer if an earlier call ran out of memory. */
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

    /** Records a death, unless it is known already. */
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
        receiver.peerDied(rank, loss.reason); // if this throws an OutOfMemoryError, the next report repeats it
        lock.lock();
        try {
            unforwarded.remove(rank);
        } finally {
            lock.unlock();
        }
    }

    /** Records a death completely, or not at all if memory runs out. Call it with the lock held. */
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
     * A connection to the peer was lost. The peer counts as dead unless it proves to have left within a moment: a
     * broken connection is noticed sooner than the peer's goodbye. Returns at once, even if the caller holds locks.
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

    /**
     * Another process reports the peer's death. Once the session is open, the decision is delayed for the peer's last
     * messages to arrive.
     */
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

    /**
     * The peer is alive and has lost its connection to this process. If this process has lost the connection, too, its
     * own observation tells more.
     */
    void gaveUp(int rank, String reason) {
        Loss loss;
        lock.lock();
        try {
            Suspicion own = suspected.get(rank);
            loss = own == null ? new Loss(LossKind.CONNECTION, reason) : own.loss;
            if (patient) {
                suspect(rank, new Suspicion(loss, true));
                return;
            }
        } finally {
            lock.unlock();
        }
        report(rank, loss);
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
            // the session is closed, and connections end for that reason
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
                if (suspicion != null) { // otherwise the peer has left or is known to be dead
                    report(rank, suspicion.loss);
                }
                return;
            } catch (OutOfMemoryError _) { // no other thread would decide: retry
                OutOfMemoryRetry.pause();
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

    /** The peer closed its session. */
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

    /** The session is open. From now on peers may have sent messages that are still to arrive. */
    void opened() {
        lock.lock();
        try {
            patient = true;
        } finally {
            lock.unlock();
        }
    }

    /** Sets the session's own listener and tells it the known deaths. */
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

    /** Adds a listener and tells it the known deaths. */
    void listen(PeerFailureListener listener) {
        lock.lock();
        try {
            listeners.add(listener);
            dead.forEach((rank, loss) -> tell(List.of(listener), rank, loss));
        } finally {
            lock.unlock();
        }
    }

    /**
     * Calls the listeners one after the other in a single task. If one of them closes the session, those behind it are
     * still called.
     */
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
        } catch (Throwable e) { // the other listeners have to be called all the same
            LOGGER.log(Level.WARNING, "a listener of peer failures failed", e);
        } finally {
            boolean _ = Thread.interrupted(); // an interrupt from this listener must not reach the next one
        }
    }

    private void execute(Runnable notification) {
        try {
            executor.execute(notification);
        } catch (RejectedExecutionException _) {
            // the session is closed, and its listeners are no longer called
        }
    }

    /**
     * Waits until each suspected peer is known to be dead or to have left. So a thread that learns of a loss in a wait,
     * and closes the session because of it, does not keep the listeners from being called. Bounded by a few seconds.
     * Returns at once in a listener.
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

    /** Calls the listeners for known deaths and drops suspicions. */
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
