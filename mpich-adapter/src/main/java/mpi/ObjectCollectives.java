package mpi;

import io.madeleine.mpi.MpiFault;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Collective operations on MPI.OBJECT. The lengths of serialized objects differ, so each operation is an exchange of
 * lengths and an exchange of bytes.
 *
 * <p>Threading: as the communicator.
 */
final class ObjectCollectives {
    private static final byte[] NOTHING = new byte[0];

    private ObjectCollectives() {}

    /** An array of objects, and where items begin. */
    record Objects(@Nullable Object buffer, int offset) {
        Object[] array() {
            if (buffer instanceof Object[] objects) {
                return objects;
            }
            throw ObjectMessages.noObjects("a collective operation", buffer);
        }

        byte[] write(int from, int count) {
            return ObjectMessages.write(array(), offset + from, count);
        }

        void read(byte[] bytes, int to, int count) {
            int _ = ObjectMessages.read(bytes, array(), offset + to, count);
        }
    }

    /**
     * Sends an array of bytes from each member to each. A member whose objects cannot be serialized tells the others,
     * which fail, too.
     */
    private static byte[][] exchange(Intracomm comm, Supplier<byte[][]> written) {
        int size = comm.getSize();
        int[] coming = new int[size];
        byte[][] out;
        try {
            out = written.get();
        } catch (MpiFault e) {
            comm.allToAll(filled(comm, -e.errorClass()), 1, MPI.INT, coming, 1, MPI.INT);
            throw e;
        }
        int[] leaving = IntStream.range(0, size).map(i -> out[i].length).toArray();
        comm.allToAll(leaving, 1, MPI.INT, coming, 1, MPI.INT);
        for (int i = 0; i < size; i++) {
            if (coming[i] < 0) {
                throw new MpiFault(
                        -coming[i],
                        "a collective operation on MPI.OBJECT failed at rank " + i + " with error class " + -coming[i]
                                + "; see the error of that rank");
            }
        }
        byte[] outBytes = new byte[sum(leaving, size)];
        for (int i = 0; i < size; i++) {
            System.arraycopy(out[i], 0, outBytes, sum(leaving, i), leaving[i]);
        }
        byte[] inBytes = new byte[sum(coming, size)];
        comm.allToAllv(outBytes, leaving, places(leaving), MPI.BYTE, inBytes, coming, places(coming), MPI.BYTE);
        byte[][] in = new byte[size][];
        for (int i = 0; i < size; i++) {
            int begin = sum(coming, i);
            in[i] = java.util.Arrays.copyOfRange(inBytes, begin, begin + coming[i]);
        }
        return in;
    }

    private static int sum(int[] counts, int end) {
        return java.util.Arrays.stream(counts, 0, end).sum();
    }

    private static int[] places(int[] counts) {
        return IntStream.range(0, counts.length).map(i -> sum(counts, i)).toArray();
    }

    private static byte[][] toAll(Intracomm comm, byte[] bytes) {
        byte[][] out = new byte[comm.getSize()][];
        java.util.Arrays.fill(out, bytes);
        return out;
    }

    private static byte[][] toOne(Intracomm comm, byte[] bytes, int root) {
        byte[][] out = toAll(comm, NOTHING);
        out[root] = bytes;
        return out;
    }

    private static int[] filled(Intracomm comm, int value) {
        int[] values = new int[comm.getSize()];
        java.util.Arrays.fill(values, value);
        return values;
    }

    private static int[] multiples(Intracomm comm, int value) {
        return IntStream.range(0, comm.getSize()).map(i -> i * value).toArray();
    }

    static void bcast(Intracomm comm, Objects buffer, int count, int root) {
        Collectives.checkRoot(comm.handle(), root);
        boolean isRoot = comm.getRank() == root;
        byte[][] in = exchange(comm, () -> toAll(comm, isRoot ? buffer.write(0, count) : NOTHING));
        if (!isRoot) {
            buffer.read(in[root], 0, count);
        }
    }

    static void gather(Intracomm comm, Objects send, int count, Objects receive, int receiveCount, int root) {
        gatherv(comm, send, count, receive, filled(comm, receiveCount), multiples(comm, receiveCount), root);
    }

    static void gatherv(
            Intracomm comm, Objects send, int count, Objects receive, int[] counts, int[] places, int root) {
        Collectives.checkRoot(comm.handle(), root);
        byte[][] in = exchange(comm, () -> toOne(comm, send.write(0, count), root));
        if (comm.getRank() == root) {
            readAll(receive, in, counts, places);
        }
    }

    private static void readAll(Objects receive, byte[][] in, int[] counts, int[] places) {
        for (int i = 0; i < in.length; i++) {
            receive.read(in[i], places[i], counts[i]);
        }
    }

    static void scatter(Intracomm comm, Objects send, int count, Objects receive, int receiveCount, int root) {
        scatterv(comm, send, filled(comm, count), multiples(comm, count), receive, receiveCount, root);
    }

    static void scatterv(
            Intracomm comm, Objects send, int[] counts, int[] places, Objects receive, int count, int root) {
        Collectives.checkRoot(comm.handle(), root);
        byte[][] in = exchange(comm, () -> {
            byte[][] out = toAll(comm, NOTHING);
            for (int i = 0; i < out.length && comm.getRank() == root; i++) {
                out[i] = send.write(places[i], counts[i]);
            }
            return out;
        });
        receive.read(in[root], 0, count);
    }

    static void allgather(Intracomm comm, Objects send, int count, Objects receive, int receiveCount) {
        allgatherv(comm, send, count, receive, filled(comm, receiveCount), multiples(comm, receiveCount));
    }

    static void allgatherv(Intracomm comm, Objects send, int count, Objects receive, int[] counts, int[] places) {
        readAll(receive, exchange(comm, () -> toAll(comm, send.write(0, count))), counts, places);
    }

    static void alltoall(Intracomm comm, Objects send, int count, Objects receive, int receiveCount) {
        alltoallv(
                comm,
                send,
                filled(comm, count),
                multiples(comm, count),
                receive,
                filled(comm, receiveCount),
                multiples(comm, receiveCount));
    }

    static void alltoallv(
            Intracomm comm,
            Objects send,
            int[] sendCounts,
            int[] sendPlaces,
            Objects receive,
            int[] counts,
            int[] places) {
        byte[][] in = exchange(comm, () -> {
            byte[][] out = new byte[comm.getSize()][];
            for (int i = 0; i < out.length; i++) {
                out[i] = send.write(sendPlaces[i], sendCounts[i]);
            }
            return out;
        });
        readAll(receive, in, counts, places);
    }
}
