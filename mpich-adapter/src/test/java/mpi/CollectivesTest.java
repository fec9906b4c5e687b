package mpi;

import static mpi.Contributions.all;
import static mpi.Contributions.forAll;
import static mpi.Contributions.sum;
import static mpi.Contributions.values;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.IntBuffer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Each collective operation that moves values, with 1 to 17 processes, random values and several lengths, against a
 * plain reference. {@link ReductionsTest} has those that compute.
 */
class CollectivesTest extends EachNumberOfMembers {
    @Test
    void shouldBroadcastGatherAndScatter() {
        forAll(world, size, (comm, n, rank, count, root) -> {
            int[] buffer = rank == root ? values(root, count, 1) : new int[count];
            comm.bcast(buffer, count, MPI.INT, root);
            assertArrayEquals(values(root, count, 1), buffer);

            int[] gathered = new int[n * count];
            comm.gather(values(rank, count, 2), count, MPI.INT, gathered, count, MPI.INT, root);
            if (rank == root) {
                assertArrayEquals(all(n, count, 2), gathered);
                int[] inPlace = new int[n * count];
                System.arraycopy(values(rank, count, 3), 0, inPlace, rank * count, count);
                comm.gather(inPlace, count, MPI.INT, root);
                assertArrayEquals(all(n, count, 3), inPlace);
            } else {
                comm.gather(values(rank, count, 3), count, MPI.INT, root);
            }

            int[] part = new int[count];
            comm.scatter(rank == root ? all(n, count, 4) : null, count, MPI.INT, part, count, MPI.INT, root);
            assertArrayEquals(values(rank, count, 4), part);
            int[] place = rank == root ? all(n, count, 5) : new int[count];
            comm.scatter(place, count, MPI.INT, root);
            assertArrayEquals(rank == root ? all(n, count, 5) : values(rank, count, 5), place);
        });
    }

    @Test
    void shouldGatherEverywhereAndExchangeAll() {
        forAll(world, size, (comm, n, rank, count, root) -> {
            int[] gathered = new int[n * count];
            comm.allGather(values(rank, count, 1), count, MPI.INT, gathered, count, MPI.INT);
            assertArrayEquals(all(n, count, 1), gathered);
            int[] inPlace = new int[n * count];
            System.arraycopy(values(rank, count, 2), 0, inPlace, rank * count, count);
            comm.allGather(inPlace, count, MPI.INT);
            assertArrayEquals(all(n, count, 2), inPlace);

            int[] out = new int[n * count];
            int[] expected = new int[n * count];
            for (int other = 0; other < n; other++) {
                System.arraycopy(values(rank * 100 + other, count, 3), 0, out, other * count, count);
                System.arraycopy(values(other * 100 + rank, count, 3), 0, expected, other * count, count);
            }
            int[] in = new int[n * count];
            comm.allToAll(out, count, MPI.INT, in, count, MPI.INT);
            assertArrayEquals(expected, in);
        });
    }

    @Test
    void shouldMoveBlocksOfDifferentLengths() {
        forAll(world, size, (comm, n, rank, count, root) -> {
            int[] counts = IntStream.range(0, n)
                    .map(i -> (i + 1) % 3 * Math.min(count, 50))
                    .toArray();
            int[] displs = new int[n];
            for (int i = 1; i < n; i++) {
                displs[i] = displs[i - 1] + counts[i - 1] + 1; // a gap behind each
            }
            int total = displs[n - 1] + counts[n - 1] + 1;
            int[] expected = new int[total];
            for (int i = 0; i < n; i++) {
                System.arraycopy(values(i, counts[i], 1), 0, expected, displs[i], counts[i]);
            }
            int[] own = values(rank, counts[rank], 1);

            int[] gathered = new int[total];
            comm.allGatherv(own, own.length, MPI.INT, gathered, counts, displs, MPI.INT);
            assertArrayEquals(expected, gathered);

            int[] atRoot = new int[total];
            comm.gatherv(own, own.length, MPI.INT, atRoot, counts, displs, MPI.INT, root);
            assertArrayEquals(rank == root ? expected : new int[total], atRoot);

            int[] part = new int[counts[rank]];
            comm.scatterv(expected, counts, displs, MPI.INT, part, part.length, MPI.INT, root);
            assertArrayEquals(own, part);
            if (rank == root) {
                comm.scatterv(expected, counts, displs, MPI.INT, root);
            } else {
                int[] again = new int[counts[rank]];
                comm.scatterv(again, again.length, MPI.INT, root);
                assertArrayEquals(own, again);
            }

            int[] sizes = IntStream.range(0, n).map(to -> (rank + to) % 4).toArray(); // symmetric
            int[] places = IntStream.range(0, n).map(to -> 4 * to).toArray();
            int[] out = new int[4 * n];
            int[] wanted = new int[4 * n];
            for (int to = 0; to < n; to++) {
                System.arraycopy(values(rank * 100 + to, sizes[to], 2), 0, out, places[to], sizes[to]);
                System.arraycopy(values(to * 100 + rank, sizes[to], 2), 0, wanted, places[to], sizes[to]);
            }
            int[] in = new int[4 * n];
            comm.allToAllv(out, sizes, places, MPI.INT, in, sizes, places, MPI.INT);
            assertArrayEquals(wanted, in);
            Datatype[] types = new Datatype[n];
            java.util.Arrays.fill(types, MPI.INT);
            int[] bytes =
                    java.util.Arrays.stream(places).map(place -> 4 * place).toArray();
            int[] inW = new int[4 * n];
            comm.allToAllw(out, sizes, bytes, types, inW, sizes, bytes, types);
            assertArrayEquals(wanted, inW);

            boolean[] flags = flags(out);
            boolean[] flagsIn = flags(inW);
            java.util.Arrays.fill(flagsIn, false);
            java.util.Arrays.fill(types, MPI.BOOLEAN);
            comm.allToAllw(flags, sizes, places, types, flagsIn, sizes, places, types);
            assertArrayEquals(flags(wanted), flagsIn);
        });
    }

