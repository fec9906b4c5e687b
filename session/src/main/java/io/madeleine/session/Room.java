package io.madeleine.session;

import io.madeleine.session.BootstrapServer.Settings;
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
 * One session as its bootstrap server sees it: who is there, and the exchanges under way.
 *
 * <p>Threading: thread-safe; messages of one process are handled by its connection's thread.
 */
final class Room {
    private static final int SIGNS_PER_TIMEOUT = 3;
    private static final int RANKS_NAMED = 8;

    private final String sessionId;
    private final Settings settings;
    private final House house;
    private final String host = HostKey.ofThisNetwork();
    private final ReentrantLock lock = new ReentrantLock();
    private final @Nullable Member[] members;
    private final Map<String, byte[][]> exchanges = new HashMap<>();
    private @Nullable ControlMessage failure;
    private final Condition departure = lock.newCondition();
    private boolean ended;

    /** A process of the session, as long as it is there and after. */
    private static final class Member {
        final ControlConnection connection;
        final long pid;
        final boolean remote;
        volatile boolean exiting;
        boolean present = true;

        Member(ControlConnection connection, long pid, boolean remote) {
            this.connection = connection;
            this.pid = pid;
            this.remote = remote;
        }
    }

    /** What a room and its server have to tell each other. */
    interface House {
        /** A process is lost. */
        void processLost();

        /** The exit code of a process that is about to end, if this process has started it. Waits for it, but not for long. */
        OptionalInt exitCode(long pid);

        /** A process asks for more processes. */
        void launch(ControlMessage.Launch request, ControlConnection connection);

        /** A process has exited by itself without leaving. */
        void exitedInside(int rank, Exit exit);

        /** All processes are to end, since this one says so; none has heard yet. */
        void aborted(ControlMessage.End end);

        /** Why somebody was not let in, to be told to those who wait for him; empty if nobody was turned away. */
        String turnedAway();

        /** Who waits in other rooms, perhaps since they are configured otherwise; empty if nobody does. */
        String othersWaiting(Room room);
    }

    /** A room where nobody is yet. */
    Room(String sessionId, int size, Settings settings, House house) {
        this.sessionId = sessionId;
        this.settings = settings;
        this.house = house;
        this.members = new Member[size];
    }

    /** Lets a process in; the caller has checked that it may. */
    void admit(ControlConnection connection, ControlMessage.Hello hello) {
        lock.lock();
        try {
            members[hello.rank()] =
                    new Member(connection, hello.pid(), !hello.host().equals(host));
            connection.trySend(new ControlMessage.Welcome(
                    sessionId,
                    settings.serverRank(),
                    host,
                    ProcessHandle.current().pid()));
            if (failure != null) {
                connection.trySend(failure); // the session cannot open any more: no need to wait for the timeout
            }
        } finally {
            lock.unlock();
        }
    }

    /** Whether the rank is or was here. */
    boolean knows(int rank) {
        return member(rank).isPresent();
    }

    /** Whether the rank is here now. */
    boolean isPresent(int rank) {
        return member(rank).filter(member -> member.present).isPresent();
    }

    /** The process of the rank. */
    long pidOf(int rank) {
        return member(rank).map(member -> member.pid).orElse(-1L);
    }

    /** Whether everybody came. */
    boolean isFull() {
        return count(false) == members.length;
    }

    /** Of how many processes it is and which of them wait for others, "3 processes (rank 1, rank 2)"; empty if nobody waits. */
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

    /** Whether it can still become a session that a process comes to now. */
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

