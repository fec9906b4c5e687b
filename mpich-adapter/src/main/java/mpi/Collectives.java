package mpi;

import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.MpiFault;
import io.madeleine.mpi.collectives.Area;
import io.madeleine.mpi.collectives.Exchanges;
import io.madeleine.mpi.collectives.Schedule;
import io.madeleine.mpi.collectives.Trees;
import io.madeleine.mpi.comm.Communicator;
import io.madeleine.mpi.datatypes.Buffers;
import io.madeleine.mpi.datatypes.Length;
import io.madeleine.mpi.device.Payload;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Turns the arguments of collective operations that move data into schedules. An offset counts elements of the array.
 *
 * <p>Threading: without state.
 */
final class Collectives {
    /** Stands for the send buffer (scatter: the receive buffer) of a member whose data is in place. */
    static final Object IN_PLACE = new Object();

    private Collectives() {}

    private static Plan plan(String name, Communicator communicator) {
        return new Plan(new Schedule(name, communicator));
    }

    static void checkRoot(Communicator communicator, int root) {
        if (root < 0 || root >= communicator.size()) {
            throw new MpiFault(
                    ErrorClass.ROOT,
                    "the root is " + root + ": expected a rank from 0 to " + (communicator.size() - 1));
        }
    }

    static Plan barrier(Communicator communicator) {
        Plan plan = plan("barrier", communicator);
        Exchanges.barrier(plan.schedule);
        return plan;
    }

    static Plan bcast(
            Communicator communicator, @Nullable Object buffer, int offset, int count, Datatype type, int root) {
        checkRoot(communicator, root);
        Plan plan = plan("bcast", communicator);
        boolean isRoot = communicator.rank() == root;
        Operand operand = isRoot ? Operand.of(buffer, offset, type) : Operand.ofResult(buffer, offset, type);
        Area data = operand.area(count, isRoot);
        Trees.broadcast(plan.schedule, data, root);
        if (!isRoot) {
            operand.store(plan.schedule, data, count);
            plan.receives(operand);
        }
        return plan;
    }

    /** One side of a collective operation: a buffer, where it begins, how many items per member, and their type. */
    record Side(@Nullable Object buffer, int offset, int count, Datatype type) {
        boolean isInPlace() {
            return buffer == IN_PLACE;
        }

        Operand operand() {
            return Operand.of(buffer, offset, type);
        }

        Operand result() {
            return Operand.ofResult(buffer, offset, type);
        }
    }

    /** The same with different numbers of items, at distances that count extents of the type. */
    @SuppressWarnings("ArrayRecordComponent") // arguments of one call, never compared
    record Sides(@Nullable Object buffer, int offset, int[] counts, int[] distances, Datatype type) {
        IntFunction<Payload> blocks(Operand operand) {
            long extent = operand.type().extent();
            return rank -> operand.payload(Length.DISPLACEMENT.times(distances[rank], extent), counts[rank]);
        }

        Operand operand(Communicator communicator) {
            check(communicator, counts, distances);
            return Operand.of(buffer, offset, type);
        }

        Operand result(Communicator communicator) {
            Buffers.checkWritable(buffer);
            return operand(communicator);
        }
    }

    private static void check(Communicator communicator, int @Nullable [] counts, int @Nullable [] distances) {
        if (counts == null
                || distances == null
                || counts.length < communicator.size()
                || distances.length < communicator.size()) {
            throw new MpiFault(
                    ErrorClass.ARG,
                    "a collective operation of " + communicator.size() + " members has "
                            + (counts == null ? "no" : counts.length) + " counts and "
                            + (distances == null ? "no" : distances.length)
                            + " displacements: expected one per member");
        }
    }

    // ---- gather and scatter

