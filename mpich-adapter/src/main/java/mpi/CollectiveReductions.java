package mpi;

import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.FreedMemory;
import io.madeleine.mpi.MpiFault;
import io.madeleine.mpi.collectives.Area;
import io.madeleine.mpi.collectives.Combining;
import io.madeleine.mpi.collectives.Reductions;
import io.madeleine.mpi.collectives.Schedule;
import io.madeleine.mpi.comm.Communicator;
import org.jspecify.annotations.Nullable;

/**
 * Turns the arguments of collective reductions into schedules. A send buffer that is null or {@link
 * Collectives#IN_PLACE} means that the operands are in the receive buffer.
 *
 * <p>Threading: without state.
 */
final class CollectiveReductions {
    private CollectiveReductions() {}

    /** Returns the operation if it is not null, which programs pass. */
    static Op given(@Nullable Op operation) {
        return Arguments.present(operation, ErrorClass.OP, "the operation of a reduction", "one such as MPI.SUM");
    }

    /** Checks that there is a count for each member. */
    static void checkCounts(int @Nullable [] counts, int size) {
        if (counts == null || counts.length < size) {
            throw new MpiFault(
                    ErrorClass.ARG,
                    "reduce_scatter has " + (counts == null ? "no" : counts.length) + " counts for " + size
                            + " members: expected one each");
        }
    }

    /** The arguments that all reductions have. */
    record Values(
            @Nullable Object send,
            int sendOffset,
            @Nullable Object receive,
            int receiveOffset,
            Datatype type,
            Op operation) {
        Values {
            Op _ = given(operation);
            Datatype _ = Datatype.check(type);
        }

        boolean isInPlace() {
            return send == null || send == Collectives.IN_PLACE;
        }

        Combining combining() {
            return new Combining(operation.reduction(type), type.type());
        }

        Operand input() {
            return isInPlace() ? Operand.of(receive, receiveOffset, type) : Operand.of(send, sendOffset, type);
        }

        Operand output() {
            return Operand.ofResult(receive, receiveOffset, type);
        }

        /** The receive buffer with the operands in it. */
        Area loaded(Operand output, int count) {
            Area data = output.area(count, isInPlace());
            if (!isInPlace()) {
                data.copyFrom(input().area(count, true));
            }
            return data;
        }
    }

    private static Plan plan(String name, Communicator communicator) {
        return new Plan(new Schedule(name, communicator));
    }

    static Plan reduce(Communicator communicator, Values values, int count, int root) {
        Collectives.checkRoot(communicator, root);
        Combining combining = values.combining();
        Plan plan = plan("reduce", communicator);
        if (communicator.rank() != root) {
            Reductions.reduce(plan.schedule, values.input().copy(count), combining, root);
            return plan;
        }
        Operand output = values.output();
        Area data = values.loaded(output, count);
        Reductions.reduce(plan.schedule, data, combining, root);
        output.store(plan.schedule, data, count);
        plan.receives(output);
        return plan;
    }

    static Plan allreduce(Communicator communicator, Values values, int count) {
        Combining combining = values.combining();
        Plan plan = plan("allreduce", communicator);
        Operand output = values.output();
        Area data = values.loaded(output, count);
        Reductions.allreduce(plan.schedule, data, combining);
        output.store(plan.schedule, data, count);
        plan.receives(output);
        return plan;
    }

    static Plan reduceScatter(Communicator communicator, Values values, int[] counts) {
        int size = communicator.size();
        checkCounts(counts, size);
        Combining combining = values.combining();
        Plan plan = plan("reduce_scatter", communicator);
        long[] bytes = new long[size];
        long items = 0;
        for (int i = 0; i < size; i++) {
            if (counts[i] < 0) {
                throw new MpiFault(
                        ErrorClass.COUNT, "reduce_scatter has the count " + counts[i] + ": expected 0 or more");
            }
            bytes[i] = counts[i] * combining.type().size();
            items += counts[i];
        }
        int own = counts[communicator.rank()];
        Operand output = values.output();
        Area data = values.input().copy(items);
        Area result = output.area(own, false);
        Reductions.reduceScatter(plan.schedule, data, bytes, result, combining);
        output.store(plan.schedule, result, own);
        plan.receives(output);
        return plan;
    }

    static Plan reduceScatterBlock(Communicator communicator, Values values, int count) {
        int[] counts = new int[communicator.size()];
        java.util.Arrays.fill(counts, count);
        return reduceScatter(communicator, values, counts);
    }

    static Plan scan(Communicator communicator, Values values, int count, boolean isExclusive) {
        Combining combining = values.combining();
        Plan plan = plan(isExclusive ? "exscan" : "scan", communicator);
        Operand output = values.output();
        Area own = values.input().area(count, true);
        Area result = output.area(count, true); // rank 0 of an exclusive scan keeps its values
        Reductions.scan(plan.schedule, own, result, combining, isExclusive);
        output.store(plan.schedule, result, count);
        plan.receives(output);
        return plan;
    }

    /** {@code inOut = in op inOut}, without communication. */
    static void local(Object in, Object inOut, int count, Datatype type, Op operation) {
        Combining combining = new Combining(given(operation).reduction(type), type.type());
        Area lower = Operand.of(in, 0, type).copy(count);
        Operand output = Operand.ofResult(inOut, 0, type);
        Area upper = output.area(count, true);
        apply(combining, lower, upper);
        if (!combining.type().isDense()) {
            output.payload(0, count).copyFrom(upper.segment(), upper.offset(), upper.bytes());
        }
        output.giveBack();
    }

    private static void apply(Combining combining, Area lower, Area upper) {
        try {
            combining.operation().apply(lower.memory(), upper.memory(), upper.bytes(), combining.type());
        } catch (MpiFault e) {
            throw e;
        } catch (Throwable e) { // of a program's function
            FreedMemory.clearInterrupt(e);
            throw new MpiFault(ErrorClass.OTHER, "reduceLocal failed: " + e, e);
        }
    }
}
