package io.madeleine.session.bootstrap;

import io.madeleine.api.LaunchedProcess;
import io.madeleine.api.SessionException;
import io.madeleine.api.WaitInterruptedException;
import io.madeleine.session.config.HostAddress;
import io.madeleine.session.config.Membership;
import io.madeleine.session.config.Timeouts;
import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A process's end of the control connection to a {@link BootstrapServer}.
 *
 * <p>Threading: thread-safe; one daemon thread reads.
 */
final class BootstrapClient implements Bootstrap {
    private static final long ANSWER_NS = TimeUnit.SECONDS.toNanos(2);
    private static final long HANG_UP_MS = 1_000;
    private static final long EXIT_MS = 500;

    private final Membership membership;
    private final ControlConnection connection;
    private final ControlMessage.Welcome welcome;
    private final boolean serverIsRemote;
    private final Timeouts timeouts;
    private final Thread reader;
    private final Thread exitHook;
    private final RemoteLaunches launches = new RemoteLaunches();
    private final CountDownLatch serverExits = new CountDownLatch(1);

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final List<ControlMessage.Death> deaths = new ArrayList<>();
    private final List<ControlMessage.PeerGaveUp> peersThatGaveUp = new ArrayList<>();
    private @Nullable Events events;
    private @Nullable EndListener endListener;
    private ControlMessage.@Nullable SessionAbort end;
    private @Nullable String failure;
    private @Nullable String newsLost;
    private @Nullable String givenUp;
    private @Nullable String missing;
    private String exchangeKey = "";
    private List<byte[]> exchangeValues = List.of();
    private boolean exchangeComplete;
    private boolean serverLeft;
    private boolean closed;

    // used by the reader thread alone
    private @Nullable ControlMessage unhandled;
    private final SignsOfLife signs;

    private BootstrapClient(
            Membership membership, ControlConnection connection, ControlMessage.Welcome welcome, Timeouts timeouts) {
        this.membership = membership;
        this.connection = connection;
        this.welcome = welcome;
        this.serverIsRemote = !welcome.serverHost().equals(HostKey.ofThisNetwork());
        this.timeouts = timeouts;
        this.signs = new SignsOfLife(timeouts.peerNs(), System.nanoTime());
        this.reader = Thread.ofPlatform()
                .daemon()
                .name("madeleine-control-" + membership.name() + "-" + membership.rank())
                .unstarted(this::readAll);
        OutOfMemoryRetry.prepare();
        this.exitHook = Thread.ofPlatform().name("madeleine-exit").unstarted(this::tellExit);
    }

    /** Joins the session at the given address. Retries until the deadline, since the server may start later. */
    static BootstrapClient join(Membership membership, HostAddress server, Timeouts timeouts, long deadlineNs) {
        ControlConnector.Joined joined = ControlConnector.join(server, membership, timeouts, deadlineNs);
        BootstrapClient client = new BootstrapClient(membership, joined.connection(), joined.welcome(), timeouts);
        client.reader.start();
        try {
            Runtime.getRuntime().addShutdownHook(client.exitHook);
        } catch (IllegalStateException _) {
            client.tellExit(); // this JVM is already shutting down
        }
        return client;
    }

