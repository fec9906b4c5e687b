package io.madeleine.session.network;

import io.madeleine.api.SessionException;
import io.madeleine.session.bootstrap.Bootstrap;
import io.madeleine.session.config.ChannelSettings;
import io.madeleine.session.config.Membership;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Agrees with all processes on the route of each connection: the best network that both ends reach and that has room.
 * If the initiator lacks room, an "auto" channel takes the next best network; a channel with a named network fails.
 *
 * <p>Threading: confined to caller; used once.
 */
public final class Routing {
    private static final Logger LOGGER = System.getLogger(Routing.class.getName());

    private final Membership membership;
    private final NetworkChoice choice;
    private final List<ChannelSettings> channels;
    private final Bootstrap bootstrap;
    private final Connecting connecting;
    private final long deadlineNs;

    public Routing(
            Membership membership,
            NetworkChoice choice,
            List<ChannelSettings> channels,
            Bootstrap bootstrap,
            Connecting connecting,
            long deadlineNs) {
        this.membership = membership;
        this.choice = choice;
        this.channels = channels;
        this.bootstrap = bootstrap;
        this.connecting = connecting;
        this.deadlineNs = deadlineNs;
    }

    /** Returns the routes of this process. What they need is reserved. */
    public List<Route> settle() {
        List<byte[]> reaches = bootstrap.exchange("told whom they reach", choice.reach(), deadlineNs);
        List<Route> routes = choice.decide(reaches);
        Set<Route> asked = new HashSet<>();
        for (int round = 0; ; round++) {
            Map<Route, String> lacking =
                    connecting.reserve(routes.stream().filter(asked::add).toList(), deadlineNs);
            lacking.forEach(this::refuseIfNamed);
            List<byte[]> refusals = bootstrap.exchange(
                    "told what they have room for" + (round == 0 ? "" : ", time " + (round + 1)),
                    choice.refusals(lacking),
                    deadlineNs);
            if (count(refusals) == 0) {
                return routes;
            }
            reaches = NetworkChoice.without(reaches, refusals);
            routes = choice.decide(reaches);
            say(lacking, refusals, routes);
        }
    }

    private void refuseIfNamed(Route route, String lacking) {
        for (ChannelSettings channel : channels) {
            if (channel.name().equals(route.channel()) && !channel.automatic()) {
                throw new SessionException(membership + ": channel " + route.channel() + " could not connect to rank "
                        + route.rank() + " over " + route.network() + ": " + lacking);
            }
        }
    }

    private static int count(List<byte[]> refusals) {
        int count = 0;
        for (byte[] refused : refusals) {
            for (byte part : refused) {
                count += Integer.bitCount(part & 0xff);
            }
        }
        return count;
    }

    /** Logs one line for the whole session. The lowest rank that lacks room does it. */
    private void say(Map<Route, String> lacking, List<byte[]> refusals, List<Route> routes) {
        if (lacking.isEmpty() || count(refusals.subList(0, membership.rank())) > 0) {
            return;
        }
        Map.Entry<Route, String> first = lacking.entrySet().iterator().next();
        Route refused = first.getKey();
        List<String> instead = new ArrayList<>();
        for (Route route : routes) {
            if (route.rank() == refused.rank() && route.channel().equals(refused.channel())) {
                instead.add(route.network());
            }
        }
        long all = (long) membership.size() * (membership.size() - 1) / 2 * channels.size();
        LOGGER.log(
                Level.WARNING,
                () -> membership + ": " + count(refusals) + " of " + all + " connections go by "
                        + String.join(", ", instead) + ", since there is no room for them in " + refused.network()
                        + ": " + first.getValue());
    }
}
