package mpi;

import static mpi.Contributions.forAll;
import static mpi.Contributions.sum;
import static mpi.Contributions.values;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.IntBuffer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Each collective operation that computes, as {@link CollectivesTest}. */
class ReductionsTest {
    @ParameterizedTest
    @MethodSource("mpi.Contributions#sizes")
    void shouldReduce(int size) {
        forAll(size, (comm, n, rank, count, root) -> {
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

    /**
     * The members of an allreduce with the same values in memory of different kinds, which must send the same messages.
     */
    private enum Kind {
        ARRAY {
            @Override
            int[] allReduce(Intracomm comm, int[] values, Op op) {
                int[] result = new int[values.length];
                comm.allReduce(values, result, values.length, MPI.INT, op);
                return result;
            }
        },
        BUFFERS {
            @Override
            int[] allReduce(Intracomm comm, int[] values, Op op) {
                IntBuffer own = MPI.newIntBuffer(values.length).put(0, values);
                IntBuffer result = MPI.newIntBuffer(values.length);
                comm.allReduce(own, result, values.length, MPI.INT, op);
                assertEquals(IntBuffer.wrap(values), own);
                return array(result);
            }
        },
        IN_PLACE {
            @Override
            int[] allReduce(Intracomm comm, int[] values, Op op) {
                IntBuffer both = MPI.newIntBuffer(values.length).put(0, values);
                comm.allReduce(both, values.length, MPI.INT, op);
                return array(both);
            }
        },
        SAME_BUFFER {
            @Override
            int[] allReduce(Intracomm comm, int[] values, Op op) {
                IntBuffer both = MPI.newIntBuffer(values.length).put(0, values);
                comm.allReduce(both.duplicate(), both, values.length, MPI.INT, op);
                return array(both);
            }
        },
        NOT_BLOCKING {
            @Override
            int[] allReduce(Intracomm comm, int[] values, Op op) {
                IntBuffer both = MPI.newIntBuffer(values.length).put(0, values);
                comm.iAllReduce(both, values.length, MPI.INT, op).waitFor();
                return array(both);
            }
        },
        SPACED {
            @Override
            int[] allReduce(Intracomm comm, int[] values, Op op) {
                int[] both = new int[2 * values.length];
                for (int i = 0; i < values.length; i++) {
                    both[2 * i] = values[i];
                }
                Datatype spaced = Datatype.createResized(MPI.INT, 0, 2 * Integer.BYTES);
                comm.allReduce(both, values.length, spaced, op);
                return IntStream.range(0, values.length).map(i -> both[2 * i]).toArray();
            }
        };

        abstract int[] allReduce(Intracomm comm, int[] values, Op op);

        private static int[] array(IntBuffer buffer) {
            int[] array = new int[buffer.capacity()];
            buffer.get(0, array);
            return array;
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 7, 8})
    void shouldReduceAlikeWhateverMemoryEachMemberHas(int size) {
        Kind[] kinds = Kind.values();
        try (World world = new World("sci", size)) {
            world.run(comm -> {
                int rank = comm.getRank();
                for (int count : new int[] {1, 500, 600, 2100, 3001, 17_000, 140_003}) {
                    for (int turn = 0; turn < kinds.length; turn++) {
                        Kind kind = kinds[(turn + rank * 5) % kinds.length];
                        int[] result = kind.allReduce(comm, values(rank, count, turn), MPI.SUM);
                        assertArrayEquals(sum(size, count, turn), result, kind + " " + count);
                    }
                }
            });
        }
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

    @ParameterizedTest
    @MethodSource("mpi.Contributions#sizes")
    void shouldKeepTheOrderOfRanksWithoutCommutativity(int size) {
        Op compose = new Op(COMPOSE, false);
        Datatype map = Datatype.createContiguous(2, MPI.INT);
        forAll(size, (comm, n, rank, count, root) -> {
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

    @Test
    @Timeout(60)
    void shouldFailWithTheErrorOfAProgramsFunction() {
        UserFunction broken = new UserFunction() {
            @Override
            public void call(Object in, Object inOut, int count, Datatype datatype) {
                throw new AssertionError("broken function");
            }
        };
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                Op op = new Op(broken, true);
                comm.setErrhandler(MPI.ERRORS_RETURN);
                MPIException seen =
                        assertThrows(MPIException.class, () -> comm.allReduce(new int[1], new int[1], 1, MPI.INT, op));
                assertTrue(seen.getMessage().contains("broken function"), seen.getMessage());
            });
        }
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

    @ParameterizedTest
    @MethodSource("mpi.Contributions#sizes")
    void shouldReduceObjectsByAFunctionOfTheProgram(int size) {
        try (World world = new World("sci", size)) {
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
}
