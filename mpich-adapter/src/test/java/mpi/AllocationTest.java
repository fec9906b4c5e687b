package mpi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import java.nio.Buffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a message costs in objects: a send none, a receive its status, a non-blocking operation its request. The JIT has
 * no part in that: it is the same in a JVM that replaces no object by its fields, and that gives all buffers the same
 * hash code.
 */
@Tag("measures")
class AllocationTest {
    private static final boolean THOROUGH = Boolean.getBoolean("thorough");
    private static final int WARM = THOROUGH ? 20_000 : 2000; // the optimizing compiler needs more
    private static final int ROUNDS = THOROUGH ? 10_000 : 2000;
    private static final int SERIES = 10;
    private static final long PATIENCE_S = 100;

    private static final com.sun.management.ThreadMXBean THREADS =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** What two processes do in a round. */
    @FunctionalInterface
    private interface Round {
        void run(Intracomm comm, int other);
    }

    private static long statusBytes() {
        return bytesOf(Status::new);
    }

    private static long requestBytes() {
        return bytesOf(() -> new Request(null));
    }

    /** The size of an object. */
    private static long bytesOf(Supplier<Object> made) {
        Object[] kept = new Object[1000];
        kept[0] = made.get(); // initializes the class
        long before = THREADS.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < kept.length; i++) {
            kept[i] = made.get();
        }
        return (THREADS.getCurrentThreadAllocatedBytes() - before) / kept.length;
    }

    private static void repeat(Intracomm comm, Round round, int times) {
        for (int i = 0; i < times; i++) {
            round.run(comm, 1 - comm.getRank());
        }
    }

    /** Division cuts off what is less than a byte per round, as what a garbage collection makes necessary. */
    private static void expect(long mostBytes, Round round) {
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                repeat(comm, round, WARM);
                long least = Long.MAX_VALUE;
                int[] isMore = {1};
                for (int series = 0; series < SERIES && isMore[0] == 1; series++) { // at first the JIT is at work
                    long before = THREADS.getCurrentThreadAllocatedBytes();
                    repeat(comm, round, ROUNDS);
                    least = Math.min(least, (THREADS.getCurrentThreadAllocatedBytes() - before) / ROUNDS);
                    isMore[0] = least > mostBytes ? 1 : 0;
                    comm.allReduce(isMore, 1, MPI.INT, MPI.MAX);
                }
                assertTrue(least <= mostBytes, "a round allocates " + least + " bytes, expected " + mostBytes);
            });
        }
    }

    private static void expectOneStatus(Object[] buffers, int count, Datatype type) {
        expect(statusBytes(), (comm, other) -> {
            Object buffer = buffers[other];
            if (other == 1) {
                comm.send(buffer, count, type, other, 1);
                Status _ = comm.recv(buffer, count, type, other, 2);
            } else {
                Status _ = comm.recv(buffer, count, type, other, 1);
                comm.send(buffer, count, type, other, 2);
            }
        });
    }

    @Test
    void shouldAllocateNothingButTheStatusOfAReceive() {
        expectOneStatus(new Buffer[] {MPI.newIntBuffer(2), MPI.newIntBuffer(2)}, 2, MPI.INT);
        expectOneStatus(new Buffer[] {MPI.newByteBuffer(4096), MPI.newByteBuffer(4096)}, 4096, MPI.BYTE);
        expectOneStatus(new Object[] {new double[8], new double[8]}, 8, MPI.DOUBLE);
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 4096})
    void shouldAllocateNothingButTheRequestsOfNonBlockingOperations(int bytes) {
        expectTwoRequests(bytes, (_, requests) -> Request.waitAll(requests));
        expectTwoRequests(bytes, (_, requests) -> {
            requests[0].waitFor();
            requests[1].waitFor();
        });
        expectTwoRequests(bytes, (comm, requests) -> {
            comm.barrier(); // the message of the other one has arrived then
            while (!Request.testAll(requests)) {
                Thread.yield();
            }
        });
        expectTwoRequests(bytes, (comm, requests) -> {
            comm.barrier();
            while (Request.testAny(requests) != MPI.UNDEFINED) {
                Thread.yield();
            }
            Request.waitAll(requests);
        });
    }

    /** How a process ends what it has started. */
    @FunctionalInterface
    private interface End {
        void of(Intracomm comm, Request[] requests);
    }

    private static void expectTwoRequests(int bytes, End end) {
        Buffer[] out = {MPI.newByteBuffer(bytes), MPI.newByteBuffer(bytes)};
        Buffer[] in = {MPI.newByteBuffer(bytes), MPI.newByteBuffer(bytes)};
        Request[][] started = new Request[2][2];
        expect(2 * requestBytes(), (comm, other) -> {
            Request[] requests = started[other];
            requests[0] = comm.iRecv(in[other], bytes, MPI.BYTE, other, 1);
            requests[1] = comm.iSend(out[other], bytes, MPI.BYTE, other, 1);
            end.of(comm, requests);
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 4096})
    void shouldAllocateNothingButARequestAndTheStatusOfASendAndReceive(int bytes) {
        byte[][] out = new byte[2][bytes];
        byte[][] in = new byte[2][bytes];
        expect(
                requestBytes() + statusBytes(),
                (comm, other) ->
                        comm.sendRecv(out[other], bytes, MPI.BYTE, other, 1, in[other], bytes, MPI.BYTE, other, 1));
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 4096})
    void shouldAllocateNothingForPersistentRequests(int bytes) {
        Buffer[] out = {MPI.newByteBuffer(bytes), MPI.newByteBuffer(bytes)};
        Buffer[] in = {MPI.newByteBuffer(bytes), MPI.newByteBuffer(bytes)};
        Prequest[][] made = new Prequest[2][];
        expect(0, (comm, other) -> {
            if (made[other] == null) {
                made[other] = new Prequest[] {
                    comm.recvInit(in[other], bytes, MPI.BYTE, other, 1),
                    comm.sendInit(out[other], bytes, MPI.BYTE, other, 1)
                };
            }
            Prequest.startAll(made[other]);
            Request.waitAll(made[other]);
        });
    }

    @Test
    void shouldAllocateNothingForABarrier() {
        expect(0, (comm, _) -> comm.barrier());
    }

    // ---- without the help of the JIT

    /** Runs the tests of this class. */
    static final class Program {
        private Program() {}

        public static void main(String[] arguments) {
            AllocationTest test = new AllocationTest();
            test.shouldAllocateNothingButTheStatusOfAReceive();
            for (int bytes : new int[] {8, 4096}) {
                test.shouldAllocateNothingButTheRequestsOfNonBlockingOperations(bytes);
                test.shouldAllocateNothingButARequestAndTheStatusOfASendAndReceive(bytes);
                test.shouldAllocateNothingForPersistentRequests(bytes);
            }
            test.shouldAllocateNothingForABarrier();
        }
    }

    @Test
    void shouldAllocateNothingElseInAJvmThatReplacesNoObject(@TempDir Path directory) throws Exception {
        Path said = directory.resolve("said");
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1", // only the optimizing compiler replaces objects by their fields
                        "-XX:+UnlockExperimentalVMOptions",
                        "-XX:hashCode=2", // the same for all objects
                        "-cp",
                        System.getProperty("java.class.path"),
                        Program.class.getName())
                .redirectErrorStream(true)
                .redirectOutput(said.toFile())
                .start();
        try {
            assertTrue(process.waitFor(PATIENCE_S, TimeUnit.SECONDS), "the process never ends");
            assertEquals(0, process.exitValue(), Files.readString(said));
        } finally {
            process.destroyForcibly();
        }
    }
}
