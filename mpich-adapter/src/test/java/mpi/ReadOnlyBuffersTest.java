package mpi;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Nothing can be received into a read-only buffer, and nothing is sent by a call that tries to. */
@Timeout(120)
class ReadOnlyBuffersTest {
    private static final int[] COUNTS = {2, 2};
    private static final int[] PLACES = {0, 2};
    private static final int[] IN = new int[8];

    private static List<Object> buffers() {
        return List.of(
                IntBuffer.wrap(new int[8]).asReadOnlyBuffer(),
                ByteBuffer.wrap(new byte[32]).asReadOnlyBuffer(),
                ByteBuffer.allocate(32).asIntBuffer().asReadOnlyBuffer(),
                MPI.newIntBuffer(8).asReadOnlyBuffer(),
                MemorySegment.ofArray(new byte[32]).asReadOnly().asByteBuffer(),
                Arena.ofAuto().allocate(32).asReadOnly().asByteBuffer());
    }

    /** An operation of a communicator that receives into a buffer. */
    @FunctionalInterface
    private interface Receive {
        void run(Intracomm comm, Object buffer);
    }

    private static void assertRefused(Receive receive, Intracomm comm) {
        for (Object buffer : buffers()) {
            MPIException seen = assertThrows(MPIException.class, () -> receive.run(comm, buffer));
            assertEquals(MPI.ERR_BUFFER, seen.getErrorClass(), seen.getMessage());
            assertEquals(
                    "a message is received into a read-only buffer: expected one that can be written",
                    seen.getMessage());
        }
    }

    private static final List<Receive> MESSAGES = List.of(
            (comm, buffer) -> comm.recv(buffer, 2, MPI.INT, 0, 0),
            (comm, buffer) -> comm.recv(buffer, 1, MPI.INT2, 0, 0),
            (comm, buffer) -> comm.recv(buffer, 1, Datatype.createVector(2, 1, 2, MPI.INT), 0, 0),
            (comm, buffer) -> comm.Irecv(buffer, 0, 2, MPI.INT, 0, 0),
            (comm, buffer) -> comm.Irecv(buffer, 0, 1, Datatype.createVector(2, 1, 2, MPI.INT), 0, 0),
            (comm, buffer) -> comm.Recv_init(buffer, 0, 2, MPI.INT, 0, 0),
            (comm, buffer) -> comm.sendRecv(IN, 2, MPI.INT, 0, 0, buffer, 2, MPI.INT, 0, 0),
            (comm, buffer) -> comm.sendRecvReplace(buffer, 2, MPI.INT, 0, 0, 0, 0),
            (comm, buffer) -> comm.unpack(new byte[8], 0, buffer, 2, MPI.INT),
            (comm, buffer) -> Comm.reduceLocal(IN, buffer, 2, MPI.INT, MPI.SUM));

    @Test
    void shouldReceiveNoMessage() {
        try (World world = new World("sci", 1)) {
            Intracomm comm = world.of(0).world();
            for (Receive receive : MESSAGES) {
                assertRefused(receive, comm);
                assertNull(comm.iProbe(0, MPI.ANY_TAG), "something was sent");
            }
            comm.Isend(new int[] {7}, 0, 1, MPI.INT, 0, 0).waitFor();
            Message message = new Message();
            message.mProbe(0, 0, comm);
            assertRefused((_, buffer) -> message.mRecv(buffer, 1, MPI.INT), comm);
            int[] got = new int[1];
            message.mRecv(got, 1, MPI.INT);
            assertEquals(7, got[0]);
        }
    }

    /** A heap buffer that is read-only cannot be sent either, as in Open MPI's binding. */
    @Test
    void shouldGiveUpTheReceiveIfTheOtherBufferCannotBeSent() {
        try (World world = new World("sci", 1)) {
            Intracomm comm = world.of(0).world();
            ByteBuffer out = ByteBuffer.wrap(new byte[4]).asReadOnlyBuffer();
            int[] in = new int[1];
            assertThrows(
                    UnsupportedOperationException.class,
                    () -> comm.sendRecv(out, 1, MPI.INT, 0, 0, in, 1, MPI.INT, 0, 0));
            Request sent = comm.Isend(new int[] {7}, 0, 1, MPI.INT, 0, 0);
            int[] later = new int[1];
            comm.recv(later, 1, MPI.INT, 0, 0);
            sent.waitFor();
            assertEquals(7, later[0]);
            assertEquals(0, in[0]);
        }
    }

