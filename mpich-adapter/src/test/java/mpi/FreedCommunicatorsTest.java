package mpi;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.IntBuffer;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** What is pending when its communicator is freed ends as if it were not (MPI 4.1, section 7.4.3). */
class FreedCommunicatorsTest {
    /** The ways to end a request with a status. */
    private static final List<Function<Request, Status>> WAYS = List.of(
            Request::waitStatus,
            Request::Wait,
            request -> {
                Status status = null;
                while (status == null) {
                    status = request.testStatus();
                }
                return status;
            },
            request -> {
                Status status = null;
                while (status == null) {
                    status = request.getStatus();
                }
                request.waitFor();
                return status;
            },
            request -> Request.waitAnyStatus(only(request)),
            request -> Request.waitAllStatus(only(request))[0],
            request -> {
                Status[] statuses = Request.waitSomeStatus(only(request));
                assertNotNull(statuses);
                return statuses[0];
            },
            request -> {
                Status[] statuses = null;
                while (statuses == null) {
                    statuses = Request.testAllStatus(only(request));
                }
                return statuses[0];
            });

    private static Request[] only(Request request) {
        return new Request[] {request};
    }

    /** A part in which the ranks run backwards, so that the rank of a sender is not that in the world. */
    private static Intracomm backwards(Intracomm comm) {
        Intracomm part = comm.split(0, -comm.getRank());
        assertEquals(comm.getSize() - 1 - comm.getRank(), part.getRank());
        return part;
    }

