package io.madeleine.pmm.handshake;

import io.madeleine.admission.NoticeLimit;
import io.madeleine.admission.UnauthenticatedConnections;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProcessIdentity;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * Pairs the lines that peers open with this process's requests for connections. The number of lines whose peer has not
 * been authenticated is bounded; if there are too many, the one that has been silent for longest is dropped, and its
 * peer tries again until its deadline. An authenticated peer waits for a bounded time until this process requests the
 * connection.
 *
 * <p>Threading: confined to one thread of the driver, or to its lock.
 */
public final class ConnectionManager {
    private final String family;
    private final ProcessContext context;
    private final HandshakeLimits limits;
    private final Executor teller;
    private final NoticeLimit notices;
    private final UnauthenticatedConnections<AcceptorHandshake> unauthenticated;
    private final Map<Key, Waiting> waiting = new HashMap<>();
    private final Map<Key, PendingConnection> awaited = new HashMap<>();
    private final Set<PendingConnection> pending = new LinkedHashSet<>();
    private final Set<InitiatorHandshake> calls = new LinkedHashSet<>();
    private final NextDeadline deadlines = new NextDeadline();
    private String lastFailure = "";
    private boolean closing;

    private record Key(String channel, ProcessIdentity peer) {}

    /** An authenticated peer whose connection this process has not requested yet. */
    private record Waiting(AcceptorHandshake handshake, long untilNs) {}

    /**
     * The manager of one adapter.
     *
     * @param family the network's name
     * @param teller runs the completion of requests, as soon as foreign code may be called
     */
    public ConnectionManager(String family, ProcessContext context, HandshakeLimits limits, Executor teller) {
        this.family = family;
        this.context = context;
        this.limits = limits;
        this.teller = teller;
        this.notices = new NoticeLimit(context.logger(), family + ": ");
        this.unauthenticated = new UnauthenticatedConnections<>(limits.maxUnauthenticatedCount());
    }

    // ---- calls of the driver

    /** Makes the object for a request that this process is about to {@linkplain #request make}. Any thread. */
    public PendingConnection prepare(String channel, ConnectionRequest request) {
        return new PendingConnection(family, channel, request, teller, this::done);
    }

    /**
     * This process requests a connection. If it is the initiator, it then {@linkplain #call calls}; otherwise it waits
     * for the call.
     */
    public void request(PendingConnection wanted) {
        pending.add(wanted);
        deadlines.add(wanted.request().deadlineNs());
        if (!wanted.request().initiator()) {
            await(wanted);
        }
    }

    /** A line to a peer has been opened, or is about to be; {@link Handshake#start()} follows. */
    public Handshake call(PendingConnection wanted, HandshakeLine line, long nowNs) {
        InitiatorHandshake call = new InitiatorHandshake(this, line, wanted, nowNs + limits.timeoutNs());
        calls.add(call);
        deadlines.add(call.deadlineNs);
        return call;
    }

    /** A peer has opened a line; {@link Handshake#start()} follows. */
    public Handshake accept(HandshakeLine line, long nowNs) {
        AcceptorHandshake comer = new AcceptorHandshake(this, line, nowNs + limits.timeoutNs());
        if (unauthenticated.isFull()) {
            String why = "more than " + limits.maxUnauthenticatedCount() + " connections at once"
                    + limits.key("max-unauthenticated");
            unauthenticated.mostSilent().ifPresent(silent -> silent.fail(why, false));
        }
        unauthenticated.add(comer);
        deadlines.add(comer.deadlineNs);
        return comer;
    }

    /** Ends handshakes and requests whose time is over; returns whether a deadline was due. */
    public boolean poll(long nowNs) {
        if (deadlines.untilNextNs(nowNs) > 0) {
            return false;
        }
        deadlines.clear();
        for (Optional<AcceptorHandshake> oldest = unauthenticated.oldest();
                oldest.isPresent() && oldest.get().deadlineNs - nowNs <= 0;
                oldest = unauthenticated.oldest()) {
            oldest.get().rejectIfLate(nowNs);
        }
        unauthenticated.oldest().ifPresent(oldest -> deadlines.add(oldest.deadlineNs));
        for (InitiatorHandshake call : List.copyOf(calls)) {
            call.rejectIfLate(nowNs);
            if (call.isTimed() && !call.isOver()) {
                deadlines.add(call.deadlineNs);
            }
        }
        waiting.entrySet().stream()
                .filter(entry -> entry.getValue().untilNs - nowNs <= 0)
                .toList()
                .forEach(entry -> tooLate(entry.getKey(), entry.getValue()));
        waiting.values().forEach(left -> deadlines.add(left.untilNs));
        List.copyOf(pending).forEach(wanted -> expire(wanted, nowNs));
        pending.forEach(wanted -> deadlines.add(wanted.request().deadlineNs()));
        return true;
    }

    /** How long until {@link #poll} has work, in nanoseconds; {@link Long#MAX_VALUE} if no deadline is set. */
    public long untilNextNs(long nowNs) {
        return deadlines.untilNextNs(nowNs);
    }

    /** How many authenticated peers wait for this process's request. */
    public int waitingCount() {
        return waiting.size();
    }

    /** Fails all requests for a channel. */
    public void closeChannel(String channel) {
        for (PendingConnection wanted : List.copyOf(pending)) {
            if (wanted.channel().equals(channel)) {
                wanted.fail("the channel was closed");
            }
        }
    }

