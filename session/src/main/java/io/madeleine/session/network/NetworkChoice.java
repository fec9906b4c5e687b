package io.madeleine.session.network;

import io.madeleine.api.SessionException;
import io.madeleine.pmm.spi.Adapter;
import io.madeleine.session.config.ChannelSettings;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.StringJoiner;
import java.util.function.UnaryOperator;

/**
 * Chooses the network over which each channel reaches each peer. Both ends make the same choice: from the list of the
 * lower rank, the first network that both have and over which each reports that it reaches the other.
 *
 * <p>Reachability is not always mutual. So processes exchange it before they choose: one bit for each candidate
 * network, per peer and channel.
 *
 * <p>Threading: confined to caller.
 */
public final class NetworkChoice {
    private static final int MAX_CANDIDATES = Long.SIZE;

    private final int self;
    private final List<ProcessDescription> descriptions;
    private final List<ChannelSettings> channels;
    private final Map<String, Adapter> adapters;
    private final UnaryOperator<String> whyNotOpened;
    private final Map<String, String> reasons = new HashMap<>();

    /**
     * @param self this process's rank
     * @param descriptions the descriptions of all processes, by rank
     * @param adapters this process's open adapters by {@code network/adapter}
     * @param whyNotOpened returns why a network has no adapter in this process
     */
    public NetworkChoice(
            int self,
            List<ProcessDescription> descriptions,
            Map<String, Adapter> adapters,
            UnaryOperator<String> whyNotOpened) {
        this.self = self;
        this.descriptions = descriptions;
        this.channels = descriptions.get(self).channels();
        this.adapters = adapters;
        this.whyNotOpened = whyNotOpened;
        for (int rank = 0; rank < descriptions.size(); rank++) {
            checkChannels(rank);
        }
    }

    private void checkChannels(int rank) {
        ProcessDescription peer = descriptions.get(rank);
        for (ChannelSettings channel : channels) {
            Optional<ChannelSettings> there = peer.channel(channel.name());
            if (there.isEmpty()) {
                throw new SessionException("channel " + channel.name() + " is not configured in rank " + rank
                        + ": madeleine.channels needs the same names in all processes");
            }
            if (!there.get().network().equals(channel.network())) {
                throw new SessionException("channel " + channel.name() + ": madeleine.channels." + channel.name()
                        + ".network is " + channel.network() + " in rank " + self + " and "
                        + there.get().network() + " in rank " + rank);
            }
        }
        if (peer.channels().size() != channels.size()) {
            throw new SessionException(
                    "rank " + rank + " has " + peer.channels().size() + " channels, rank " + self + " "
                            + channels.size() + ": madeleine.channels needs the same names in all processes");
        }
    }

    /** The peers that this process reaches, as bit masks for all processes: one long per rank and channel. */
    byte[] reach() {
        ByteBuffer reach = ByteBuffer.allocate(descriptions.size() * channels.size() * Long.BYTES);
        for (int rank = 0; rank < descriptions.size(); rank++) {
            for (ChannelSettings channel : channels) {
                reach.putLong(rank == self ? 0 : reach(rank, channel));
            }
        }
        return reach.array();
    }

    private long reach(int rank, ChannelSettings channel) {
        long mask = 0;
        List<String> candidates = candidates(rank, channel);
        for (int i = 0; i < candidates.size(); i++) {
            Optional<String> obstacle = obstacle(rank, channel, candidates.get(i));
            if (obstacle.isEmpty()) {
                mask |= 1L << i;
            } else {
                reasons.put(key(rank, channel, candidates.get(i)), obstacle.get());
            }
        }
        return mask;
    }

    private static String key(int rank, ChannelSettings channel, String network) {
        return rank + " " + channel.name() + " " + network;
    }

    private List<String> candidates(int rank, ChannelSettings channel) {
        if (!channel.automatic()) {
            return List.of(channel.network());
        }
        List<String> preference = descriptions.get(Math.min(self, rank)).preference();
        return preference.subList(0, Math.min(preference.size(), MAX_CANDIDATES));
    }

