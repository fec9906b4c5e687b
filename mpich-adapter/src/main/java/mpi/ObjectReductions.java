package mpi;

import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.MpiFault;
import java.util.Arrays;
import java.util.stream.IntStream;
import mpi.ObjectCollectives.Objects;

/**
 * Reductions on MPI.OBJECT by operations of the program. The objects of all members are moved to where their result is
 * needed, and combined there in the order of the ranks. So a member takes memory for the objects of all.
 *
 * <p>Threading: as the communicator.
 */
final class ObjectReductions {
    private ObjectReductions() {}

    static void reduce(Intracomm comm, Objects send, Objects receive, int count, Op op, int root) {
        CollectiveReductions.given(op).checkForObjects();
        Collectives.checkRoot(comm.handle(), root);
        boolean isRoot = comm.getRank() == root;
        Object[] all = new Object[isRoot ? comm.getSize() * count : 0];
        ObjectCollectives.gather(comm, send, count, new Objects(all, 0), count, root);
        if (isRoot) {
            store(combine(all, comm.getSize(), count, op), receive);
        }
    }

    static void allreduce(Intracomm comm, Objects send, Objects receive, int count, Op op) {
        CollectiveReductions.given(op).checkForObjects();
        Object[] all = new Object[comm.getSize() * count];
        ObjectCollectives.allgather(comm, send, count, new Objects(all, 0), count);
        store(combine(all, comm.getSize(), count, op), receive);
    }

    static void scan(Intracomm comm, Objects send, Objects receive, int count, Op op) {
        CollectiveReductions.given(op).checkForObjects();
        Object[] all = new Object[comm.getSize() * count];
        ObjectCollectives.allgather(comm, send, count, new Objects(all, 0), count);
        store(combine(all, comm.getRank() + 1, count, op), receive);
    }

    static void reduceScatter(Intracomm comm, Objects send, Objects receive, int[] counts, Op op) {
        CollectiveReductions.given(op).checkForObjects();
        int size = comm.getSize();
        CollectiveReductions.checkCounts(counts, size);
        int own = counts[comm.getRank()];
        int[] filled = new int[size];
        Arrays.fill(filled, own);
        Object[] all = new Object[size * own];
        ObjectCollectives.alltoallv(
                comm, send, counts, places(counts, size), new Objects(all, 0), filled, places(filled, size));
        store(combine(all, size, own, op), receive);
    }

    private static int[] places(int[] counts, int size) {
        return IntStream.range(0, size)
                .map(i -> Arrays.stream(counts, 0, i).sum())
                .toArray();
    }

    /** The objects of the first members, combined in the order of the ranks. */
    private static Object[] combine(Object[] all, int members, int count, Op op) {
        int last = members - 1;
        Object[] result = Arrays.copyOfRange(all, last * count, last * count + count);
        for (int rank = last - 1; rank >= 0; rank--) {
            op.callOnObjects(Arrays.copyOfRange(all, rank * count, rank * count + count), result, count);
        }
        return result;
    }

    private static void store(Object[] result, Objects receive) {
        Object[] array = receive.array();
        if (receive.offset() < 0 || result.length > array.length - receive.offset()) {
            throw new MpiFault(
                    ErrorClass.BUFFER,
                    "a reduction of " + result.length + " objects goes to offset " + receive.offset()
                            + " of an array of " + array.length + ": expected it to lie within the array");
        }
        try {
            System.arraycopy(result, 0, array, receive.offset(), result.length);
        } catch (ArrayStoreException e) {
            throw new MpiFault(
                    ErrorClass.TYPE,
                    "the result of a reduction of objects does not fit its array: " + e.getMessage(),
                    e);
        }
    }
}