    static Plan gather(Communicator communicator, Side send, Side receive, int root) {
        checkRoot(communicator, root);
        Plan plan = plan("gather", communicator);
        if (communicator.rank() != root) {
            Area own = send.operand().area(send.count(), true);
            Trees.gather(plan.schedule, own, own, root);
            return plan;
        }
        long items = (long) receive.count() * communicator.size();
        Operand target = receive.result();
        Area all = target.area(items, send.isInPlace());
        long block = all.bytes() / communicator.size();
        Area place = all.slice(root * block, block);
        if (!send.isInPlace()) {
            place.copyFrom(checkedBlock(send.operand().area(send.count(), true), block));
        }
        Trees.gather(plan.schedule, place, all, root);
        target.store(plan.schedule, all, items);
        plan.receives(target);
        return plan;
    }

    /** A member's own block, which must fit where it goes. */
    private static Area checkedBlock(Area own, long block) {
        if (own.bytes() > block) {
            throw new MpiFault(
                    ErrorClass.TRUNCATE,
                    "a collective operation sends " + own.bytes() + " bytes to a block of " + block
                            + " bytes: expected the same number of bytes on both sides");
        }
        return own;
    }

    static Plan gatherv(Communicator communicator, Side send, @Nullable Sides receive, int root) {
        checkRoot(communicator, root);
        Plan plan = plan("gatherv", communicator);
        if (communicator.rank() != root || receive == null) {
            Payload own = send.operand().payload(0, send.count());
            Exchanges.gatherBlocks(plan.schedule, own, _ -> own, root);
            return plan;
        }
        Operand target = receive.result(communicator);
        IntFunction<Payload> blocks = receive.blocks(target);
        Payload place = blocks.apply(root);
        if (!send.isInPlace()) {
            copy(send.operand().payload(0, send.count()), place);
        }
        Exchanges.gatherBlocks(plan.schedule, place, blocks, root);
        plan.receives(target);
        return plan;
    }

    private static void copy(Payload from, Payload to) {
        if (from.bytes() > to.bytes()) {
            throw new MpiFault(
                    ErrorClass.TRUNCATE,
                    "a collective operation sends " + from.bytes() + " bytes to a block of " + to.bytes()
                            + " bytes: expected the same number of bytes on both sides");
        }
        from.copyTo(to, from.bytes());
    }

    static Plan scatter(Communicator communicator, Side send, Side receive, int root) {
        checkRoot(communicator, root);
        Plan plan = plan("scatter", communicator);
        if (communicator.rank() != root) {
            Operand target = receive.result();
            Area own = target.area(receive.count(), false);
            Trees.scatter(plan.schedule, own, own, own.bytes(), root);
            target.store(plan.schedule, own, receive.count());
            plan.receives(target);
            return plan;
        }
        Area all = send.operand().area((long) send.count() * communicator.size(), true);
        long block = all.bytes() / communicator.size();
        Trees.scatter(plan.schedule, all, all, block, root);
        if (!receive.isInPlace()) {
            Operand target = receive.result();
            Payload place = target.payload(0, receive.count());
            Area own = all.slice(root * block, block);
            plan.schedule.then(() -> place.copyFrom(own.segment(), own.offset(), Math.min(block, place.bytes())));
            plan.receives(target);
        }
        return plan;
    }

    static Plan scatterv(Communicator communicator, @Nullable Sides send, Side receive, int root) {
        checkRoot(communicator, root);
        Plan plan = plan("scatterv", communicator);
        if (communicator.rank() != root || send == null) {
            Operand target = receive.result();
            Payload own = target.payload(0, receive.count());
            Exchanges.scatterBlocks(plan.schedule, _ -> own, own, root);
            plan.receives(target);
            return plan;
        }
        IntFunction<Payload> blocks = send.blocks(send.operand(communicator));
        Payload own = blocks.apply(root);
        Exchanges.scatterBlocks(plan.schedule, blocks, own, root);
        if (!receive.isInPlace()) {
            Operand target = receive.result();
            copy(own, target.payload(0, receive.count()));
            plan.receives(target);
        }
        return plan;
    }

    // ---- allgather