    /** Why the peer cannot be reached over the network; empty if it can. */
    private Optional<String> obstacle(int rank, ChannelSettings channel, String network) {
        Optional<ProcessDescription.AdapterDescription> here =
                descriptions.get(self).adapter(network, channel);
        if (here.isEmpty()) {
            return Optional.of("rank " + self + " has not opened it: " + whyNotOpened.apply(network));
        }
        ChannelSettings channelThere =
                descriptions.get(rank).channel(channel.name()).orElseThrow();
        Optional<ProcessDescription.AdapterDescription> there =
                descriptions.get(rank).adapter(network, channelThere);
        if (there.isEmpty()) {
            return Optional.of("rank " + rank + " has not opened it");
        }
        Adapter adapter = adapters.get(network + "/" + here.get().adapter());
        return adapter == null
                ? Optional.of("the adapter is closed")
                : adapter.unreachable(there.get().address());
    }

    /**
     * Chooses the routes of this process.
     *
     * @param reaches the result of {@link #reach} in each process, by rank
     * @throws SessionException if some channel has no common network with some peer
     */
    List<Route> decide(List<byte[]> reaches) {
        List<Route> routes = new ArrayList<>();
        for (int rank = 0; rank < descriptions.size(); rank++) {
            for (int index = 0; rank != self && index < channels.size(); index++) {
                ChannelSettings channel = channels.get(index);
                long here = mask(reaches.get(self), rank, index);
                long there = mask(reaches.get(rank), self, index);
                if ((here & there) == 0) {
                    throw noNetwork(rank, channel, here, there);
                }
                String network = candidates(rank, channel).get(Long.numberOfTrailingZeros(here & there));
                routes.add(route(rank, channel, network));
            }
        }
        return routes;
    }

    /** The routes for which this process has no room, in the form of {@link #reach}. */
    byte[] refusals(Map<Route, String> refused) {
        ByteBuffer masks = ByteBuffer.allocate(descriptions.size() * channels.size() * Long.BYTES);
        refused.forEach((route, reason) -> {
            ChannelSettings channel =
                    descriptions.get(self).channel(route.channel()).orElseThrow();
            int index = route.rank() * channels.size() + channels.indexOf(channel);
            masks.putLong(
                    index * Long.BYTES, 1L << candidates(route.rank(), channel).indexOf(route.network()));
            reasons.put(key(route.rank(), channel, route.network()), reason);
        });
        return masks.array();
    }

    /** Removes the refused routes from the reachable ones. */
    static List<byte[]> without(List<byte[]> reaches, List<byte[]> refusals) {
        List<byte[]> left = new ArrayList<>();
        for (int rank = 0; rank < reaches.size(); rank++) {
            byte[] reach = reaches.get(rank).clone();
            byte[] refused = refusals.get(rank);
            for (int i = 0; i < Math.min(reach.length, refused.length); i++) {
                reach[i] &= (byte) ~refused[i];
            }
            left.add(reach);
        }
        return left;
    }

    private Route route(int rank, ChannelSettings channel, String network) {
        ChannelSettings channelThere =
                descriptions.get(rank).channel(channel.name()).orElseThrow();
        return new Route(
                rank,
                channel.name(),
                network,
                descriptions.get(self).adapter(network, channel).orElseThrow().adapter(),
                descriptions
                        .get(rank)
                        .adapter(network, channelThere)
                        .orElseThrow()
                        .address());
    }

    private long mask(byte[] reach, int rank, int channelIndex) {
        int offset = (rank * channels.size() + channelIndex) * Long.BYTES;
        if (reach.length != descriptions.size() * channels.size() * Long.BYTES) {
            throw new SessionException("rank " + rank + " sent a reachability mask of " + reach.length
                    + " bytes, expected " + descriptions.size() * channels.size() * Long.BYTES);
        }
        return ByteBuffer.wrap(reach).getLong(offset);
    }

    private SessionException noNetwork(int rank, ChannelSettings channel, long here, long there) {
        StringJoiner why = new StringJoiner("; ");
        List<String> candidates = candidates(rank, channel);
        for (int i = 0; i < candidates.size(); i++) {
            String network = candidates.get(i);
            if ((here >> i & 1) == 0) {
                why.add(network + ": " + reasons.getOrDefault(key(rank, channel, network), "not reachable"));
            } else if ((there >> i & 1) == 0) {
                why.add(network + ": rank " + rank + " cannot reach rank " + self + " over it");
            }
        }
        return new SessionException("channel " + channel.name() + ": rank " + self + " and rank " + rank
                + " share no network (" + why + "); see madeleine.channels." + channel.name()
                + ".network, madeleine.networks and madeleine.tm.*.enabled");
    }
}
