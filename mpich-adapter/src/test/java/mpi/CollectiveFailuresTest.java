package mpi;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the members of a collective operation see when it fails at one of them; all with ERRORS_RETURN. */
@Timeout(120)
class CollectiveFailuresTest {
    /** An operation on buffers of this many numbers per member. */
    @FunctionalInterface
    private interface Reduction {
        void run(Intracomm comm, IntBuffer in, IntBuffer out, int count, Op op);
    }

    /** Adds, but throws at one rank. */
    private static final class Broken extends UserFunction {
        private final boolean isBroken;

        Broken(boolean isBroken) {
            this.isBroken = isBroken;
        }

        @Override
        public void call(ByteBuffer in, ByteBuffer inOut, int count, Datatype datatype) {
            if (isBroken) {
                throw new AssertionError("broken function");
            }
            IntBuffer lower = in.asIntBuffer();
            IntBuffer upper = inOut.asIntBuffer();
            for (int i = 0; i < count; i++) {
                upper.put(i, lower.get(i) + upper.get(i));
            }
        }
    }

    private static final Reduction[] REDUCTIONS = {
        (comm, in, out, count, op) -> comm.allReduce(in, out, count, MPI.INT, op),
        (comm, in, out, count, op) -> comm.reduce(in, out, count, MPI.INT, op, 0),
        (comm, in, out, count, op) -> comm.reduce(in, out, count, MPI.INT, op, comm.getSize() - 1),
        (comm, in, out, count, op) -> comm.reduceScatterBlock(in, out, count, MPI.INT, op),
        (comm, in, out, count, op) -> comm.scan(in, out, count, MPI.INT, op),
        (comm, in, out, count, op) -> comm.exScan(in, out, count, MPI.INT, op),
        (comm, in, out, count, op) ->
                comm.iAllReduce(in, out, count, MPI.INT, op).waitFor(),
        (comm, in, out, count, op) ->
                comm.iReduce(in, out, count, MPI.INT, op, 0).waitFor(),
        (comm, in, out, count, op) ->
                comm.iReduceScatterBlock(in, out, count, MPI.INT, op).waitFor(),
        (comm, in, out, count, op) -> comm.iScan(in, out, count, MPI.INT, op).waitFor()
    };

    private static void assertUsable(Intracomm comm, int size) {
        int[] sum = new int[1];
        comm.allReduce(new int[] {1}, sum, 1, MPI.INT, MPI.SUM);
        assertArrayEquals(new int[] {size}, sum);
        comm.barrier();
    }