    /** Tells those who wait here that nobody else will come; if all are here, the session is opened to its end. */
    void turnOut(String reason) {
        lock.lock();
        try {
            if (!isFull() && failure == null) {
                failure = new ControlMessage.Abort(0, reason);
                broadcast(failure, -1);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Whether nobody is here any more. */
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

    /** Handles what the process says until it leaves or is lost. */
    void serve(int rank, ControlConnection connection) {
        long signNs = System.nanoTime();
        long beatEveryNs = settings.peerTimeoutNs() / SIGNS_PER_TIMEOUT;
        try {
            connection.receiveTimeoutMs(Math.clamp(beatEveryNs / 1_000_000, 10, Integer.MAX_VALUE));
            while (true) {
                Optional<ControlMessage> message = receive(connection);
                long nowNs = System.nanoTime();
                if (message.isPresent()) {
                    signNs = nowNs;
                    if (!handle(rank, connection, message.get())) {
                        return;
                    }
                } else if (isRemote(rank) && nowNs - signNs > settings.peerTimeoutNs()) {
                    lost(
                            rank,
                            "it gave no sign for " + (nowNs - signNs) / 1_000_000_000 + " s (madeleine.peer-timeout)");
                    return;
                }
                if (isRemote(rank)) {
                    connection.beatIfIdle(nowNs, beatEveryNs);
                }
            }
        } catch (EOFException _) {
            lost(
                    rank,
                    end(rank, connection)
                            .map(Exit::reason)
                            .orElse(
                                    "its process ended (it closed its control connection without leaving the session)"));
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
            } catch (OutOfMemoryError _) { // nothing is lost by that: once more
                ShortMemory.pause();
            }
        }
    }

    /** Whatever memory there is: the others hear of it from nobody else. */
    private void lostAtLast(int rank, Throwable why) {
        while (true) {
            try {
                lost(rank, "the bootstrap server could not serve it any more: " + why);
                return;
            } catch (OutOfMemoryError _) {
                ShortMemory.pause();
            }
        }
    }

    /** How a process has ended whose connection has; empty if nothing says that it has. */
    private Optional<Exit> end(int rank, ControlConnection connection) {
        Member member = member(rank).orElseThrow();
        Exit exit = new Exit(member.pid, connection.peerHost(), member.exiting, house.exitCode(member.pid));
        if (exit.byItself() && isPresent(rank)) {
            house.exitedInside(rank, exit);
        }
        return exit.announced() || exit.code().isPresent() ? Optional.of(exit) : Optional.empty();
    }

    /** Waits until all that a process has said before its end has been handled, and that it has ended, within a bound. */
    void awaitDeparture(int rank, long timeoutMs) {
        lock.lock();
        try {
            long leftNs = TimeUnit.MILLISECONDS.toNanos(timeoutMs);
            for (Member member = members[rank]; member != null && member.present && leftNs > 0; ) {
                leftNs = departure.awaitNanos(leftNs);
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

    private boolean handle(int rank, ControlConnection connection, ControlMessage message) throws IOException {
        switch (message) {
            case ControlMessage.Put put -> put(rank, put);
            case ControlMessage.Who(String key) -> {
                String whoElse = isFull() ? "" : house.turnedAway() + house.othersWaiting(this);
                connection.send(new ControlMessage.Missing(key, missing(key) + whoElse));
            }
            case ControlMessage.Beat() -> {}
            case ControlMessage.Death(int about, String reason) -> tell(about, rank, reason);
            case ControlMessage.End(int _, int code, String reason) -> end(new ControlMessage.End(rank, code, reason));
            case ControlMessage.Exiting(int _) -> exiting(rank);
            case ControlMessage.Launch launch -> house.launch(launch, connection);
            case ControlMessage.Bye() -> {
                gone(rank, new ControlMessage.Left(rank));
                return false;
            }
            case ControlMessage.Abort(int _, String reason) -> {
                gone(rank, new ControlMessage.Abort(rank, reason));
                return false;
            }
            default -> throw new IOException("it said what only a server says: " + message.kind());
        }
        return true;
    }

    private void put(int rank, ControlMessage.Put put) throws IOException {
        lock.lock();
        try {
            byte[][] values = exchanges.computeIfAbsent(put.key(), _ -> new byte[members.length][]);
            if (values[rank] != null) {
                throw new IOException("it said twice that it has " + put.key());
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

    /** Who has not joined, and who has joined but not taken part in the exchange. */
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
                    who.add("rank " + rank + " (process " + member.pid + ") is not that far");
                }
            }
            return who.toString();
        } finally {
            lock.unlock();
        }
    }

    /**
     * A process has ended: if it has never been here, the session cannot open, and those who wait for it hear why.
     *
     * @return whether it is the first that is missed here
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

    /** The process is lost, if it is not gone already. */
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
            departure.signalAll();
            if (notice instanceof ControlMessage.Death) {
                member.connection.trySend(notice); // it may be alive, and hear that
                house.processLost();
            }
            if (!isFull() && !ended) {
                failure = notice;
            }
            if (!ended) { // else they end one after the other, as they have been told to
                broadcast(notice, rank);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Ends all processes; the one where this server runs hears of it last, since the others would hear nothing after. */
    private void end(ControlMessage.End end) {
        lock.lock();
        try {
            if (ended) {
                return;
            }
            ended = true;
            failure = end;
            house.aborted(end);
            broadcast(end, settings.serverRank());
            Member server = settings.serverRank() >= 0 ? members[settings.serverRank()] : null;
            if (server != null && server.present) {
                server.connection.trySend(end);
            }
        } finally {
            lock.unlock();
        }
    }

    /** A process is about to exit. If the server goes with it, all have to know before. */
    private void exiting(int rank) {
        member(rank).ifPresent(member -> member.exiting = true);
        if (rank != settings.serverRank()) {
            return;
        }
        lock.lock();
        try {
            ControlMessage notice = new ControlMessage.Exiting(rank);
            broadcast(notice, rank);
            Member member = members[rank];
            if (member != null) {
                member.connection.trySend(notice);
            }
        } finally {
            lock.unlock();
        }
    }

    /** A process has lost its connection with another, which may not know: what it sends may be on its way for long. */
    private void tell(int about, int rank, String reason) {
        lock.lock();
        try {
            Member member = about >= 0 && about < members.length ? members[about] : null;
            if (member != null && member.present && about != rank) {
                member.connection.trySend(new ControlMessage.Death(
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
                member.connection.trySend(message);
            }
        }
    }
}