    static Plan allgather(Communicator communicator, Side send, Side receive) {
        Plan plan = plan("allgather", communicator);
        long items = (long) receive.count() * communicator.size();
        Operand target = receive.result();
        Area all = target.area(items, send.isInPlace());
        long block = all.bytes() / communicator.size();
        if (!send.isInPlace()) {
            all.slice(communicator.rank() * block, block)
                    .copyFrom(checkedBlock(send.operand().area(send.count(), true), block));
        }
        Exchanges.allgather(plan.schedule, all, block);
        target.store(plan.schedule, all, items);
        plan.receives(target);
        return plan;
    }

    static Plan allgatherv(Communicator communicator, Side send, Sides receive) {
        Plan plan = plan("allgatherv", communicator);
        Operand target = receive.result(communicator);
        IntFunction<Payload> blocks = receive.blocks(target);
        if (!send.isInPlace()) {
            copy(send.operand().payload(0, send.count()), blocks.apply(communicator.rank()));
        }
        Exchanges.allgatherBlocks(plan.schedule, blocks);
        plan.receives(target);
        return plan;
    }

    // ---- alltoall

    static Plan alltoall(Communicator communicator, Side send, Side receive) {
        Plan plan = plan("alltoall", communicator);
        int size = communicator.size();
        long items = (long) receive.count() * size;
        Operand target = receive.result();
        Area out = send.operand().area((long) send.count() * size, true);
        Area in = target.area(items, false);
        long block = out.bytes() / size;
        if (in.bytes() < out.bytes()) {
            checkedBlock(out, in.bytes());
        }
        in.slice(communicator.rank() * block, block).copyFrom(out.slice(communicator.rank() * block, block));
        Exchanges.alltoall(plan.schedule, out, in, block);
        target.store(plan.schedule, in, items);
        plan.receives(target);
        return plan;
    }

    static Plan alltoallv(Communicator communicator, Sides send, Sides receive) {
        Plan plan = plan("alltoallv", communicator);
        Operand target = receive.result(communicator);
        alltoallBlocks(plan, communicator, send.blocks(send.operand(communicator)), receive.blocks(target));
        plan.receives(target);
        return plan;
    }

    private static void alltoallBlocks(
            Plan plan, Communicator communicator, IntFunction<Payload> out, IntFunction<Payload> in) {
        copy(out.apply(communicator.rank()), in.apply(communicator.rank()));
        Exchanges.alltoallBlocks(plan.schedule, out, in);
    }

    /** One side of alltoallw: a type per member, distances in bytes. */
    @SuppressWarnings("ArrayRecordComponent") // arguments of one call, never compared
    record TypedSides(@Nullable Object buffer, int[] counts, int[] distances, Datatype[] types) {
        Operand operand(Communicator communicator) {
            check(communicator, counts, distances);
            checkTypes(types, communicator.size());
            return Operand.of(buffer, 0, types[0]);
        }

        private static void checkTypes(Datatype @Nullable [] types, int size) {
            if (types == null || types.length < size) {
                throw new MpiFault(
                        ErrorClass.ARG,
                        "alltoallw has " + (types == null ? "no" : types.length) + " datatypes for " + size
                                + " members: expected one per member");
            }
        }

        /** The blocks, which share the copy of an array of boolean. */
        IntFunction<Payload> blocks(Operand operand) {
            return rank -> {
                Operand block = operand.isCopy() ? operand.as(types[rank]) : Operand.of(buffer, 0, types[rank]);
                return block.payload(distances[rank], counts[rank]);
            };
        }
    }

    static Plan alltoallw(Communicator communicator, TypedSides send, TypedSides receive) {
        Plan plan = plan("alltoallw", communicator);
        Buffers.checkWritable(receive.buffer());
        Operand target = receive.operand(communicator);
        alltoallBlocks(plan, communicator, send.blocks(send.operand(communicator)), receive.blocks(target));
        plan.receives(target);
        return plan;
    }
}
