package mpi;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.IntBuffer;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Each collective operation with 1 to 17 processes, random values and several lengths, against a plain reference. */
class CollectivesTest {
    /** Items per member: short, and long enough for the algorithms for long data. */
    private static final int[] LENGTHS = {0, 1, 3, 100, 6000};

    static IntStream sizes() {
        return IntStream.rangeClosed(1, 17);
    }

    /** The values that a rank contributes: the same at all ranks that ask. */
    private static int[] values(int rank, int count, int seed) {
        return new Random(seed * 1000L + rank).ints(count, -100, 100).toArray();
    }

    private static int[] sum(int size, int count, int seed) {
        int[] sum = new int[count];
        for (int rank = 0; rank < size; rank++) {
            int[] own = values(rank, count, seed);
            for (int i = 0; i < count; i++) {
                sum[i] += own[i];
            }
        }
        return sum;
    }

    private static int[] all(int size, int count, int seed) {
        int[] all = new int[size * count];
        for (int rank = 0; rank < size; rank++) {
            System.arraycopy(values(rank, count, seed), 0, all, rank * count, count);
        }
        return all;
    }

    private interface Check {
        void run(Intracomm comm, int size, int rank, int count, int root) throws Exception;
    }

    private static void forAll(int size, Check check) {
        try (World world = new World("sci", size)) {
            world.run(comm -> {
                for (int count : LENGTHS) {
                    for (int root : new int[] {0, size - 1, size / 2}) {
                        check.run(comm, size, comm.getRank(), count, root);
                    }
                }
            });
        }
    }

    @ParameterizedTest
    @MethodSource("sizes")
    void shouldBroadcastGatherAndScatter(int size) {
        forAll(size, (comm, n, rank, count, root) -> {
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

    @ParameterizedTest
    @MethodSource("sizes")
    void shouldGatherEverywhereAndExchangeAll(int size) {
        forAll(size, (comm, n, rank, count, root) -> {
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

    @ParameterizedTest
    @MethodSource("sizes")
    void shouldMoveBlocksOfDifferentLengths(int size) {
        forAll(size, (comm, n, rank, count, root) -> {
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
        });
    }

    @ParameterizedTest
    @MethodSource("sizes")
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
            int[] sums = sum(n, n * count, 2);
            assertArrayEquals(java.util.Arrays.copyOfRange(sums, rank * count, (rank + 1) * count), part);

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
        int[] result = values(0, 2 * count, seed);
        for (int rank = 1; rank < size; rank++) {
            int[] next = values(rank, 2 * count, seed);
            COMPOSE.call(result, next, count, MPI.INT);
            result = next;
        }
        return result;
    }

    @ParameterizedTest
    @MethodSource("sizes")
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
            int[] whole = composed(n, n * count, 2);
            assertArrayEquals(java.util.Arrays.copyOfRange(whole, 2 * count * rank, 2 * count * (rank + 1)), part);
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

    @ParameterizedTest
    @MethodSource("sizes")
    void shouldRunNonBlockingOnesBesideEachOther(int size) {
        try (World world = new World("sci", size)) {
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
    }

    @ParameterizedTest
    @MethodSource("sizes")
    void shouldMoveObjects(int size) {
        try (World world = new World("sci", size)) {
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
                Object[] out = IntStream.range(0, size)
                        .mapToObj(to -> rank + " to " + to)
                        .toArray();
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
    @MethodSource("sizes")
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
