package io.madeleine.pmm.faults;

import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.ProcessIdentity;
import java.util.Map;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;

/**
 * The faults to inject into what arrives over connections, by sender and receiver. The receiving process injects them.
 *
 * <p>Threading: immutable.
 *
 * @param seed decides what is delayed by how much; the same seed and the same order of arrivals give the same delays
 * @param directions the faults of each direction that has some
 */
public record Faults(long seed, Map<Direction, DirectionFaults> directions) {
    /** No faults. */
    public static final Faults NONE = new Faults(0, Map.of());

    /** Copies the map. */
    public Faults {
        directions = Map.copyOf(directions);
    }

    /**
     * From a rank to a rank.
     *
     * @param from the sender, or {@link #ANY}
     * @param to the receiver, or {@link #ANY}
     */
    public record Direction(int from, int to) {
        /** Stands for every rank. */
        public static final int ANY = -1;

        /** As in the configuration: {@code 0-to-1}, {@code any-to-2}. */
        @Override
        public String toString() {
            return name(from) + "-to-" + name(to);
        }

        private static String name(int rank) {
            return rank == ANY ? "any" : String.valueOf(rank);
        }
    }

    /** Whether there are any. */
    public boolean any() {
        return directions.values().stream().anyMatch(DirectionFaults::any);
    }

    /** One line for a log. */
    public String summary() {
        return directions.entrySet().stream()
                .map(one -> one.getKey() + " " + one.getValue().summary())
                .sorted()
                .collect(Collectors.joining(", "));
    }

    /**
     * The direction whose faults count for what one rank sends to another: the most precise one that is configured. One
     * that names the sender is more precise than one that names the receiver.
     */
    Direction directionFor(int from, int to) {
        Direction both = new Direction(from, to);
        Direction sender = new Direction(from, Direction.ANY);
        Direction receiver = new Direction(Direction.ANY, to);
        return directions.containsKey(both)
                ? both
                : directions.containsKey(sender)
                        ? sender
                        : directions.containsKey(receiver) ? receiver : new Direction(Direction.ANY, Direction.ANY);
    }

    /** The faults of a direction, as {@link #directionFor} has given it. */
    DirectionFaults of(Direction direction) {
        return directions.getOrDefault(direction, DirectionFaults.NONE);
    }

    /**
     * Decorates an adapter: its connections inject the faults.
     *
     * @param rank the rank of this process
     * @param rankOf the ranks of the peers; called once for each connection that is made
     * @return the adapter itself if there are no faults
     */
    public Adapter around(Adapter adapter, int rank, ToIntFunction<ProcessIdentity> rankOf) {
        return any() ? new FaultyAdapter(adapter, this, rank, rankOf) : adapter;
    }
}
