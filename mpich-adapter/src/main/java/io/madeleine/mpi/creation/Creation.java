package io.madeleine.mpi.creation;

import io.madeleine.mpi.collectives.Area;
import io.madeleine.mpi.collectives.Exchanges;
import io.madeleine.mpi.collectives.Schedule;
import io.madeleine.mpi.collectives.Trees;
import io.madeleine.mpi.comm.Communicator;
import io.madeleine.mpi.comm.ContextNumbers;
import io.madeleine.mpi.comm.RankGroup;
import io.madeleine.mpi.device.Device;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * A communicator that is being made: a schedule, and the communicator once it is done.
 *
 * <p>Threading: one thread makes it; the result may be taken when the schedule is done.
 */
public final class Creation {
    private static final int ENTRY_BYTES = 8;

    private final Device device;
    private final RankGroup group;
    private final Schedule schedule;
    private final Area identity = Area.allocate(Long.BYTES);

    private Creation(Device device, RankGroup group, Schedule schedule, ContextNumbers numbers) {
        this.device = device;
        this.group = group;
        this.schedule = schedule;
        if (schedule.rank() == 0) {
            identity.segment().set(ValueLayout.JAVA_LONG_UNALIGNED, 0, numbers.next());
        }
        Trees.broadcast(schedule, identity, 0);
    }

    /** The schedule; the caller starts it. */
    public Schedule schedule() {
        return schedule;
    }

    /** The new communicator, when the schedule is done. */
    public Communicator result() {
        return new Communicator(device, group, identity.segment().get(ValueLayout.JAVA_LONG_UNALIGNED, 0));
    }

    /** The same group with another context. */
    public static Creation duplicate(Communicator parent, ContextNumbers numbers) {
        return new Creation(
                parent.device(), parent.group(), new Schedule("the duplication of a communicator", parent), numbers);
    }

    /** A part of the group; all members of the parent call it. Empty at those that do not belong to it. */
    public static Optional<Creation> create(Communicator parent, RankGroup part, ContextNumbers numbers) {
        return among(parent, part, parent.nextCollectiveTag(), numbers);
    }

    /**
     * A part of the group; only its members call it.
     *
     * @param tag keeps concurrent calls apart
     */
    public static Optional<Creation> createGroup(Communicator parent, RankGroup part, int tag, ContextNumbers numbers) {
        return among(parent, part, -2 - tag, numbers); // below the tags of collective operations
    }

    private static Optional<Creation> among(Communicator parent, RankGroup part, int tag, ContextNumbers numbers) {
        if (!part.test(parent.device().rank())) {
            return Optional.empty();
        }
        Schedule schedule =
                new Schedule("the creation of a communicator", parent.device(), part, parent.collectiveContext(), tag);
        return Optional.of(new Creation(parent.device(), part, schedule, numbers));
    }

    /**
     * The exchange of colours and keys that precedes a split. When it is done, {@link #split} makes the communicator.
     *
     * @param table room for {@link #tableBytes} bytes
     */
    public static Schedule exchange(Communicator parent, Area table, int colour, int key) {
        Schedule schedule = new Schedule("the split of a communicator", parent);
        long own = (long) parent.rank() * ENTRY_BYTES;
        table.segment().set(ValueLayout.JAVA_INT_UNALIGNED, own, colour);
        table.segment().set(ValueLayout.JAVA_INT_UNALIGNED, own + Integer.BYTES, key);
        Exchanges.allgather(schedule, table, ENTRY_BYTES);
        return schedule;
    }

    /** The room that {@link #exchange} needs. */
    public static long tableBytes(Communicator parent) {
        return (long) parent.size() * ENTRY_BYTES;
    }

    /** The members with this member's colour, by key and rank; empty if the colour is undefined. */
    public static Optional<Creation> split(Communicator parent, Area table, ContextNumbers numbers) {
        int colour = colour(table, parent.rank());
        int tag = parent.nextCollectiveTag();
        if (colour == RankGroup.UNDEFINED) {
            return Optional.empty();
        }
        int[] members = IntStream.range(0, parent.size())
                .filter(rank -> colour(table, rank) == colour)
                .boxed()
                .sorted((a, b) -> key(table, a) == key(table, b)
                        ? Integer.compare(a, b)
                        : Integer.compare(key(table, a), key(table, b)))
                .mapToInt(rank -> parent.group().sessionRank(rank))
                .toArray();
        return among(parent, new RankGroup(members), tag, numbers);
    }

    private static int colour(Area table, int rank) {
        return table.segment().get(ValueLayout.JAVA_INT_UNALIGNED, (long) rank * ENTRY_BYTES);
    }

    private static int key(Area table, int rank) {
        return table.segment().get(ValueLayout.JAVA_INT_UNALIGNED, (long) rank * ENTRY_BYTES + Integer.BYTES);
    }
}
