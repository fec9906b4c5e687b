package io.madeleine.session.bootstrap;

import io.madeleine.session.bootstrap.BootstrapServer.Settings;
import java.io.EOFException;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.StringJoiner;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One session in a bootstrap server: its members and the exchanges in progress.
 *
 * <p>Threading: thread-safe; each member's connection has a thread that handles its messages.
 */
final class BootstrapSession {
    private static final int RANKS_NAMED = 8;

    /**
     * How long the server waits until the others have been told. The exiting client in the same process waits longer:
     * EXIT_MS.
     */
    private static final long TELL_OTHERS_NS = TimeUnit.MILLISECONDS.toNanos(400);

    private final String sessionId;
    private final Settings settings;
    private final Server server;
    private final String host = HostKey.ofThisNetwork();
    private final ReentrantLock lock = new ReentrantLock();
    private final @Nullable Member[] members;
    private final Map<String, byte[][]> exchanges = new HashMap<>();
    private @Nullable ControlMessage failure;
    private final Condition memberGone = lock.newCondition();
    private boolean ended;

    /** A process that joined the session. It stays in the list after it has left. */
    private static final class Member {
        final ControlSender sender;
        final long pid;
        final boolean remote;
        volatile boolean exiting;
        boolean present = true;

        Member(ControlSender sender, long pid, boolean remote) {
            this.sender = sender;
            this.pid = pid;
            this.remote = remote;
        }
    }

    /** What a session needs from its server. */
    interface Server {
        /** Records that a process was lost. */
        void processLost();

        /**
         * The exit code of a process that is about to end, if this server's launcher started it. Waits for the end,
         * bounded.
         */
        OptionalInt exitCode(long pid);

        /** Handles a launch request and sends the answer. */
        void launch(ControlMessage.Launch request, ControlSender sender);

        /** Ends the processes of a launch request: its process has not waited for the answer. */
        void launchGivenUp(ControlMessage.LaunchGivenUp request, ControlSender sender);

        /** Records that a process of this host exited by itself without leaving. */
        void exitedInside(int rank, Exit exit);

        /** The session is being aborted. Called before any process is told. */
        void aborted(ControlMessage.SessionAbort end);

        /**
         * Why the last refused process was refused, as a text to append for the processes that wait; empty if none was
         * refused.
         */
        String rejection();

        /** Which processes wait in other sessions, perhaps because of a different configuration; empty if none does. */
        String othersWaiting(BootstrapSession session);
    }

    /** A session without members. */
    BootstrapSession(String sessionId, int size, Settings settings, Server server) {
        this.sessionId = sessionId;
        this.settings = settings;
        this.server = server;
        this.members = new Member[size];
    }

