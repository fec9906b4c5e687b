package io.madeleine.mpi.comm;

import io.madeleine.mpi.device.Device;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A group with a context: a number that no other communicator of the session has (MPI 4.1, section 7.2). Messages
 * between two processes and those of collective operations have contexts of their own.
 *
 * <p>Threading: thread-safe.
 */
public final class Communicator {
    /** The largest tag of a collective operation. */
    private static final int TAG_MASK = Integer.MAX_VALUE;

    private final Device device;
    private final RankGroup group;
    private final int rank;
    private final long context;

    /** Counts the collective operations, which all members start in the same order: the tag of each. */
    private final AtomicInteger collectives = new AtomicInteger();

    /**
     * A communicator of this process.
     *
     * @param identity the same in all members, and different for each communicator: from {@link ContextNumbers}
     */
    public Communicator(Device device, RankGroup group, long identity) {
        this.device = device;
        this.group = group;
        this.rank = group.rankOf(device.rank());
        this.context = identity << 1;
    }

    /** The device that moves the messages. */
    public Device device() {
        return device;
    }

    /** The members. */
    public RankGroup group() {
        return group;
    }

    /** The rank of this process. */
    public int rank() {
        return rank;
    }

    /** The number of members. */
    public int size() {
        return group.size();
    }

    /** The context of messages between two processes. */
    public long context() {
        return context;
    }

    /** The context of collective operations. */
    public long collectiveContext() {
        return context | 1;
    }

    /** Whether messages with this context are those of collective operations. */
    public static boolean isCollective(long context) {
        return (context & 1) != 0;
    }

    /** The tag of the next collective operation. */
    public int nextCollectiveTag() {
        return collectives.getAndIncrement() & TAG_MASK;
    }
}