    private static final List<Receive> COLLECTIVES = List.of(
            (comm, buffer) -> comm.bcast(buffer, 2, MPI.INT, 0),
            (comm, buffer) -> comm.gather(IN, 2, MPI.INT, buffer, 2, MPI.INT, 1),
            (comm, buffer) -> comm.gather(buffer, 2, MPI.INT, 1),
            (comm, buffer) -> comm.gatherv(IN, 2, MPI.INT, buffer, COUNTS, PLACES, MPI.INT, 1),
            (comm, buffer) -> comm.gatherv(buffer, COUNTS, PLACES, MPI.INT, 1),
            (comm, buffer) -> comm.scatter(IN, 2, MPI.INT, buffer, 2, MPI.INT, 1),
            (comm, buffer) -> comm.scatter(IN, 2, MPI.INT, buffer, 2, MPI.INT, 0),
            (comm, buffer) -> comm.scatter(buffer, 2, MPI.INT, 0),
            (comm, buffer) -> comm.scatterv(IN, COUNTS, PLACES, MPI.INT, buffer, 2, MPI.INT, 1),
            (comm, buffer) -> comm.scatterv(IN, COUNTS, PLACES, MPI.INT, buffer, 2, MPI.INT, 0),
            (comm, buffer) -> comm.allGather(IN, 2, MPI.INT, buffer, 2, MPI.INT),
            (comm, buffer) -> comm.allGather(buffer, 2, MPI.INT),
            (comm, buffer) -> comm.allGatherv(IN, 2, MPI.INT, buffer, COUNTS, PLACES, MPI.INT),
            (comm, buffer) -> comm.allGatherv(buffer, COUNTS, PLACES, MPI.INT),
            (comm, buffer) -> comm.allToAll(IN, 2, MPI.INT, buffer, 2, MPI.INT),
            (comm, buffer) -> comm.allToAllv(IN, COUNTS, PLACES, MPI.INT, buffer, COUNTS, PLACES, MPI.INT),
            (comm, buffer) -> comm.allToAllw(
                    IN,
                    COUNTS,
                    new int[] {0, 8},
                    new Datatype[] {MPI.INT, MPI.INT},
                    buffer,
                    COUNTS,
                    new int[] {0, 8},
                    new Datatype[] {MPI.INT, MPI.INT}),
            (comm, buffer) -> comm.reduce(IN, buffer, 2, MPI.INT, MPI.SUM, 1),
            (comm, buffer) -> comm.reduce(buffer, 2, MPI.INT, MPI.SUM, 1),
            (comm, buffer) -> comm.allReduce(IN, buffer, 2, MPI.INT, MPI.SUM),
            (comm, buffer) -> comm.allReduce(buffer, 2, MPI.INT, MPI.SUM),
            (comm, buffer) -> comm.allReduce(buffer, 1, MPI.INT2, MPI.MAXLOC),
            (comm, buffer) -> comm.reduceScatter(IN, buffer, COUNTS, MPI.INT, MPI.SUM),
            (comm, buffer) -> comm.reduceScatterBlock(buffer, 2, MPI.INT, MPI.SUM),
            (comm, buffer) -> comm.scan(IN, buffer, 2, MPI.INT, MPI.SUM),
            (comm, buffer) -> comm.scan(buffer, 2, MPI.INT, MPI.SUM),
            (comm, buffer) -> comm.exScan(buffer, 2, MPI.INT, MPI.SUM));

    @Test
    void shouldReceiveNothingOfACollectiveOperation() {
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                for (Receive receive : COLLECTIVES) {
                    if (comm.getRank() == 1) {
                        assertRefused(receive, comm);
                    }
                    int[] sum = new int[1];
                    comm.allReduce(new int[] {1}, sum, 1, MPI.INT, MPI.SUM); // the refused call does not count
                    assertArrayEquals(new int[] {2}, sum);
                }
            });
            assertEquals(List.of(), world.of(0).device().unexpected(100, _ -> true));
        }
    }
}