    /** Admits a process. The caller has checked that it may join. */
    void admit(ControlSender sender, ControlMessage.Hello hello) {
        lock.lock();
        try {
            members[hello.rank()] =
                    new Member(sender, hello.pid(), !hello.host().equals(host));
            sender.send(new ControlMessage.Welcome(
                    sessionId,
                    settings.serverRank(),
                    host,
                    ProcessHandle.current().pid()));
            if (failure != null) {
                // the session can no longer open: spares the process the wait until its timeout
                sender.send(failure);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Whether the rank is or was a member. */
    boolean knows(int rank) {
        return member(rank).isPresent();
    }

    /** Whether the rank is a member and has not left. */
    boolean isPresent(int rank) {
        return member(rank).filter(member -> member.present).isPresent();
    }

    /** The process id of the rank, or -1. */
    long pidOf(int rank) {
        return member(rank).map(member -> member.pid).orElse(-1L);
    }

    /** Whether all ranks have joined. */
    boolean isFull() {
        return count(false) == members.length;
    }

    /** The size and the ranks that wait for others, as in "3 processes (rank 1, rank 2)"; empty if nobody waits. */
    Optional<String> waiting() {
        lock.lock();
        try {
            if (isFull() || isOver() || failure != null) {
                return Optional.empty();
            }
            String ranks = IntStream.range(0, members.length)
                    .filter(this::isPresent)
                    .limit(RANKS_NAMED)
                    .mapToObj(rank -> "rank " + rank)
                    .collect(Collectors.joining(", "));
            return Optional.of(
                    members.length + " processes (" + ranks + (count(true) > RANKS_NAMED ? ", ..." : "") + ")");
        } finally {
            lock.unlock();
        }
    }

    /** Whether a process with this greeting can still join. */
    boolean suits(ControlMessage.Hello hello) {
        lock.lock();
        try {
            return members.length == hello.size()
                    && members[hello.rank()] == null
                    && (hello.rank() > 0 || failure == null);
        } finally {
            lock.unlock();
        }
    }

    /** Makes an incomplete session fail with this reason. A complete one is not affected. */
    void turnOut(String reason) {
        lock.lock();
        try {
            if (!isFull() && failure == null) {
                failure = new ControlMessage.OpenFailed(0, reason);
                broadcast(failure, -1);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Whether all members have left. */
    boolean isOver() {
        return count(true) == 0;
    }

    private int count(boolean present) {
        lock.lock();
        try {
            return (int) Arrays.stream(members)
                    .filter(member -> member != null && (member.present || !present))
                    .count();
        } finally {
            lock.unlock();
        }
    }

    private Optional<Member> member(int rank) {
        lock.lock();
        try {
            return Optional.ofNullable(members[rank]);
        } finally {
            lock.unlock();
        }
    }

    /** Handles the messages of a process until it leaves or is lost. */
    void serve(int rank, ControlConnection connection, ControlSender sender) {
        SignsOfLife signs = new SignsOfLife(settings.peerTimeoutNs(), System.nanoTime());
        try {
            connection.receiveTimeoutMs(signs.waitMs());
            while (true) {
                long beganNs = System.nanoTime();
                Optional<ControlMessage> message = receive(connection);
                long nowNs = System.nanoTime();
                if (message.isPresent()) {
                    signs.heard(nowNs);
                    if (!handle(rank, sender, message.get())) {
                        return;
                    }
                } else {
                    signs.heardNothing(beganNs, nowNs);
                }
                if (isRemote(rank)) {
                    if (signs.areMissing(nowNs)) {
                        lost(rank, signs.whatIsMissing(nowNs));
                        return;
                    }
                    sender.beatIfIdle(nowNs, signs.dueAfterNs());
                }
            }
        } catch (EOFException _) {
            lost(
                    rank,
                    end(rank, connection)
                            .map(Exit::reason)
                            .orElse("its process ended (it closed its control connection without leaving the"
                                    + " session)"));
        } catch (IOException e) {
            lost(
                    rank,
                    end(rank, connection)
                            .map(Exit::reason)
                            .orElse("its control connection was lost: " + e.getMessage()));
        } catch (RuntimeException | Error e) {
            lostAtLast(rank, e);
            throw e;
        }
    }

    private static Optional<ControlMessage> receive(ControlConnection connection) throws IOException {
        while (true) {
            try {
                return connection.receive();
            } catch (OutOfMemoryError _) { // receive() keeps what has arrived, so the message can be read again
                OutOfMemoryRetry.pause();
            }
        }
    }

    /** Reports the loss, retrying while memory is short: no other thread would tell the other processes. */
    private void lostAtLast(int rank, Throwable why) {
        while (true) {
            try {
                lost(rank, "the bootstrap server could not serve it any more: " + why);
                return;
            } catch (OutOfMemoryError _) {
                OutOfMemoryRetry.pause();
            }
        }
    }

    /** How a process ended whose connection has ended; empty if nothing shows that the process has ended. */
    private Optional<Exit> end(int rank, ControlConnection connection) {
        Member member = member(rank).orElseThrow();
        // a process of another host may have the id of one that was launched here
        OptionalInt code = member.remote ? OptionalInt.empty() : server.exitCode(member.pid);
        Exit exit = new Exit(member.pid, connection.peerHost(), member.exiting, code);
        if (exit.byItself() && isPresent(rank) && !member.remote) {
            server.exitedInside(rank, exit);
        }
        return exit.announced() || exit.code().isPresent() ? Optional.of(exit) : Optional.empty();
    }

    /** Waits until the process counts as gone, which happens after all its messages have been handled. Bounded. */
    void awaitGone(int rank, long timeoutMs) {
        lock.lock();
        try {
            long leftNs = TimeUnit.MILLISECONDS.toNanos(timeoutMs);
            for (Member member = members[rank]; member != null && member.present && leftNs > 0; ) {
                leftNs = memberGone.awaitNanos(leftNs);
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }

    private boolean isRemote(int rank) {
        return member(rank).filter(member -> member.remote).isPresent();
    }

    private boolean handle(int rank, ControlSender sender, ControlMessage message) throws IOException {
        switch (message) {
            case ControlMessage.Put put -> put(rank, put);
            case ControlMessage.MissingQuery(String key) -> {
                String whoElse = isFull() ? "" : server.rejection() + server.othersWaiting(this);
                sender.send(new ControlMessage.MissingReply(key, missing(key) + whoElse));
            }
            case ControlMessage.Heartbeat() -> {}
            case ControlMessage.Death(int about, String reason) -> tell(about, rank, reason);
            case ControlMessage.SessionAbort(int _, int code, String reason) ->
                end(new ControlMessage.SessionAbort(rank, code, reason));
            case ControlMessage.Exiting(int _) -> exiting(rank);
            case ControlMessage.Launch launch -> server.launch(launch, sender);
            case ControlMessage.LaunchGivenUp givenUp -> server.launchGivenUp(givenUp, sender);
            case ControlMessage.Leave() -> {
                gone(rank, new ControlMessage.Left(rank));
                return false;
            }
            case ControlMessage.OpenFailed(int _, String reason) -> {
                gone(rank, new ControlMessage.OpenFailed(rank, reason));
                return false;
            }
            default -> throw new IOException("it sent a message that only a server may send: " + message.kind());
        }
        return true;
    }

    private void put(int rank, ControlMessage.Put put) throws IOException {
        lock.lock();
        try {
            byte[][] values = exchanges.computeIfAbsent(put.key(), _ -> new byte[members.length][]);
            if (values[rank] != null) {
                throw new IOException(
                        "it contributed twice to the exchange \"" + put.key() + "\": expected one value per process");
            }
            values[rank] = put.value();
            if (Arrays.stream(values).anyMatch(value -> value == null)) {
                return;
            }
            exchanges.remove(put.key());
            for (int i = 0; i < values.length; i++) {
                if (values[i].length > 0) {
                    broadcast(new ControlMessage.Value(put.key(), i, values[i]), -1);
                }
            }
            broadcast(new ControlMessage.Complete(put.key()), -1);
        } finally {
            lock.unlock();
        }
    }

    /** Lists the ranks that have not joined and those that have joined but not contributed to the exchange. */
    private String missing(String key) {
        lock.lock();
        try {
            byte[][] values = exchanges.getOrDefault(key, new byte[members.length][]);
            StringJoiner who = new StringJoiner(", ");
            for (int rank = 0; rank < members.length; rank++) {
                Member member = members[rank];
                if (member == null) {
                    who.add("rank " + rank + " has not joined");
                } else if (!member.present) {
                    who.add("rank " + rank + " is gone");
                } else if (values[rank] == null) {
                    who.add("rank " + rank + " (process " + member.pid + ") has not reached this step");
                }
            }
            return who.toString();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Handles the end of a process. If it never joined, the session cannot open, and the waiting processes are told
     * why.
     *
     * @return whether this is the first process that is missing
     */
    boolean isMissing(int rank, String reason) {
        lock.lock();
        try {
            if (members[rank] != null || failure != null) {
                return false;
            }
            failure = new ControlMessage.Death(rank, reason);
            broadcast(failure, rank);
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Handles the loss of a process, unless it has left. */
    void lost(int rank, String reason) {
        gone(rank, new ControlMessage.Death(rank, reason));
    }

    private void gone(int rank, ControlMessage notice) {
        lock.lock();
        try {
            Member member = members[rank];
            if (member == null || !member.present) {
                return;
            }
            member.present = false;
            memberGone.signalAll();
            if (notice instanceof ControlMessage.Death) {
                member.sender.send(notice); // it may be alive: then it learns that it has been given up
                server.processLost();
            }
            if (!isFull() && !ended) {
                failure = notice;
            }
            if (!ended) { // after an abort all processes end as told, which needs no notice
                broadcast(notice, rank);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Tells all processes to end. The process that runs this server is told last, because its end ends the server. */
    private void end(ControlMessage.SessionAbort end) {
        lock.lock();
        try {
            if (ended) {
                return;
            }
            ended = true;
            failure = end;
            server.aborted(end);
            broadcast(end, settings.serverRank());
        } finally {
            lock.unlock();
        }
        tellServersProcess(end);
    }

    /**
     * Tells the process that runs this server to end, or that it may end. The others are told before, since they cannot
     * be told afterwards; a process that does not read delays this only for a bounded time.
     */
    private void tellServersProcess(ControlMessage notice) {
        if (settings.serverRank() < 0) {
            return;
        }
        awaitSent(System.nanoTime() + TELL_OTHERS_NS);
        member(settings.serverRank()).filter(member -> member.present).ifPresent(member -> member.sender.send(notice));
    }

    /** Waits until the members have been told everything, at most until the deadline. */
    void awaitSent(long deadlineNs) {
        for (int rank = 0; rank < members.length; rank++) {
            member(rank).ifPresent(member -> member.sender.awaitSent(deadlineNs));
        }
    }

    /** A process is about to exit. If it runs the server, the others are told before the server ends with it. */
    private void exiting(int rank) {
        member(rank).ifPresent(member -> member.exiting = true);
        if (rank != settings.serverRank()) {
            return;
        }
        ControlMessage notice = new ControlMessage.Exiting(rank);
        lock.lock();
        try {
            broadcast(notice, rank);
        } finally {
            lock.unlock();
        }
        tellServersProcess(notice);
    }

    /**
     * Tells process {@code about} that {@code rank} has lost the connection to it. Its own network may notice late, or
     * never.
     */
    private void tell(int about, int rank, String reason) {
        lock.lock();
        try {
            Member member = about >= 0 && about < members.length ? members[about] : null;
            if (member != null && member.present && about != rank) {
                member.sender.send(new ControlMessage.PeerGaveUp(
                        rank, "it has given this process up: it has lost its connection with this process: " + reason));
            }
        } finally {
            lock.unlock();
        }
    }

    private void broadcast(ControlMessage message, int except) {
        for (int rank = 0; rank < members.length; rank++) {
            Member member = members[rank];
            if (member != null && member.present && rank != except) {
                member.sender.send(message);
            }
        }
    }
}
