package mpi;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import java.nio.Buffer;
import org.junit.jupiter.api.Test;

/** What a message costs in objects: a send none, a receive its status. */
class AllocationTest {
    private static final int WARM = 30_000;
    private static final int ROUNDS = 20_000;

    /** A status, and some bytes for what a garbage collection makes necessary. */
    private static final long MOST_BYTES = 64;

    private static final com.sun.management.ThreadMXBean THREADS =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

    private static void exchange(Intracomm comm, Object buffer, int count, Datatype type, int rounds) {
        int other = 1 - comm.getRank();
        for (int i = 0; i < rounds; i++) {
            if (comm.getRank() == 0) {
                comm.send(buffer, count, type, other, 1);
                comm.recv(buffer, count, type, other, 2);
            } else {
                comm.recv(buffer, count, type, other, 1);
                comm.send(buffer, count, type, other, 2);
            }
        }
    }

    private static void expectFewBytes(Object[] buffers, int count, Datatype type) {
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                Object buffer = buffers[comm.getRank()];
                exchange(comm, buffer, count, type, WARM);
                long before = THREADS.getCurrentThreadAllocatedBytes();
                exchange(comm, buffer, count, type, ROUNDS);
                long each = (THREADS.getCurrentThreadAllocatedBytes() - before) / ROUNDS;
                assertTrue(
                        each <= MOST_BYTES, "a round trip allocates " + each + " bytes in " + Thread.currentThread());
            });
        }
    }

    @Test
    void shouldAllocateNothingButTheStatusOfAReceive() {
        expectFewBytes(new Buffer[] {MPI.newIntBuffer(2), MPI.newIntBuffer(2)}, 2, MPI.INT);
        expectFewBytes(new Buffer[] {MPI.newByteBuffer(4096), MPI.newByteBuffer(4096)}, 4096, MPI.BYTE);
        expectFewBytes(new Object[] {new double[8], new double[8]}, 8, MPI.DOUBLE);
    }
}