    /**
     * Announces the exit, so that other processes can distinguish it from a crash. The server tells them only when the
     * connection ends, since a shutdown hook of the user may still close the session.
     */
    private void tellExit() {
        connection.trySend(new ControlMessage.Exiting(membership.rank()));
        if (welcome.serverRank() != membership.rank()) {
            return;
        }
        try {
            // This process runs the server, which must tell the other processes before the JVM halts.
            boolean _ = serverExits.await(EXIT_MS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private void forgetExit() {
        try {
            Runtime.getRuntime().removeShutdownHook(exitHook);
        } catch (IllegalStateException _) {
            // this JVM is already shutting down
        }
    }

    @Override
    public String sessionId() {
        return welcome.sessionId();
    }

    @Override
    public void listen(Events listener) {
        List<ControlMessage.Death> before;
        List<ControlMessage.PeerGaveUp> gaveUpBefore;
        String lostBefore;
        String givenUpBefore;
        String failedBefore;
        lock.lock();
        try {
            events = listener;
            failedBefore = failure;
            before = List.copyOf(deaths);
            gaveUpBefore = List.copyOf(peersThatGaveUp);
            lostBefore = newsLost;
            givenUpBefore = givenUp;
        } finally {
            lock.unlock();
        }
        if (failedBefore != null) {
            listener.cannotOpen(failedBefore);
        }
        before.forEach(death -> listener.peerDied(death.rank(), death.reason()));
        gaveUpBefore.forEach(peer -> listener.peerGaveUp(peer.rank(), peer.reason()));
        if (givenUpBefore != null) {
            listener.givenUp(givenUpBefore);
        }
        if (lostBefore != null) {
            listener.newsLost(lostBefore);
        }
    }

    @Override
    public List<byte[]> exchange(String key, byte[] value, long deadlineNs) {
        update(() -> {
            exchangeKey = key;
            exchangeValues = new ArrayList<>(Collections.nCopies(membership.size(), new byte[0]));
            exchangeComplete = false;
        });
        // Sent without the lock, as the question below: the reader must be able to receive meanwhile, or client and
        // server could block each other.
        connection.trySend(new ControlMessage.Put(key, value));
        try {
            Optional<List<byte[]>> values = awaitValues(deadlineNs);
            if (values.isPresent()) {
                return values.get();
            }
            update(() -> missing = null);
            connection.send(new ControlMessage.MissingQuery(key));
            return valuesOrWhoIsMissing(key);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new WaitInterruptedException(membership + ": interrupted while waiting for the other processes", e);
        } catch (IOException e) {
            throw new SessionException(
                    membership + ": " + failureOr("the control connection failed: " + e.getMessage()), e);
        }
    }

    private String failureOr(String otherwise) {
        lock.lock();
        try {
            return failure == null ? otherwise : failure;
        } finally {
            lock.unlock();
        }
    }

    /** Waits for the values of the exchange; empty if it is not complete by the deadline. */
    private Optional<List<byte[]>> awaitValues(long deadlineNs) throws InterruptedException {
        lock.lock();
        try {
            while (!exchangeComplete) {
                if (failure != null) {
                    throw new SessionException(membership + ": " + failure);
                }
                long leftNs = deadlineNs - System.nanoTime();
                if (leftNs <= 0) {
                    return Optional.empty();
                }
                changed.awaitNanos(leftNs);
            }
            return Optional.of(List.copyOf(exchangeValues));
        } finally {
            lock.unlock();
        }
    }

    /** The values, if the last one arrives while the server is being asked; otherwise fails with its answer. */
    private List<byte[]> valuesOrWhoIsMissing(String key) throws InterruptedException {
        lock.lock();
        try {
            String who = awaitAnswer();
            if (!exchangeComplete) {
                throw new SessionException(membership + ": not all processes have " + key + " within "
                        + timeouts.openBound() + ": " + who);
            }
            return List.copyOf(exchangeValues);
        } finally {
            lock.unlock();
        }
    }

    private String awaitAnswer() throws InterruptedException {
        long deadlineNs = System.nanoTime() + ANSWER_NS;
        while (missing == null && failure == null && !exchangeComplete) {
            long leftNs = deadlineNs - System.nanoTime();
            if (leftNs <= 0) {
                return "and the bootstrap server does not answer";
            }
            changed.awaitNanos(leftNs);
        }
        return missing != null ? missing : "" + failure;
    }

    private void readAll() {
        try {
            connection.receiveTimeoutMs(signs.waitMs());
            while (true) {
                try {
                    readNext();
                } catch (OutOfMemoryError _) { // receive() keeps what has arrived, so the message can be read again
                    OutOfMemoryRetry.pause();
                }
            }
        } catch (IOException e) {
            lostAtLast(e);
        } catch (RuntimeException | Error e) {
            // A listener failed, and this thread ends: waiting threads and listeners have to learn of it.
            lostAtLast(e);
            throw e;
        }
    }

    /**
     * Reads and handles the next message. The message stays in {@code unhandled} until it has been handled, so that a
     * retry after an OutOfMemoryError handles it again.
     */
    private void readNext() throws IOException {
        long beganNs = System.nanoTime();
        ControlMessage next = unhandled;
        if (next == null) {
            next = connection.receive().orElse(null);
            unhandled = next;
        }
        long nowNs = System.nanoTime();
        if (next != null) {
            signs.heard(nowNs);
            handle(next);
            unhandled = null;
        } else {
            signs.heardNothing(beganNs, nowNs);
        }
        if (serverIsRemote) {
            if (signs.areMissing(nowNs)) {
                throw new IOException(signs.whatIsMissing(nowNs));
            }
            connection.beatIfIdle(nowNs, signs.dueAfterNs());
        }
    }

    /**
     * Reports the loss of the connection, retrying while memory is short: no other thread would tell those who wait.
     */
    private void lostAtLast(Throwable why) {
        while (true) {
            try {
                lost(reason(why));
                return;
            } catch (OutOfMemoryError _) {
                OutOfMemoryRetry.pause();
            }
        }
    }

    private static String reason(Throwable why) {
        return switch (why) {
            case EOFException _ -> "it closed the connection";
            case IOException e -> e.getMessage() == null ? e.toString() : e.getMessage();
            default -> "its messages can no longer be handled: " + why;
        };
    }

    private void handle(ControlMessage message) throws IOException {
        switch (message) {
            case ControlMessage.Value value -> value(value);
            case ControlMessage.Complete(String key) -> update(() -> exchangeComplete |= key.equals(exchangeKey));
            case ControlMessage.MissingReply(String _, String who) -> update(() -> missing = who);
            case ControlMessage.Heartbeat() -> {}
            case ControlMessage.Left(int rank) -> left(rank);
            case ControlMessage.Death death -> died(death);
            case ControlMessage.PeerGaveUp peer -> gaveUp(peer);
            case ControlMessage.OpenFailed(int rank, String reason) ->
                cannotOpen("rank " + rank + " could not open the session: " + reason);
            case ControlMessage.SessionAbort all -> ended(all);
            case ControlMessage.Launched launched -> launches.launched(launched);
            case ControlMessage.LaunchedEnded ended -> launches.ended(ended);
            case ControlMessage.Exiting(int _) -> serverExits.countDown();
            default -> throw new IOException("it sent a message that only a process may send: " + message.kind());
        }
    }

    private void ended(ControlMessage.SessionAbort all) {
        EndListener listener;
        lock.lock();
        try {
            if (end != null && end != all) {
                return;
            }
            fail(all.toString());
            end = all;
            changed.signalAll();
            listener = endListener;
        } finally {
            lock.unlock();
        }
        if (listener != null) {
            listener.ended(all);
        }
    }

    private void left(int rank) {
        update(() -> serverLeft |= rank == welcome.serverRank());
        cannotOpen("rank " + rank + " left before the session was open");
        Events listener = events();
        if (listener != null) {
            listener.peerLeft(rank);
        }
    }

    /** Without effect once the session is open. */
    private void cannotOpen(String reason) {
        update(() -> fail(reason));
        Events listener = events();
        if (listener != null) {
            listener.cannotOpen(reason);
        }
    }

    private void value(ControlMessage.Value value) throws IOException {
        lock.lock();
        try {
            if (!value.key().equals(exchangeKey) || value.rank() < 0 || value.rank() >= exchangeValues.size()) {
                throw new IOException("it sent a value of the exchange \"" + value.key() + "\" for rank " + value.rank()
                        + ": expected the exchange \"" + exchangeKey + "\" and a rank below " + exchangeValues.size());
            }
            exchangeValues.set(value.rank(), value.value());
        } finally {
            lock.unlock();
        }
    }

    private void update(Runnable change) {
        lock.lock();
        try {
            change.run();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Makes exchanges fail with this reason. Without effect once the session is open. */
    private void fail(String reason) {
        if (failure == null) {
            failure = reason;
        }
    }

    private void died(ControlMessage.Death death) {
        if (death.rank() == membership.rank()) {
            givenUp(death.reason());
            return;
        }
        update(() -> {
            fail(Exit.sentence(death.rank(), "died", death.reason()));
            deaths.add(death);
        });
        Events listener = events();
        if (listener != null) {
            listener.peerDied(death.rank(), death.reason());
        }
    }

    private void gaveUp(ControlMessage.PeerGaveUp peer) {
        update(() -> {
            fail("rank " + peer.rank() + " is lost: " + peer.reason());
            peersThatGaveUp.add(peer);
        });
        Events listener = events();
        if (listener != null) {
            listener.peerGaveUp(peer.rank(), peer.reason());
        }
    }

    private void givenUp(String reason) {
        update(() -> {
            givenUp = reason;
            fail("the others have given this process up: " + reason);
        });
        Events listener = events();
        if (listener != null) {
            listener.givenUp(reason);
        }
    }

    private @Nullable Events events() {
        lock.lock();
        try {
            return events;
        } finally {
            lock.unlock();
        }
    }

    private void lost(String reason) {
        connection.close();
        launches.lost(reason);
        forgetExit();
        boolean expected;
        lock.lock();
        try {
            expected = closed || serverLeft || givenUp != null || end != null;
        } finally {
            lock.unlock();
        }
        if (expected) {
            return;
        }
        int serverRank = welcome.serverRank();
        if (serverRank >= 0 && serverRank != membership.rank()) {
            boolean exited = serverExits.getCount() == 0;
            Exit exit = new Exit(welcome.serverPid(), connection.peerHost(), true, OptionalInt.empty());
            died(new ControlMessage.Death(
                    serverRank, exited ? exit.reason() : "its process ended or cannot be reached: " + reason));
        }
        String what = (serverRank >= 0 ? "rank " + serverRank : "the launcher") + " is gone: " + reason;
        update(() -> {
            newsLost = what;
            fail(what);
        });
        Events listener = events();
        if (listener != null) {
            listener.newsLost(what);
        }
    }

    @Override
    public void lost(int rank, String reason) {
        connection.trySend(new ControlMessage.Death(rank, reason));
    }

    @Override
    public List<LaunchedProcess> launch(LaunchSpec spec) {
        return launches.launch(spec, connection);
    }

    @Override
    public void onEnd(EndListener listener) {
        ControlMessage.SessionAbort before;
        lock.lock();
        try {
            endListener = listener;
            before = end;
        } finally {
            lock.unlock();
        }
        if (before != null) {
            listener.ended(before);
        }
    }

    @Override
    public void end(int code, String reason) {
        connection.trySend(new ControlMessage.SessionAbort(membership.rank(), code, reason));
    }

    @Override
    public void abort(String reason) {
        finish(new ControlMessage.OpenFailed(membership.rank(), reason));
    }

    @Override
    public void close() {
        finish(new ControlMessage.Leave());
    }

    private void finish(ControlMessage last) {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
        } finally {
            lock.unlock();
        }
        connection.trySend(last);
        forgetExit();
        awaitHangUp();
        connection.close();
    }

    /**
     * Waits until the server hangs up, which it does after it has recorded the leave. Only then may this process join
     * again.
     */
    private void awaitHangUp() {
        if (Thread.currentThread() == reader) {
            return;
        }
        try {
            reader.join(HANG_UP_MS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