    /** Fails all requests and drops all lines. */
    public void close() {
        closing = true;
        while (unauthenticated.oldest().isPresent()) {
            unauthenticated.oldest().get().fail("the adapter is closing", true);
        }
        List.copyOf(waiting.values()).forEach(left -> left.handshake.refuse("the process closes its adapter"));
        List.copyOf(calls).forEach(call -> call.fail("the adapter is closing", true));
        List.copyOf(pending).forEach(wanted -> wanted.fail("the adapter is closing"));
    }

    // ---- pairing

    private static Key key(PendingConnection wanted) {
        return new Key(wanted.channel(), wanted.request().peer());
    }

    private void await(PendingConnection wanted) {
        Key key = key(wanted);
        Waiting peer = waiting.remove(key);
        if (peer != null) {
            pair(peer.handshake, wanted);
            return;
        }
        PendingConnection former = awaited.put(key, wanted);
        if (former != null) {
            former.fail("a second request for the same connection was made");
        }
    }

    /** A peer has proved that it knows the session's secret. */
    void authenticated(AcceptorHandshake peer, long nowNs) {
        unauthenticated.remove(peer);
        HandshakeFrames.Join join = peer.join();
        String misled = misled(join);
        if (!misled.isEmpty()) {
            peer.refuse(misled);
            return;
        }
        Key key = new Key(join.channel(), join.initiator());
        PendingConnection wanted = awaited.remove(key);
        if (wanted != null && !wanted.isDone()) {
            pair(peer, wanted);
            return;
        }
        Waiting former = waiting.get(key);
        if (former != null) {
            former.handshake.refuse("the peer called again");
        }
        waiting.put(key, new Waiting(peer, nowNs + limits.maxWaitNs()));
        deadlines.add(nowNs + limits.maxWaitNs());
    }

    private String misled(HandshakeFrames.Join join) {
        if (!join.sessionId().equals(context.sessionId())) {
            return "this process is in session \"" + context.sessionId() + "\", not in \"" + join.sessionId() + "\"";
        }
        if (!join.acceptor().equals(context.self())) {
            return "this is process " + context.self() + ", not " + join.acceptor();
        }
        return "";
    }

    private void pair(AcceptorHandshake peer, PendingConnection wanted) {
        long theirs = peer.join().tableDigest();
        long ours = wanted.request().tableDigest();
        if (theirs != ours) {
            String reason = "the selection tables differ (digest " + Long.toHexString(theirs) + " at the initiator "
                    + peer.join().initiator() + ", " + Long.toHexString(ours) + " at the acceptor " + context.self()
                    + "); are release and configuration (madeleine.tm." + family + ") the same?";
            peer.refuse(reason);
            wanted.fail(reason);
            return;
        }
        peer.accept(wanted);
    }

    /** A peer's line broke before it became a connection: the request waits for another call. */
    void wantAgain(AcceptorHandshake peer, PendingConnection wanted, String reason) {
        note(peer, reason);
        if (!wanted.isDone()) {
            await(wanted);
        }
    }

    // ---- deadlines and failures

    private void expire(PendingConnection wanted, long nowNs) {
        if (wanted.isDone()) {
            done(wanted); // the user cancelled it
        } else if (wanted.request().deadlineNs() - nowNs <= 0) {
            String last = wanted.lastFailure().isEmpty() ? lastFailure : wanted.lastFailure();
            if (wanted.request().initiator()) {
                String why = last.isEmpty() ? "the peer has not answered" : last;
                wanted.fail("the deadline has come, and " + why + "; " + hint());
            } else {
                wanted.fail("the peer did not call until the deadline"
                        + (last.isEmpty() ? "" : "; what went wrong last: " + last));
            }
        }
    }

    private void done(PendingConnection wanted) {
        pending.remove(wanted);
        awaited.remove(key(wanted), wanted);
        List.copyOf(calls).forEach(call -> call.endIfFor(wanted));
    }

    private void tooLate(Key key, Waiting peer) {
        peer.handshake.refuse("process " + context.self() + " has not opened channel \"" + key.channel
                + "\" to you within " + TimeUnit.NANOSECONDS.toMillis(limits.maxWaitNs())
                + " ms; " + hint());
    }

    private String hint() {
        return "is the channel configured on network " + family
                + " in both processes, or is one of them slow to open it?";
    }

    void acceptFailed(AcceptorHandshake peer, String reason) {
        unauthenticated.remove(peer);
        boolean waited = waiting.values().removeIf(left -> left.handshake == peer);
        if (!waited && !closing) {
            note(peer, reason);
        }
    }

    private void note(AcceptorHandshake peer, String reason) {
        lastFailure = "a connection from " + peer.line.remote() + " was dropped: " + reason;
        notices.warn(lastFailure);
    }

    // ---- for the handshakes

    void heard(AcceptorHandshake peer) {
        unauthenticated.heard(peer);
    }

    void callEnded(InitiatorHandshake call) {
        calls.remove(call);
    }

    byte[] secret() {
        return context.secret();
    }

    HandshakeFrames.Join join(PendingConnection wanted) {
        ConnectionRequest request = wanted.request();
        return new HandshakeFrames.Join(
                context.sessionId(), wanted.channel(), context.self(), request.peer(), request.tableDigest());
    }

    String tooSlow() {
        return "the handshake took longer than " + TimeUnit.NANOSECONDS.toMillis(limits.timeoutNs()) + " ms"
                + limits.key("timeout");
    }
}