    @Test
    void shouldEndAReceiveWithItsStatus() {
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                for (Function<Request, Status> way : WAYS) {
                    for (boolean isArray : new boolean[] {false, true}) {
                        Intracomm part = backwards(comm);
                        int other = 1 - part.getRank();
                        IntBuffer direct = MPI.newIntBuffer(3);
                        int[] array = new int[3];
                        Request receive = isArray
                                ? part.Irecv(array, 0, 3, MPI.INT, MPI.ANY_SOURCE, MPI.ANY_TAG)
                                : part.iRecv(direct, 3, MPI.INT, MPI.ANY_SOURCE, MPI.ANY_TAG);
                        Request send = part.Isend(new int[] {7, other}, 0, 2, MPI.INT, other, 5);
                        part.free();
                        assertStatus(other, 5, way.apply(receive));
                        assertEquals(1 - other, isArray ? array[1] : direct.get(1));
                        send.waitFor();
                        assertTrue(part.isNull());
                    }
                }
            });
        }
    }

    private static void assertStatus(int source, int tag, Status status) {
        assertEquals(source, status.getSource());
        assertEquals(tag, status.getTag());
        assertEquals(2, status.getCount(MPI.INT));
        assertFalse(status.isCancelled());
    }

    /** The receives of the second kind have something to do at their end. */
    @Test
    void shouldEndSeveralRequestsOfAllKinds() {
        try (World world = new World("sci", 3)) {
            world.run(comm -> {
                int rank = comm.getRank();
                int to = (rank + 1) % 3;
                int from = (rank + 2) % 3;
                Intracomm copy = comm.dup();
                Datatype spread = Datatype.createVector(2, 1, 2, MPI.INT);
                spread.commit();
                IntBuffer in = MPI.newIntBuffer(4);
                IntBuffer out = MPI.newIntBuffer(4).put(0, rank).put(2, rank + 10);
                IntBuffer sum = MPI.newIntBuffer(1);
                boolean[] flags = new boolean[2];
                Object[] objects = new Object[1];
                Request[] all = {
                    copy.iAllReduce(out, sum, 1, MPI.INT, MPI.SUM),
                    copy.iRecv(in, 1, spread, from, 0),
                    copy.iSend(out, 1, spread, to, 0),
                    copy.Irecv(flags, 0, 2, MPI.BOOLEAN, from, 1),
                    copy.Isend(new boolean[] {false, true}, 0, 2, MPI.BOOLEAN, to, 1),
                    copy.Irecv(objects, 0, 1, MPI.OBJECT, from, 2),
                    copy.Isend(new Object[] {"of " + rank}, 0, 1, MPI.OBJECT, to, 2),
                    copy.iBarrier()
                };
                Comm next = copy.iDup();
                copy.free();
                spread.free();
                Request.waitAll(all);
                assertEquals(3, sum.get(0));
                assertEquals(from, in.get(0));
                assertEquals(from + 10, in.get(2));
                assertArrayEquals(new boolean[] {false, true}, flags);
                assertEquals("of " + from, objects[0]);
                next.getRequest().waitFor();
                assertEquals(rank, next.getRank());
                next.free();
            });
        }
    }

    /** An inactive persistent request is pending, too: it may be started. */
    @Test
    void shouldStartAndEndPersistentRequests() {
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                Intracomm part = backwards(comm);
                int other = 1 - part.getRank();
                IntBuffer in = MPI.newIntBuffer(3);
                IntBuffer out = MPI.newIntBuffer(2);
                Prequest[] both = {part.recvInit(in, 3, MPI.INT, other, 5), part.sendInit(out, 2, MPI.INT, other, 5)};
                Prequest.startAll(both);
                part.free();
                for (int round = 0; round < 3; round++) {
                    assertStatus(other, 5, Request.waitAllStatus(both)[0]);
                    assertEquals(round, in.get(0));
                    comm.barrier();
                    out.put(0, round + 1);
                    Prequest.startAll(both);
                }
                Request.waitAll(both);
                both[0].free();
                both[1].free();
            });
        }
    }

    @Test
    void shouldReceiveAMessageThatWasMatchedBefore() {
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                for (boolean isBlocking : new boolean[] {true, false}) {
                    Intracomm part = backwards(comm);
                    int other = 1 - part.getRank();
                    Request send = part.Isend(new int[] {7, other}, 0, 2, MPI.INT, other, 5);
                    Message message = new Message();
                    message.mProbe(MPI.ANY_SOURCE, MPI.ANY_TAG, part);
                    part.free();
                    IntBuffer in = MPI.newIntBuffer(2);
                    Status status = isBlocking
                            ? message.mRecv(in, 2, MPI.INT)
                            : message.imRecv(in, 2, MPI.INT).waitStatus();
                    assertStatus(other, 5, status);
                    assertEquals(1 - other, in.get(1));
                    assertTrue(message.isNull());
                    send.waitFor();
                }
            });
        }
    }

    @Test
    void shouldSayThatAMessageIsLongerThanItsBuffer() {
        List<Consumer<Request>> ways = List.of(
                Request::waitFor, Request::waitStatus, request -> Request.waitAny(new Request[] {request}), request -> {
                    while (!request.test()) {
                        Thread.onSpinWait();
                    }
                });
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                for (Consumer<Request> way : ways) {
                    Intracomm copy = comm.dup();
                    int other = 1 - copy.getRank();
                    Request receive = copy.iRecv(MPI.newIntBuffer(1), 1, MPI.INT, other, 0);
                    Request send = copy.Isend(new int[3], 0, 3, MPI.INT, other, 0);
                    copy.free();
                    assertError(MPI.ERR_TRUNCATE, () -> way.accept(receive));
                    assertTrue(receive.isNull());
                    send.waitFor();
                }
                Intracomm copy = comm.dup();
                int other = 1 - copy.getRank();
                Request[] both = {
                    copy.iRecv(MPI.newIntBuffer(1), 1, MPI.INT, other, 0),
                    copy.Isend(new int[3], 0, 3, MPI.INT, other, 0)
                };
                copy.free();
                assertError(MPI.ERR_IN_STATUS, () -> Request.waitAll(both));
            });
        }
    }

    @Test
    void shouldCancelAReceive() {
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                Intracomm copy = comm.dup();
                Request receive = copy.iRecv(MPI.newIntBuffer(1), 1, MPI.INT, 1 - copy.getRank(), 0);
                copy.free();
                receive.cancel();
                assertTrue(receive.waitStatus().isCancelled());
            });
        }
    }

    /** Errors in what a request does at its start or end are errors of MPI. */
    @Test
    void shouldRaiseErrorsOfTheEndsAndStartsOfRequests() {
        try (World world = new World("sci", 1)) {
            world.run(comm -> {
                Intracomm copy = comm.dup();
                Request tooShort = copy.Irecv(new Object[1], 0, 1, MPI.OBJECT, 0, 0);
                Request send = copy.Isend(new Object[] {"a", "b"}, 0, 2, MPI.OBJECT, 0, 0);
                Prequest buffered = copy.bSendInit(MPI.newIntBuffer(4), 4, MPI.INT, 0, 1);
                copy.free();
                send.waitFor();
                assertError(MPI.ERR_IN_STATUS, () -> Request.waitSome(new Request[] {tooShort}));
                assertError(MPI.ERR_BUFFER, buffered::start); // nothing is attached
                assertError(MPI.ERR_BUFFER, () -> Prequest.startAll(new Prequest[] {buffered}));
            });
        }
    }

    private static void assertError(int errorClass, Executable call) {
        MPIException seen = assertThrows(MPIException.class, call);
        assertEquals(errorClass, seen.getErrorClass(), seen.getMessage());
    }
}
