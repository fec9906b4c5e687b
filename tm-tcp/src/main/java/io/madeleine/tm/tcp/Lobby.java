package io.madeleine.tm.tcp;

import io.madeleine.api.SessionException;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.lang.System.Logger.Level;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Where connections that peers made and this process's wishes for connections find each other. Who is not authenticated
 * is one of a bounded number, and who has been silent for longest goes when there are too many: a peer tries again until its
 * deadline. Who is authenticated waits for a bounded time.
 *
 * <p>Threading: confined to the event loop.
 */
final class Lobby {
    /** Makes a connection of a channel that is through with the handshake. */
    interface Host {
        void establish(HandshakeHandler handshake, Wish wish);
    }

    /** Strangers must not be able to fill the log. */
    private static final long LOG_INTERVAL_NS = TimeUnit.SECONDS.toNanos(1);

    private record Key(String channel, ProcessIdentity peer) {}

    private record Guest(AnsweringHandshake handshake, ScheduledFuture<?> limit) {}

    /** A request of this process that waits for its peer's call. */
    record Wish(TcpChannel owner, ConnectionRequest request, CompletableFuture<ProtocolConnection> future) {}

    private final ProcessContext context;
    private final TcpConfig.HandshakeConfig limits;
    private final EventLoop loop;
    private final Host host;
    /** Who has been silent for longest comes first. */
    private final Set<AnsweringHandshake> strangers = new LinkedHashSet<>();

    private final Map<Key, Guest> guests = new HashMap<>();
    private final Map<Key, Wish> wishes = new HashMap<>();
    private String lastFailure = "";
    private boolean closing;
    private long notedCount;
    private long loggedNs;

    Lobby(ProcessContext context, TcpConfig.HandshakeConfig limits, EventLoop loop, Host host) {
        this.context = context;
        this.limits = limits;
        this.loop = loop;
        this.host = host;
    }

    /** Somebody has connected. */
    void entered(AnsweringHandshake stranger) {
        strangers.add(stranger);
        if (strangers.size() > limits.maxUnauthenticatedCount()) {
            AnsweringHandshake mostSilent = strangers.iterator().next();
            mostSilent.fail(
                    "more than " + limits.maxUnauthenticatedCount()
                            + " connections at once (madeleine.tm.tcp.handshake.max-unauthenticated)",
                    false);
        }
    }

    /** A stranger has said something: it is the last to lose its place. */
    void spoke(AnsweringHandshake stranger) {
        if (strangers.remove(stranger)) {
            strangers.add(stranger);
        }
    }

    /** A stranger has proved that it belongs to the session's secret. */
    void authenticated(AnsweringHandshake guest) {
        strangers.remove(guest);
        Handshake.Join join = guest.join();
        String misled = misled(join);
        if (!misled.isEmpty()) {
            note(guest, misled);
            guest.refuse(misled);
            return;
        }
        Key key = new Key(join.channel(), join.initiator());
        Wish wish = wishes.remove(key);
        if (wish != null) {
            welcome(guest, wish);
            return;
        }
        Guest entry =
                new Guest(guest, loop.schedule(() -> tooLate(key, guest), limits.maxWaitNs(), TimeUnit.NANOSECONDS));
        drop(guests.put(key, entry), "the peer called again");
    }

    /** How many authenticated peers wait until this process wants them. */
    int guestCount() {
        return guests.size();
    }

    private String misled(Handshake.Join join) {
        if (!join.sessionId().equals(context.sessionId())) {
            return "this process is in session \"" + context.sessionId() + "\", not in \"" + join.sessionId() + "\"";
        }
        if (!join.acceptor().equals(context.self())) {
            return "this is process " + context.self() + ", not " + join.acceptor();
        }
        return "";
    }

    private void tooLate(Key key, AnsweringHandshake guest) {
        Guest entry = guests.get(key);
        if (entry != null && entry.handshake == guest) {
            guests.remove(key);
            guest.refuse("process " + context.self() + " has not opened channel \"" + key.channel
                    + "\" to you within " + TimeUnit.NANOSECONDS.toMillis(limits.maxWaitNs())
                    + " ms; is the channel configured on network tcp in both processes?");
        }
    }

    private static void drop(@Nullable Guest guest, String reason) {
        if (guest != null) {
            guest.limit.cancel(false);
            guest.handshake.refuse(reason);
        }
    }

    /** This process wants a connection that its peer makes. */
    void want(Wish wish) {
        ConnectionRequest request = wish.request();
        Key key = new Key(wish.owner().name(), request.peer());
        Guest guest = guests.remove(key);
        if (guest != null) {
            guest.limit.cancel(false);
            welcome(guest.handshake, wish);
            return;
        }
        Wish former = wishes.put(key, wish);
        if (former != null) {
            former.future.completeExceptionally(failure(former, "a second request for the same connection was made"));
        }
        loop.schedule(() -> giveUp(key, wish), request.deadlineNs() - System.nanoTime(), TimeUnit.NANOSECONDS);
    }

    private void giveUp(Key key, Wish wish) {
        if (wishes.remove(key, wish)) {
            wish.future.completeExceptionally(failure(
                    wish,
                    "the peer did not call until the deadline"
                            + (lastFailure.isEmpty() ? "" : "; what went wrong last: " + lastFailure)));
        }
    }

    /** Gives up what a channel that closes has wished for. */
    void giveUp(TcpChannel owner) {
        wishes.values().removeIf(wish -> {
            boolean its = wish.owner == owner;
            if (its) {
                wish.future.completeExceptionally(failure(wish, "the channel was closed"));
            }
            return its;
        });
    }

    private void welcome(AnsweringHandshake guest, Wish wish) {
        long theirs = guest.join().tableDigest();
        long ours = wish.request().tableDigest();
        if (theirs != ours) {
            String reason = "the selection tables differ (digest " + Long.toHexString(theirs) + " at the initiator "
                    + guest.join().initiator() + ", " + Long.toHexString(ours) + " at the acceptor " + context.self()
                    + "); are release and configuration the same?";
            note(guest, reason);
            guest.refuse(reason);
            wish.future.completeExceptionally(failure(wish, reason));
            return;
        }
        guest.accept(() -> host.establish(guest, wish));
    }

    private static SessionException failure(Wish wish, String reason) {
        return new SessionException("tcp: connection of channel \"" + wish.owner.name() + "\" with process "
                + wish.request.peer() + " failed (this side accepts): " + reason);
    }

    /** A handshake broke off. */
    void failed(AnsweringHandshake handshake, String reason) {
        boolean stranger = strangers.remove(handshake);
        boolean waited = guests.values().removeIf(guest -> {
            boolean its = guest.handshake == handshake;
            if (its) {
                guest.limit.cancel(false);
            }
            return its;
        });
        if ((stranger || !waited) && !closing) {
            note(handshake, reason);
        }
    }

    private void note(AnsweringHandshake handshake, String reason) {
        lastFailure = "a connection from " + handshake.channel().remoteAddress() + " was dropped: " + reason;
        notedCount++;
        long nowNs = System.nanoTime();
        if (notedCount == 1 || nowNs - loggedNs > LOG_INTERVAL_NS) {
            loggedNs = nowNs;
            context.logger().log(Level.WARNING, "tcp: {0} ({1} so far)", lastFailure, notedCount);
        }
    }

    /** Closes what waits. */
    void close() {
        closing = true;
        Set.copyOf(strangers).forEach(stranger -> stranger.fail("the adapter is closing", true));
        Map.copyOf(guests).values().forEach(guest -> drop(guest, "the process closes its adapter"));
        guests.clear();
    }
}
