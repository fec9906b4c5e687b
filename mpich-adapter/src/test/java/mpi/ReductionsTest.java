package mpi;

import static mpi.Contributions.forAll;
import static mpi.Contributions.sum;
import static mpi.Contributions.values;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Each collective operation that computes, as {@link CollectivesTest}. */
class ReductionsTest extends EachNumberOfMembers {
    @Test
    void shouldReduce() {
        forAll(world, size, (comm, n, rank, count, root) -> {
            int[] own = values(rank, count, 1);
            int[] result = new int[count];
            comm.reduce(own, result, count, MPI.INT, MPI.SUM, root);
            assertArrayEquals(rank == root ? sum(n, count, 1) : new int[count], result);
            assertArrayEquals(values(rank, count, 1), own);

            int[] everywhere = new int[count];
            comm.allReduce(own, everywhere, count, MPI.INT, MPI.SUM);
            assertArrayEquals(sum(n, count, 1), everywhere);
            comm.allReduce(own, count, MPI.INT, MPI.SUM);
            assertArrayEquals(sum(n, count, 1), own);

            int[] part = new int[count];
            comm.reduceScatterBlock(values(rank, n * count, 2), part, count, MPI.INT, MPI.SUM);
            assertArrayEquals(sum(n, rank * count, count, 2), part);

            int[] scanned = new int[count];
            comm.scan(values(rank, count, 3), scanned, count, MPI.INT, MPI.SUM);
            assertArrayEquals(sum(rank + 1, count, 3), scanned);
            int[] before = new int[count];
            comm.exScan(values(rank, count, 3), before, count, MPI.INT, MPI.SUM);
            assertArrayEquals(sum(rank, count, 3), before);
        });
    }

    /** An affine map x -> a x + b as a pair: composition is associative, but not commutative. */
    private static final UserFunction COMPOSE = new UserFunction() {
        @Override
        public void call(Object in, Object inOut, int count, Datatype datatype) {
            int[] first = (int[]) in;
            int[] then = (int[]) inOut;
            for (int i = 0; i < count; i++) {
                int a = first[2 * i];
                int b = first[2 * i + 1];
                then[2 * i + 1] = then[2 * i] * b + then[2 * i + 1];
                then[2 * i] = then[2 * i] * a;
            }
        }
    };

    private static int[] composed(int size, int count, int seed) {
        return composed(size, 0, count, seed);
    }

    private static int[] composed(int size, int from, int count, int seed) {
        int[] result = values(0, 2 * from, 2 * count, seed);
        for (int rank = 1; rank < size; rank++) {
            int[] next = values(rank, 2 * from, 2 * count, seed);
            COMPOSE.call(result, next, count, MPI.INT);
            result = next;
        }
        return result;
    }

    @Test
    void shouldKeepTheOrderOfRanksWithoutCommutativity() {
        Op compose = new Op(COMPOSE, false);
        Datatype map = Datatype.createContiguous(2, MPI.INT);
        forAll(world, size, (comm, n, rank, count, root) -> {
            int[] own = values(rank, 2 * count, 1);
            int[] result = new int[2 * count];
            comm.reduce(own, result, count, map, compose, root);
            if (rank == root) {
                assertArrayEquals(composed(n, count, 1), result);
            }
            comm.allReduce(own, result, count, map, compose);
            assertArrayEquals(composed(n, count, 1), result);
            comm.scan(own, result, count, map, compose);
            assertArrayEquals(composed(rank + 1, count, 1), result);
            int[] part = new int[2 * count];
            comm.reduceScatterBlock(values(rank, 2 * count * n, 2), part, count, map, compose);
            assertArrayEquals(composed(n, rank * count, count, 2), part);
        });
    }

    /** Joins texts, which is not commutative. */
    private static final class Join extends User_function {
        @Override
        public void Call(Object in, int inOffset, Object inOut, int inOutOffset, int count, Datatype datatype) {
            for (int i = 0; i < count; i++) {
                ((Object[]) inOut)[inOutOffset + i] =
                        ((Object[]) in)[inOffset + i] + "+" + ((Object[]) inOut)[inOutOffset + i];
            }
        }
    }

    private static String joined(int members, int item) {
        return IntStream.range(0, members)
                .mapToObj(rank -> rank + "." + item)
                .collect(java.util.stream.Collectors.joining("+"));
    }

    @Test
    void shouldReduceObjectsByAFunctionOfTheProgram() {
        world.run(comm -> {
            int rank = comm.getRank();
            Op join = new Op(new Join(), false);
            String[] own = {"", rank + ".0", rank + ".1"};
            String[] out = new String[3];
            comm.Reduce(own, 1, out, 1, 2, MPI.OBJECT, join, size / 2);
            assertEquals(rank == size / 2 ? joined(size, 1) : null, out[2]);
            comm.Allreduce(own, 1, out, 0, 2, MPI.OBJECT, join);
            assertEquals(joined(size, 0), out[0]);
            comm.Scan(own, 1, out, 0, 2, MPI.OBJECT, join);
            assertEquals(joined(rank + 1, 1), out[1]);
            String[] parts =
                    IntStream.range(0, size).mapToObj(to -> rank + "." + to).toArray(String[]::new);
            int[] counts = new int[size];
            java.util.Arrays.fill(counts, 1);
            comm.Reduce_scatter(parts, 0, out, 0, counts, MPI.OBJECT, join);
            assertEquals(joined(size, rank), out[0]);
            assertEquals("", own[0]);
            assertEquals(
                    MPI.ERR_OP,
                    assertThrows(MPIException.class, () -> comm.Allreduce(own, 0, out, 0, 1, MPI.OBJECT, MPI.SUM))
                            .getErrorClass());
            Integer[] wrong = new Integer[2];
            assertEquals(
                    MPI.ERR_TYPE,
                    assertThrows(MPIException.class, () -> comm.Allreduce(own, 1, wrong, 0, 2, MPI.OBJECT, join))
                            .getErrorClass());
        });
    }
}