    private static boolean[] flags(int[] numbers) {
        boolean[] flags = new boolean[numbers.length];
        for (int i = 0; i < flags.length; i++) {
            flags[i] = (numbers[i] & 1) != 0;
        }
        return flags;
    }

    @Test
    void shouldRunNonBlockingOnesBesideEachOther() {
        world.run(comm -> {
            int count = 5000;
            int rank = comm.getRank();
            IntBuffer sums = MPI.newIntBuffer(count).put(0, values(rank, count, 1));
            IntBuffer copied = MPI.newIntBuffer(count);
            if (rank == size - 1) {
                copied.put(0, values(rank, count, 2));
            }
            IntBuffer own = MPI.newIntBuffer(count).put(0, values(rank, count, 3));
            IntBuffer gathered = MPI.newIntBuffer(count * size);
            Request[] requests = {
                comm.iAllReduce(sums, count, MPI.INT, MPI.SUM),
                comm.iBcast(copied, count, MPI.INT, size - 1),
                comm.iAllGather(own, count, MPI.INT, gathered, count, MPI.INT),
                comm.iBarrier()
            };
            Request.waitAll(requests);
            assertEquals(IntBuffer.wrap(sum(size, count, 1)), sums);
            assertEquals(IntBuffer.wrap(values(size - 1, count, 2)), copied);
            assertEquals(IntBuffer.wrap(all(size, count, 3)), gathered);
        });
    }

    @Test
    void shouldMoveObjects() {
        world.run(comm -> {
            int rank = comm.getRank();
            String[] text = {null, rank == size / 2 ? "from the root" : "mine"};
            comm.Bcast(text, 1, 1, MPI.OBJECT, size / 2);
            assertEquals("from the root", text[1]);
            Object[] own = {rank, "x".repeat(rank)};
            Object[] all = new Object[2 * size];
            comm.Allgather(own, 0, 2, MPI.OBJECT, all, 0, 2, MPI.OBJECT);
            Object[] atRoot = new Object[2 * size];
            comm.Gather(own, 0, 2, MPI.OBJECT, atRoot, 0, 2, MPI.OBJECT, 0);
            for (int i = 0; i < size; i++) {
                assertEquals(i, all[2 * i]);
                assertEquals("x".repeat(i), all[2 * i + 1]);
                assertEquals(rank == 0 ? i : null, atRoot[2 * i]);
            }
            Object[] part = new Object[2];
            comm.Scatter(all, 0, 2, MPI.OBJECT, part, 0, 2, MPI.OBJECT, size - 1);
            assertArrayEquals(own, part);
            Object[] out =
                    IntStream.range(0, size).mapToObj(to -> rank + " to " + to).toArray();
            Object[] in = new Object[size];
            comm.Alltoall(out, 0, 1, MPI.OBJECT, in, 0, 1, MPI.OBJECT);
            assertArrayEquals(
                    IntStream.range(0, size)
                            .mapToObj(from -> from + " to " + rank)
                            .toArray(),
                    in);
        });
    }
}
