package mpi;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What began with a datatype goes on when the program frees it. */
@Timeout(120)
class FreedDatatypesTest {
    private static final int COUNT = 5;

    /** Starts a reduction of pairs. */
    @FunctionalInterface
    private interface Start {
        Request of(Intracomm comm, IntBuffer in, IntBuffer out, Datatype pair, Op op);
    }

    /** A reduction, and what the last number of its result is at each of two members; 0 if there is none. */
    private record Reduction(int at0, int at1, Start start) {}

    private static final List<Reduction> REDUCTIONS = List.of(
            new Reduction(41, 41, (comm, in, out, pair, op) -> comm.iAllReduce(in, out, COUNT, pair, op)),
            new Reduction(41, 0, (comm, in, out, pair, op) -> comm.iReduce(in, out, COUNT, pair, op, 0)),
            new Reduction(0, 41, (comm, in, out, pair, op) -> comm.iReduce(in, out, COUNT, pair, op, 1)),
            new Reduction(
                    41,
                    0,
                    (comm, in, out, pair, op) -> comm.iReduceScatter(in, out, new int[] {COUNT, COUNT}, pair, op)),
            new Reduction(41, 0, (comm, in, out, pair, op) -> comm.iReduceScatterBlock(in, out, COUNT, pair, op)),
            new Reduction(20, 41, (comm, in, out, pair, op) -> comm.iScan(in, out, COUNT, pair, op)),
            new Reduction(0, 20, (comm, in, out, pair, op) -> comm.iExScan(in, out, COUNT, pair, op)));

    /** Adds pairs of numbers, and asks the datatype what it is. */
    private static final class Adding extends UserFunction {
        private final AtomicReference<Datatype> seen = new AtomicReference<>();

        @Override
        public void call(Object in, Object inOut, int count, Datatype datatype) {
            seen.set(datatype);
            assertFalse(datatype.isNull());
            int length = datatype.getExtent() * count;
            for (int i = 0; i < length; i++) {
                ((int[]) inOut)[i] += ((int[]) in)[i];
            }
        }
    }

    @Test
    void shouldLetTheFunctionOfAPendingReductionUseItsDatatype() {
        Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                Intracomm steps = comm.dup();
                for (Reduction reduction : REDUCTIONS) {
                    for (int first = 0; first < 2; first++) {
                        try {
                            reduceAndFree(comm, steps, reduction, first);
                        } catch (MPIException | AssertionError e) { // the other member still needs this one
                            failures.add(e);
                        }
                        steps.barrier();
                    }
                }
            });
        }
        assertEquals(List.of(), List.copyOf(failures));
    }

    /** One member has freed its datatype before the other one begins. */
    private static void reduceAndFree(Intracomm comm, Intracomm steps, Reduction reduction, int first) {
        IntBuffer in = MPI.newIntBuffer(4 * COUNT);
        IntBuffer out = MPI.newIntBuffer(4 * COUNT);
        in.put(2 * COUNT - 1, 20 + comm.getRank());
        Datatype pair = Datatype.createContiguous(2, MPI.INT);
        Adding adding = new Adding();
        Op op = new Op(adding, true);
        if (comm.getRank() != first) {
            steps.barrier();
        }
        Request request = reduction.start().of(comm, in, out, pair, op);
        pair.free();
        op.free();
        if (comm.getRank() == first) {
            steps.barrier();
        }
        request.waitFor();
        assertTrue(pair.isNull());
        assertEquals(comm.getRank() == 0 ? reduction.at0() : reduction.at1(), out.get(2 * COUNT - 1));
        Datatype seen = adding.seen.get();
        assertTrue(seen == null || seen == pair, () -> "the function got " + seen);
    }

    @Test
    void shouldRepeatPersistentSendsOfAllKindsOfBuffers() {
        try (World world = new World("sci", 1)) {
            world.run(comm -> {
                comm.environment().buffered().attach(new byte[1000], 1000);
                boolean[] flags = {true, false};
                Object[] objects = {"a", "b"};
                int[] numbers = {1, 2};
                Datatype twoFlags = Datatype.createContiguous(2, MPI.BOOLEAN);
                Datatype twoNumbers = Datatype.createContiguous(2, MPI.INT);
                Datatype item = MPI.OBJECT.dup();
                Prequest[] sends = {
                    comm.Send_init(flags, 0, 1, twoFlags, 0, 0),
                    comm.Send_init(objects, 0, 2, item, 0, 1),
                    comm.Bsend_init(numbers, 0, 1, twoNumbers, 0, 2)
                };
                List.of(twoFlags, twoNumbers, item).forEach(Datatype::free);
                for (int round = 0; round < 2; round++) {
                    flags[1] = round == 1;
                    objects[1] = round;
                    numbers[1] = round;
                    Prequest.startAll(sends);
                    boolean[] flagsIn = new boolean[2];
                    Object[] objectsIn = new Object[2];
                    int[] numbersIn = new int[2];
                    comm.recv(flagsIn, 2, MPI.BOOLEAN, 0, 0);
                    comm.recv(objectsIn, 2, MPI.OBJECT, 0, 1);
                    comm.recv(numbersIn, 2, MPI.INT, 0, 2);
                    assertArrayEquals(flags, flagsIn);
                    assertArrayEquals(objects, objectsIn);
                    assertArrayEquals(numbers, numbersIn);
                    Request.waitAll(sends);
                }
                Object _ = comm.environment().buffered().detach();
            });
        }
    }

    @Test
    void shouldReceiveWhatWasPostedBefore() {
        try (World world = new World("sci", 1)) {
            world.run(comm -> {
                boolean[] flagsIn = new boolean[2];
                Object[] objectsIn = new Object[2];
                Datatype twoFlags = Datatype.createContiguous(2, MPI.BOOLEAN);
                Datatype item = MPI.OBJECT.dup();
                Request[] receives = {comm.Irecv(flagsIn, 0, 1, twoFlags, 0, 0), comm.Irecv(objectsIn, 0, 2, item, 0, 1)
                };
                List.of(twoFlags, item).forEach(Datatype::free);
                comm.send(new boolean[] {true, true}, 2, MPI.BOOLEAN, 0, 0);
                comm.send(new Object[] {"a", 1}, 2, MPI.OBJECT, 0, 1);
                Request.waitAll(receives);
                assertArrayEquals(new boolean[] {true, true}, flagsIn);
                assertArrayEquals(new Object[] {"a", 1}, objectsIn);
            });
        }
    }

    /** A struct of two numbers. */
    private static final class Two extends Struct {
        private final int first = addInt();
        private final int second = addInt();

        @Override
        protected Values newData() {
            return new Values();
        }

        private final class Values extends Data {
            int sum() {
                return getInt(first) + getInt(second);
            }
        }
    }

    @Test
    void shouldReadStructsWhoseDatatypeIsFreed() {
        Two two = new Two();
        ByteBuffer memory = ByteBuffer.allocateDirect(16);
        memory.putInt(8, 30).putInt(12, 4);
        two.getType().free();
        Two.Values values = two.getData(memory, 1);
        assertEquals(34, values.sum());
        assertEquals(8, two.getExtent());
    }
}