    /** Runs the program; afterwards no message is left that nobody takes. */
    private static void run(String network, int size, World.Program program) {
        try (World world = new World(network, size)) {
            world.run(program);
            for (int rank = 0; rank < size; rank++) {
                assertEquals(List.of(), world.of(rank).device().unexpected(100, _ -> true), "left at rank " + rank);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 5, 7})
    @Tag("measures")
    void shouldTellAllMembersThatAFunctionHasThrown(int size) {
        AtomicInteger errors = new AtomicInteger();
        run("sci", size, comm -> {
            for (Reduction reduction : REDUCTIONS) {
                for (int each = 0; each < 4 * size; each++) {
                    int count = each / 2 % 2 == 0 ? 3 : 5000;
                    Op op = new Op(new Broken(comm.getRank() == each / 4), each % 2 == 0);
                    IntBuffer in = MPI.newIntBuffer(count * size);
                    IntBuffer out = MPI.newIntBuffer(count * size);
                    comm.barrier();
                    long begin = System.nanoTime();
                    try {
                        reduction.run(comm, in, out, count, op);
                    } catch (MPIException e) {
                        errors.incrementAndGet();
                        assertEquals(MPI.ERR_OTHER, e.getErrorClass(), e.getMessage());
                        assertTrue(
                                e.getMessage().contains("broken function")
                                        || e.getMessage().contains("failed at rank " + each / 4),
                                e.getMessage());
                    }
                    long tookMs = (System.nanoTime() - begin) / 1_000_000;
                    assertTrue(tookMs < 5000, "took " + tookMs + " ms");
                    assertUsable(comm, size);
                }
            }
        });
        assertTrue(errors.get() > REDUCTIONS.length * 4 * size / 2, errors + " errors");
    }

    @Test
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

    @Test
    void shouldFailAtAllMembersThatNeedTheValue() {
        run("sci", 5, comm -> {
            Op op = new Op(new Broken(comm.getRank() == 1), true);
            MPIException seen =
                    assertThrows(MPIException.class, () -> comm.allReduce(new int[1], new int[1], 1, MPI.INT, op));
            assertTrue(
                    seen.getMessage().contains(comm.getRank() == 1 ? "broken function" : "failed at rank 1"),
                    seen.getMessage());
            assertUsable(comm, 5);
        });
    }

    @Test
    void shouldFailAtAllMembersIfOneHasTooLittleRoom() {
        run("sci", 5, comm -> {
            int count = comm.getRank() == 2 ? 1 : 4;
            if (comm.getRank() != 2 && comm.getRank() != 3) {
                comm.bcast(new int[4], 4, MPI.INT, 0); // what these need does not come from rank 2
            } else {
                MPIException seen =
                        assertThrows(MPIException.class, () -> comm.bcast(new int[count], count, MPI.INT, 0));
                assertEquals(MPI.ERR_TRUNCATE, seen.getErrorClass(), seen.getMessage());
            }
            assertUsable(comm, 5);
        });
    }

    private static final Reduction[] OPERATIONS_ON_EQUAL_COUNTS = {
        (comm, in, out, count, op) -> comm.allReduce(in, out, count, MPI.INT, op),
        (comm, in, out, count, op) ->
                comm.iAllReduce(in, out, count, MPI.INT, op).waitFor(),
        (comm, in, out, count, op) -> comm.reduce(in, out, count, MPI.INT, op, 0),
        (comm, in, out, count, op) -> comm.bcast(in, count, MPI.INT, 0),
        (comm, in, out, count, op) -> comm.scan(in, out, count, MPI.INT, op),
        (comm, in, out, count, op) -> comm.gather(in, count, MPI.INT, out, count, MPI.INT, 0),
        (comm, in, out, count, op) -> comm.scatter(in, count, MPI.INT, out, count, MPI.INT, 0),
        (comm, in, out, count, op) -> comm.allGather(in, count, MPI.INT, out, count, MPI.INT),
        (comm, in, out, count, op) -> comm.allToAll(in, count, MPI.INT, out, count, MPI.INT)
    };

    /** The last rank, which sends to one other and receives from one in each operation, has another count. */
    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 5})
    void shouldFailIfTheCountsOfMembersDiffer(int size) {
        for (int odd : new int[] {1, 2, 4, 7}) {
            AtomicInteger[] errors = new AtomicInteger[OPERATIONS_ON_EQUAL_COUNTS.length];
            Arrays.setAll(errors, _ -> new AtomicInteger());
            run("sci", size, comm -> {
                for (int each = 0; each < errors.length; each++) {
                    int count = comm.getRank() == size - 1 ? odd : 3;
                    IntBuffer in = MPI.newIntBuffer(8 * size);
                    IntBuffer out = MPI.newIntBuffer(8 * size);
                    try {
                        OPERATIONS_ON_EQUAL_COUNTS[each].run(comm, in, out, count, MPI.SUM);
                    } catch (MPIException e) {
                        errors[each].incrementAndGet();
                        int noticed = e.getErrorClass();
                        assertTrue(noticed == MPI.ERR_TRUNCATE || noticed == MPI.ERR_COUNT, e.getMessage());
                    }
                    assertUsable(comm, size);
                }
            });
            for (int each = 0; each < errors.length; each++) {
                assertTrue(errors[each].get() > 0, "nobody has seen it: operation " + each + ", count " + odd);
            }
            assertEquals(size, errors[0].get(), "each rank needs a value of the last one");
            assertEquals(size, errors[1].get(), "each rank needs a value of the last one");
        }
    }

    /** An operation that this member calls where the other one calls another. */
    private static void assertMismatch(int errorClass, String text, Executable operation) {
        MPIException seen = assertThrows(MPIException.class, operation);
        assertEquals(errorClass, seen.getErrorClass(), seen.getMessage());
        assertEquals(text + ": expected the same operation, and counts that match, at all ranks", seen.getMessage());
    }

    @Test
    void shouldNameTheOperationIfAnotherMemberCallsAnotherOne() {
        run("sci", 2, comm -> {
            int[] data = new int[8];
            if (comm.getRank() == 0) {
                assertMismatch(
                        MPI.ERR_TRUNCATE, "barrier: rank 0 gets 16 bytes from rank 1 where it needs 0", comm::barrier);
                assertMismatch(
                        MPI.ERR_COUNT,
                        "allgather: rank 0 gets 8 bytes from rank 1 where it needs 16",
                        () -> comm.allGather(data, 4, MPI.INT, new int[8], 4, MPI.INT));
            } else {
                assertMismatch(
                        MPI.ERR_COUNT,
                        "allreduce: rank 1 gets 0 bytes from rank 0 where it needs 16",
                        () -> comm.allReduce(data, 4, MPI.INT, MPI.SUM));
                assertMismatch(
                        MPI.ERR_TRUNCATE,
                        "alltoall: rank 1 gets 16 bytes from rank 0 where it needs 8",
                        () -> comm.allToAll(data, 2, MPI.INT, new int[8], 2, MPI.INT));
            }
            assertUsable(comm, 2);
        });
    }

    @Test
    void shouldNameTheOperationThatNeedsAProcessThatHasDied() {
        try (World world = new World("tcp", 2)) {
            Intracomm comm = world.of(0).world();
            world.die(1);
            for (Map.Entry<String, Executable> each : Map.<String, Executable>of(
                            "barrier", comm::barrier, "bcast", () -> comm.bcast(new int[1], 1, MPI.INT, 1))
                    .entrySet()) {
                MPIException seen = assertThrows(MPIException.class, each.getValue());
                assertEquals(MPI.ERR_PROC_ABORTED, seen.getErrorClass());
                assertTrue(seen.getMessage().startsWith(each.getKey() + ": "), seen.getMessage());
                assertFalse(seen.getMessage().startsWith(each.getKey() + ": " + each.getKey()), seen.getMessage());
                assertTrue(seen.getMessage().contains("rank 1 is gone"), seen.getMessage());
            }
        }
    }

    @Test
    void shouldNotCountAnOperationWhoseArgumentsAreWrong() {
        run("sci", 3, comm -> {
            if (comm.getRank() == 1) {
                assertThrows(MPIException.class, () -> comm.bcast(new long[1], 1, MPI.INT, 0));
                assertThrows(MPIException.class, () -> comm.allReduce(new int[1], new int[1], 1, MPI.INT, null));
            }
            int[] value = {comm.getRank()};
            comm.bcast(value, 1, MPI.INT, 2);
            assertEquals(2, value[0]);
            assertUsable(comm, 3);
        });
    }

    @Test
    void shouldTellAllMembersThatAnObjectCannotBeSerialized() {
        run("sci", 3, comm -> {
            Object own = comm.getRank() == 1 ? new Object() : "text";
            MPIException seen = assertThrows(
                    MPIException.class,
                    () -> comm.Allgather(new Object[] {own}, 0, 1, MPI.OBJECT, new Object[3], 0, 1, MPI.OBJECT));
            assertEquals(MPI.ERR_BUFFER, seen.getErrorClass(), seen.getMessage());
            seen = assertThrows(MPIException.class, () -> comm.Bcast(new Object[] {own}, 0, 1, MPI.OBJECT, 1));
            assertEquals(MPI.ERR_BUFFER, seen.getErrorClass(), seen.getMessage());
            assertUsable(comm, 3);
        });
    }

    /** Dies when the others have passed the barrier and, a while later, are in what they do next. */
    private static void die(World world, int rank, CountDownLatch behindBarrier) throws InterruptedException {
        behindBarrier.await();
        Thread.sleep(300);
        world.die(rank);
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 5, 7})
    void shouldFailAtAllMembersIfOneIsLost(int size) {
        AtomicInteger failed = new AtomicInteger();
        CountDownLatch behindBarrier = new CountDownLatch(size);
        try (World world = new World("tcp", size)) {
            world.run(comm -> {
                comm.barrier();
                behindBarrier.countDown();
                if (comm.getRank() == 1) {
                    die(world, 1, behindBarrier);
                    return;
                }
                MPIException seen = assertThrows(
                        MPIException.class, () -> comm.allReduce(new int[1], new int[1], 1, MPI.INT, MPI.SUM));
                assertEquals(MPI.ERR_PROC_ABORTED, seen.getErrorClass(), seen.getMessage());
                failed.incrementAndGet();
                seen = assertThrows(MPIException.class, comm::barrier);
                assertEquals(MPI.ERR_PROC_ABORTED, seen.getErrorClass(), seen.getMessage());
            });
            assertEquals(size - 1, failed.get());
        }
    }

    @Test
    void shouldFailAtAMemberWhoseMessageWouldComeFromOneThatLives() {
        CountDownLatch behindBarrier = new CountDownLatch(3);
        try (World world = new World("tcp", 3)) {
            world.run(comm -> {
                comm.barrier();
                behindBarrier.countDown();
                switch (comm.getRank()) {
                    case 2 -> die(world, 2, behindBarrier);
                    case 1 -> // gives up without the broadcast
                        assertThrows(MPIException.class, () -> comm.recv(new int[1], 1, MPI.INT, 2, 0));
                    default -> {
                        MPIException seen =
                                assertThrows(MPIException.class, () -> comm.bcast(new int[1], 1, MPI.INT, 1));
                        assertEquals(MPI.ERR_PROC_ABORTED, seen.getErrorClass(), seen.getMessage());
                    }
                }
            });
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"gather", "allreduce", "igather"})
    void shouldFailAtAMemberWhoseLongMessageNobodyTakesAnyMore(String operation) {
        int count = 100_000; // more than is sent without being asked for
        CountDownLatch behindBarrier = new CountDownLatch(4);
        CountDownLatch failed = new CountDownLatch(2);
        try (World world = new World("tcp", 4)) {
            world.run(comm -> {
                comm.barrier();
                behindBarrier.countDown();
                switch (comm.getRank()) {
                    case 1 -> die(world, 1, behindBarrier);
                    case 2 -> { // gives up without the operation, and lives on
                        assertThrows(MPIException.class, () -> comm.recv(new int[1], 1, MPI.INT, 1, 0));
                        assertTrue(failed.await(60, TimeUnit.SECONDS));
                    }
                    default -> {
                        MPIException seen =
                                assertThrows(MPIException.class, () -> sendLong(comm, operation, new int[count]));
                        assertEquals(MPI.ERR_PROC_ABORTED, seen.getErrorClass(), seen.getMessage());
                        seen = assertThrows(MPIException.class, () -> sendLong(comm, operation, new int[count]));
                        assertEquals(MPI.ERR_PROC_ABORTED, seen.getErrorClass(), seen.getMessage());
                        failed.countDown();
                    }
                }
            });
        }
    }

    private static void sendLong(Intracomm comm, String operation, int[] values) {
        switch (operation) {
            case "gather" -> comm.gather(values, values.length, MPI.INT, null, 0, MPI.INT, 2);
            case "igather" -> {
                IntBuffer buffer = MPI.newIntBuffer(values.length);
                comm.iGather(buffer, values.length, MPI.INT, 2).waitFor();
            }
            default -> comm.allReduce(values, values.length, MPI.INT, MPI.SUM);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"receive", "long send", "any", "probe"})
    void shouldFailAtWhoWaitsForOneThatLeavesSinceAnotherIsLost(String wait) {
        CountDownLatch behindBarrier = new CountDownLatch(3);
        try (World world = new World("tcp", 3)) {
            world.run(comm -> {
                comm.barrier();
                behindBarrier.countDown();
                switch (comm.getRank()) {
                    case 1 -> die(world, 1, behindBarrier);
                    case 0 -> {
                        assertThrows(MPIException.class, () -> comm.recv(new int[1], 1, MPI.INT, 1, 0));
                        assertThrows(MPIException.class, () -> world.of(0).end());
                    }
                    default -> {
                        MPIException seen = assertThrows(MPIException.class, () -> waitFor(comm, wait));
                        assertEquals(MPI.ERR_PROC_ABORTED, seen.getErrorClass(), seen.getMessage());
                    }
                }
            });
        }
    }

    private static void waitFor(Intracomm comm, String wait) {
        switch (wait) {
            case "receive" -> comm.recv(new int[1], 1, MPI.INT, 0, 5);
            case "long send" -> comm.send(new int[100_000], 100_000, MPI.INT, 0, 5);
            case "any" -> comm.recv(new int[1], 1, MPI.INT, MPI.ANY_SOURCE, 5);
            default -> comm.probe(0, 5);
        }
    }

    /** As after an error: one member has given the operation up, and the other's message still comes. */
    @Test
    void shouldFinalizeWhateverAnAbandonedOperationHasLeft() {
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                if (comm.getRank() == 0) {
                    comm.bcast(new int[1], 1, MPI.INT, 0);
                }
                comm.environment().end();
            });
        }
    }

    @Test
    void shouldRefuseToFreeTheRequestOfACollectiveOperation() {
        run("sci", 2, comm -> {
            Intracomm copy = comm.iDup();
            IntBuffer numbers = MPI.newIntBuffer(100_000);
            numbers.put(99_999, 7 - comm.getRank());
            for (Request request : List.of(copy.getRequest(), comm.iBcast(numbers, 100_000, MPI.INT, 0))) {
                MPIException seen = assertThrows(MPIException.class, request::free);
                assertEquals(MPI.ERR_REQUEST, seen.getErrorClass());
                assertTrue(seen.getMessage().contains("expected a wait for it"), seen.getMessage());
                request.waitFor();
                assertTrue(request.isNull());
                request.free();
            }
            assertEquals(7, numbers.get(99_999));
        });
    }
}
