package mpi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** What is told of an argument that is wrong: what it is, and what was expected. */
class WrongArgumentsTest {
    private static void assertTold(int errorClass, String text, Executable call) {
        MPIException seen = assertThrows(MPIException.class, call);
        assertEquals(text, seen.getMessage());
        assertEquals(errorClass, seen.getErrorClass());
    }

    @Test
    void shouldSayWhichBufferIsExpectedInPlaceOfNull() {
        try (World world = new World("sci", 1)) {
            world.run(comm -> {
                String ofMessage = "the buffer of a message of 4 bytes is null: expected an array or a java.nio buffer";
                assertTold(MPI.ERR_BUFFER, ofMessage, () -> comm.send(null, 1, MPI.INT, 0, 0));
                assertTold(MPI.ERR_BUFFER, ofMessage, () -> comm.recv(null, 1, MPI.INT, 0, 0));
                assertTold(MPI.ERR_BUFFER, ofMessage, () -> comm.Irecv(null, 0, 1, MPI.INT, 0, 0));
                assertTold(MPI.ERR_BUFFER, ofMessage, () -> comm.bcast(null, 1, MPI.INT, 0));
                String ofObjects = " of MPI.OBJECT is null: expected an Object[]";
                assertTold(
                        MPI.ERR_BUFFER,
                        "the buffer of a message" + ofObjects,
                        () -> comm.Send(null, 0, 1, MPI.OBJECT, 0, 0));
                assertTold(
                        MPI.ERR_BUFFER,
                        "the buffer of a collective operation" + ofObjects,
                        () -> comm.Bcast(null, 0, 1, MPI.OBJECT, 0));
                assertTold(
                        MPI.ERR_BUFFER,
                        "the buffer of a collective operation of MPI.OBJECT is of int[]: expected an Object[]",
                        () -> comm.Bcast(new int[1], 0, 1, MPI.OBJECT, 0));
                String ofRequest = assertThrows(
                                IllegalArgumentException.class, () -> comm.iRecv(null, 1, MPI.INT, 0, 0))
                        .getMessage();
                assertEquals(
                        "the buffer of a non-blocking operation is null: expected one of MPI.newByteBuffer and its like",
                        ofRequest);
                assertTold(
                        MPI.ERR_COMM,
                        "the communicator is null: expected one such as MPI.COMM_WORLD",
                        () -> Comm.compare(comm, null));
            });
        }
        assertTold(
                MPI.ERR_BUFFER,
                "the buffer to attach is null: expected a ByteBuffer or an array",
                () -> MPI.Buffer_attach((ByteBuffer) null));
    }

    @Test
    void shouldSayThatNoBufferIsAttached() {
        try (World world = new World("sci", 1)) {
            world.run(comm -> {
                String needs = "a buffered send of 8 bytes needs " + (8 + MPI.BSEND_OVERHEAD) + " bytes of ";
                assertTold(
                        MPI.ERR_BUFFER,
                        needs + "an attached buffer, and none is attached: expected a call of MPI.attachBuffer before,"
                                + " with an array of as many bytes for each send that may wait",
                        () -> comm.bSend(new int[2], 2, MPI.INT, 0, 0));
                world.of(0).buffered().attach(new byte[10], 10);
                assertTold(
                        MPI.ERR_BUFFER,
                        needs + "the attached buffer, 10 are free: expected a larger one (MPI.attachBuffer)",
                        () -> comm.bSend(new int[2], 2, MPI.INT, 0, 0));
            });
        }
    }

    @Test
    void shouldSayWhatACollectiveOperationLacks() {
        try (World world = new World("sci", 1)) {
            world.run(comm -> {
                int[] in = {1};
                int[] out = {2};
                String noOperation = "the operation of a reduction is null: expected one such as MPI.SUM";
                assertTold(MPI.ERR_OP, noOperation, () -> comm.allReduce(in, out, 1, MPI.INT, null));
                assertTold(MPI.ERR_OP, noOperation, () -> Comm.reduceLocal(in, out, 1, MPI.INT, null));
                Object[] objects = {"a"};
                assertTold(MPI.ERR_OP, noOperation, () -> comm.Allreduce(objects, 0, objects, 0, 1, MPI.OBJECT, null));
                String noCounts = "reduce_scatter has no counts for 1 members: expected one each";
                assertTold(MPI.ERR_ARG, noCounts, () -> comm.reduceScatter(in, out, null, MPI.INT, MPI.SUM));
                Op first = new Op(new UserFunction() {}, true);
                assertTold(
                        MPI.ERR_ARG,
                        noCounts,
                        () -> comm.Reduce_scatter(objects, 0, objects, 0, null, MPI.OBJECT, first));
                int[] one = {1};
                int[] zero = {0};
                assertTold(
                        MPI.ERR_ARG,
                        "alltoallw has no datatypes for 1 members: expected one per member",
                        () -> comm.allToAllw(in, one, zero, null, out, one, zero, new Datatype[] {MPI.INT}));
                assertTold(
                        MPI.ERR_TYPE,
                        "the datatype is null: expected one such as MPI.INT",
                        () -> comm.allToAllw(in, one, zero, new Datatype[1], out, one, zero, new Datatype[1]));
                assertEquals(2, out[0]);
            });
        }
    }

    @Test
    void shouldSayWhereASliceMayBegin() {
        assertEquals(0, MPI.slice(new int[16], 16).capacity());
        String outside = " of a buffer of 16 elements: expected 0 to 16";
        IntBuffer buffer = MPI.newIntBuffer(16).position(3);
        assertTold(MPI.ERR_ARG, "a slice begins at element 17" + outside, () -> MPI.slice(buffer, 17));
        assertEquals(3, buffer.position());
        assertTold(MPI.ERR_ARG, "a slice begins at element 17" + outside, () -> MPI.slice(new int[16], 17));
        assertTold(MPI.ERR_ARG, "a slice begins at element -1" + outside, () -> MPI.slice(new byte[16], -1));
        assertTold(MPI.ERR_BUFFER, "the array of a slice is null: expected an array", () -> MPI.slice((int[]) null, 0));
        assertTold(
                MPI.ERR_BUFFER,
                "the buffer of a slice is null: expected a buffer",
                () -> MPI.slice((IntBuffer) null, 0));
    }

    @Test
    void shouldSayHowLongABufferMayBe() {
        String bytes = ", since it has at most 2147483647 bytes";
        assertTold(
                MPI.ERR_ARG,
                "a buffer of 2147483647 elements is asked for: expected 0 to 268435455" + bytes,
                () -> MPI.newLongBuffer(Integer.MAX_VALUE));
        assertTold(
                MPI.ERR_ARG,
                "a buffer of -1 elements is asked for: expected 0 to 2147483647" + bytes,
                () -> MPI.newByteBuffer(-1));
    }
}
