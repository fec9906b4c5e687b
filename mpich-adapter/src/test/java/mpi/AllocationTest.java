package mpi;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import java.nio.Buffer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a message costs in objects: a send none, a receive its status, a non-blocking operation its request. */
class AllocationTest {
    private static final int WARM = 20_000;
    private static final int ROUNDS = 10_000;
    private static final int SERIES = 10;

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
                for (int series = 0; series < SERIES; series++) { // the JIT may still be at work in the first ones
                    long before = THREADS.getCurrentThreadAllocatedBytes();
                    repeat(comm, round, ROUNDS);
                    least = Math.min(least, (THREADS.getCurrentThreadAllocatedBytes() - before) / ROUNDS);
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
        Buffer[] out = {MPI.newByteBuffer(bytes), MPI.newByteBuffer(bytes)};
        Buffer[] in = {MPI.newByteBuffer(bytes), MPI.newByteBuffer(bytes)};
        Request[][] both = new Request[2][2];
        expect(2 * requestBytes(), (comm, other) -> {
            Request[] requests = both[other];
            requests[0] = comm.iRecv(in[other], bytes, MPI.BYTE, other, 1);
            requests[1] = comm.iSend(out[other], bytes, MPI.BYTE, other, 1);
            Request.waitAll(requests);
        });
        expect(2 * requestBytes(), (comm, other) -> {
            Request receive = comm.iRecv(in[other], bytes, MPI.BYTE, other, 1);
            Request send = comm.iSend(out[other], bytes, MPI.BYTE, other, 1);
            receive.waitFor();
            send.waitFor();
        });
    }

    @Test
    void shouldAllocateNothingForABarrier() {
        expect(0, (comm, _) -> comm.barrier());
    }
}
