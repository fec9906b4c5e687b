package io.madeleine.session.network;

import io.madeleine.api.SessionException;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.Waitable;
import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.ProtocolChannel;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.session.bootstrap.Resources;
import io.madeleine.session.config.Membership;
import io.madeleine.session.config.Timeouts;
import io.madeleine.switching.SelectionTable;
import io.madeleine.switching.SwitchedChannel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Makes all connections of a session in parallel.
 *
 * <p>Threading: confined to caller, but for {@link #fail}; used once.
 */
public final class Connecting {
    /**
     * The called process waits this much longer than its caller, which knows why nobody answers and tells the others.
     */
    private static final long CALLED_GRACE_NS = 1_000_000_000;

    /**
     * The wait goes on this long after the deadline of its connections: a network that gives up at the deadline says
     * why, which is worth more than "not connected".
     */
    private static final long REASON_GRACE_NS = 250_000_000;

    private final Membership membership;
    private final List<ProcessDescription> descriptions;
    private final Map<String, Adapter> adapters;
    private final ProgressEngine engine;
    private final Resources resources;
    private final Timeouts timeouts;
    private final Map<String, ProtocolChannel> protocolChannels = new HashMap<>();
    private final Waitable changed = new Waitable();
    private final AtomicReference<@Nullable String> failure = new AtomicReference<>();

    /** A connection that is being made. */
    private record Wanted(Route route, SelectionTable table, CompletableFuture<ProtocolConnection> future) {}

    /** A connection that was made. */
    public record Made(Route route, SelectionTable table, ProtocolConnection connection) {
        public void attachTo(SwitchedChannel channel) {
            channel.attach(route.rank(), route.network(), connection, table);
        }
    }

    public Connecting(
            Membership membership,
            List<ProcessDescription> descriptions,
            Map<String, Adapter> adapters,
            ProgressEngine engine,
            Resources resources,
            Timeouts timeouts) {
        this.membership = membership;
        this.descriptions = descriptions;
        this.adapters = adapters;
        this.engine = engine;
        this.resources = resources;
        this.timeouts = timeouts;
    }

    /**
     * Connects along all routes and waits until every connection is made.
     *
     * @throws SessionException if a connection fails, another process {@linkplain #fail fails}, or the deadline passes
     */
    public List<Made> connect(List<Route> routes, long deadlineNs) {
        List<Wanted> wanted = new ArrayList<>();
        for (Route route : routes) {
            wanted.add(begin(route, deadlineNs));
        }
        boolean inTime = engine.await(
                changed,
                () -> failure.get() != null
                        || wanted.stream().allMatch(one -> one.future.isDone())
                        || wanted.stream().anyMatch(one -> one.future.isCompletedExceptionally()),
                (routes.stream().allMatch(this::calls) ? deadlineNs : deadlineNs + CALLED_GRACE_NS) + REASON_GRACE_NS);
        List<Made> made = new ArrayList<>();
        for (Wanted one : wanted) {
            if (one.future.isCompletedExceptionally() || (one.future.isDone() && inTime)) {
                made.add(finish(one, deadlineNs));
            }
        }
        if (made.size() < wanted.size()) {
            String why = failure.get();
            throw new SessionException(membership + ": " + (why == null ? late(wanted) : why));
        }
        return made;
    }

    /**
     * Ends the wait for connections: a peer has died, or another process cannot open the session. The first reason
     * counts. Any thread.
     *
     * @param reason a sentence
     */
    public void fail(String reason) {
        if (failure.compareAndSet(null, reason)) {
            engine.signal(changed);
        }
    }

    /**
     * Reserves what the connections that this process initiates need.
     *
     * @return the routes that lack something, with what they lack
     */
    Map<Route, String> reserve(List<Route> routes, long deadlineNs) {
        Map<Route, String> lacking = new LinkedHashMap<>();
        for (Route route : routes) {
            if (calls(route)) {
                protocolChannel(route)
                        .reserve(request(route, table(route), deadlineNs))
                        .ifPresent(what -> lacking.put(route, what));
            }
        }
        return lacking;
    }

    private Wanted begin(Route route, long deadlineNs) {
        SelectionTable table = table(route);
        CompletableFuture<ProtocolConnection> future =
                protocolChannel(route).connect(request(route, table, deadlineNs));
        future.whenComplete((_, _) -> engine.signal(changed));
        return new Wanted(route, table, future);
    }

    private SelectionTable table(Route route) {
        int self = membership.rank();
        ProcessDescription lower = descriptions.get(Math.min(self, route.rank()));
        ProcessDescription higher = descriptions.get(Math.max(self, route.rank()));
        return SelectionTable.agree(
                route.channel(),
                lower.modules(route.network(), route.channel()),
                higher.modules(route.network(), route.channel()));
    }

    /** Whether this process makes the connection of a route; otherwise it is called. */
    private boolean calls(Route route) {
        return membership.rank() < route.rank();
    }

    private ConnectionRequest request(Route route, SelectionTable table, long deadlineNs) {
        return new ConnectionRequest(
                descriptions.get(route.rank()).identity(),
                route.peerAddress(),
                calls(route),
                table.modules(),
                table.digest(),
                calls(route) ? deadlineNs : deadlineNs + CALLED_GRACE_NS);
    }

    private ProtocolChannel protocolChannel(Route route) {
        String adapterKey = route.network() + "/" + route.adapter();
        Adapter adapter = adapters.get(adapterKey);
        if (adapter == null) {
            throw new IllegalStateException("no adapter " + adapterKey);
        }
        return protocolChannels.computeIfAbsent(
                adapterKey + " " + route.channel(), _ -> resources.add(adapter.openChannel(route.channel())));
    }

    private Made finish(Wanted one, long deadlineNs) {
        try {
            return new Made(one.route, one.table, one.future.join());
        } catch (CompletionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            String within = deadlineNs - System.nanoTime() > 0 ? "" : " within " + timeouts.openBound();
            throw new SessionException(
                    membership + ": channel " + one.route.channel() + " could not connect to rank " + one.route.rank()
                            + " over " + one.route.network() + within + ": " + cause.getMessage(),
                    cause);
        }
    }

    private String late(List<Wanted> wanted) {
        return "not connected within " + timeouts.openBound() + ": "
                + wanted.stream()
                        .filter(one -> !one.future.isDone())
                        .map(one -> "channel " + one.route.channel() + " to rank " + one.route.rank() + " over "
                                + one.route.network())
                        .collect(Collectors.joining(", "));
    }
}
