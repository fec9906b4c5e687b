package mpi;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages between two processes, in all modes and both dialects. */
class PointToPointTest {
    /** Inline, eager, and long enough to ask first; the last one travels in several messages. */
    private static final int[] SIZES = {0, 1, 6, 7, 100, 4096, 4097, 100_000, 3_000_000};

    private static int[] pattern(int count, int seed) {
        return IntStream.range(0, count).map(i -> i * 31 + seed).toArray();
    }

    @ParameterizedTest
    @ValueSource(strings = {"sci", "tcp"})
    void shouldDeliverMessagesOfAllLengths(String network) {
        try (World world = new World(network, 2)) {
            world.run(comm -> {
                for (int size : SIZES) {
                    if (comm.getRank() == 0) {
                        comm.send(pattern(size, 7), size, MPI.INT, 1, size % 1000);
                    } else {
                        int[] got = new int[size + 1];
                        got[size] = -5;
                        Status status = comm.recv(got, size + 1, MPI.INT, 0, size % 1000);
                        assertEquals(size, status.getCount(MPI.INT));
                        assertEquals(0, status.getSource());
                        assertEquals(size % 1000, status.getTag());
                        int[] expected = java.util.Arrays.copyOf(pattern(size, 7), size + 1);
                        expected[size] = -5; // behind the message nothing is written
                        assertArrayEquals(expected, got);
                    }
                }
            });
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"sci", "tcp"})
    void shouldDeliverMessagesThatArriveBeforeTheirReceives(String network) {
        try (World world = new World(network, 2)) {
            world.run(comm -> {
                if (comm.getRank() == 0) {
                    List<Request> sends = new ArrayList<>();
                    for (int i = 0; i < SIZES.length; i++) {
                        sends.add(comm.Isend(pattern(SIZES[i], i), 0, SIZES[i], MPI.INT, 1, i));
                    }
                    comm.barrier();
                    Request.waitAll(sends.toArray(Request[]::new));
                } else {
                    comm.barrier();
                    for (int i = SIZES.length - 1; i >= 0; i--) { // against their order
                        int[] got = new int[SIZES[i]];
                        comm.recv(got, got.length, MPI.INT, 0, i);
                        assertArrayEquals(pattern(SIZES[i], i), got);
                    }
                }
            });
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"sci", "tcp"})
    void shouldFailAReceiveWhoseMemoryIsFreed(String network) {
        try (World world = new World(network, 2)) {
            world.run(comm -> {
                for (int bytes : new int[] {8, 500, 3_000, 40_000}) {
                    if (comm.getRank() == 0) {
                        comm.barrier();
                        comm.send(new byte[bytes], bytes, MPI.BYTE, 1, 1);
                    } else {
                        Arena arena = Arena.ofShared();
                        ByteBuffer freed = arena.allocate(bytes).asByteBuffer();
                        Request receive = comm.iRecv(freed, bytes, MPI.BYTE, 0, 1);
                        arena.close();
                        comm.barrier();
                        assertThrows(MPIException.class, receive::waitFor);
                    }
                    comm.barrier();
                }
            });
        }
    }

    @Test
    void shouldMatchWildcardsInTheOrderOfPosting() {
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                if (comm.getRank() == 0) {
                    comm.barrier();
                    for (int i = 0; i < 4; i++) {
                        comm.send(new int[] {i}, 1, MPI.INT, 1, 5);
                    }
                } else {
                    IntBuffer[] got = new IntBuffer[4];
                    Request[] receives = new Request[4];
                    int[] sources = {MPI.ANY_SOURCE, 0, MPI.ANY_SOURCE, 0};
                    int[] tags = {5, 5, MPI.ANY_TAG, MPI.ANY_TAG};
                    for (int i = 0; i < 4; i++) {
                        got[i] = MPI.newIntBuffer(1);
                        receives[i] = comm.iRecv(got[i], 1, MPI.INT, sources[i], tags[i]);
                    }
                    comm.barrier();
                    Status[] statuses = Request.waitAllStatus(receives);
                    for (int i = 0; i < 4; i++) {
                        assertEquals(i, got[i].get(0));
                        assertEquals(5, statuses[i].getTag());
                        assertEquals(0, statuses[i].getSource());
                    }
                }
            });
        }
    }

    @Test
    void shouldTakeUnexpectedMessagesOfAnySourceInTheOrderOfTheirArrival() {
        try (World world = new World("sci", 3)) {
            world.run(comm -> {
                switch (comm.getRank()) {
                    case 0 -> {
                        comm.recv(new int[1], 1, MPI.INT, 2, 7); // both messages are there
                        for (int i = 1; i <= 2; i++) {
                            Status status = comm.recv(new int[1], 1, MPI.INT, MPI.ANY_SOURCE, i == 1 ? MPI.ANY_TAG : 5);
                            assertEquals(3 - i, status.getSource());
                        }
                    }
                    case 2 -> {
                        comm.send(new int[1], 1, MPI.INT, 0, 5);
                        while (world.of(0).device().arrivedCount(_ -> true) < 1) {
                            Thread.sleep(1);
                        }
                        comm.send(new int[1], 1, MPI.INT, 1, 9);
                    }
                    default -> {
                        comm.recv(new int[1], 1, MPI.INT, 2, 9);
                        comm.send(new int[1], 1, MPI.INT, 0, 5);
                        while (world.of(0).device().arrivedCount(_ -> true) < 2) {
                            Thread.sleep(1);
                        }
                        world.of(2).world().send(new int[1], 1, MPI.INT, 0, 7);
                    }
                }
            });
        }
    }

    @Test
    void shouldKeepTheOrderOfShortAndLongMessagesWithOneTag() {
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                if (comm.getRank() == 0) {
                    for (int i = 0; i < 200; i++) {
                        int size = i % 3 == 0 ? 20_000 : i % 3;
                        int[] data = pattern(size + 1, i);
                        data[0] = i;
                        comm.send(data, size + 1, MPI.INT, 1, 0);
                    }
                } else {
                    int[] got = new int[20_001];
                    for (int i = 0; i < 200; i++) {
                        comm.recv(got, got.length, MPI.INT, MPI.ANY_SOURCE, MPI.ANY_TAG);
                        assertEquals(i, got[0]);
                    }
                }
            });
        }
    }

    @Test
    void shouldEndSynchronousSendsOnlyWhenTheyAreMatched() {
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                if (comm.getRank() == 0) {
                    for (int size : new int[] {1, 1000, 100_000}) {
                        IntBuffer data = MPI.newIntBuffer(size);
                        Request send = comm.isSend(data, size, MPI.INT, 1, size % 10);
                        Thread.sleep(50);
                        assertFalse(send.test(), "matched before there was a receive, " + size + " ints");
                        comm.barrier();
                        send.waitFor();
                    }
                } else {
                    for (int size : new int[] {1, 1000, 100_000}) {
                        comm.barrier();
                        comm.recv(new int[size], size, MPI.INT, 0, size % 10);
                    }
                }
            });
        }
    }

    @Test
    void shouldCarryOnALongMessageWhileTheReceiverComputes() {
        CountDownLatch sent = new CountDownLatch(1);
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                int count = 1 << 18;
                if (comm.getRank() == 0) {
                    comm.barrier();
                    comm.send(new int[count], count, MPI.INT, 1, 0);
                    sent.countDown();
                } else {
                    IntBuffer data = MPI.newIntBuffer(count);
                    Request receive = comm.iRecv(data, count, MPI.INT, 0, 0);
                    comm.barrier();
                    boolean isSent = sent.await(30, TimeUnit.SECONDS); // no call of MPI
                    receive.waitFor();
                    assertTrue(isSent, "the send took as long as the computation");
                }
            });
        }
    }

    @Test
    void shouldTellTheReceiverThatItsBufferIsTooShort() {
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                for (int size : new int[] {4, 1000, 100_000}) {
                    if (comm.getRank() == 0) {
                        comm.send(pattern(size, 3), size, MPI.INT, 1, 0);
                        comm.send(pattern(size, 4), size, MPI.INT, 1, 1);
                    } else {
                        int[] got = new int[size];
                        MPIException e =
                                assertThrows(MPIException.class, () -> comm.recv(got, size / 2, MPI.INT, 0, 0));
                        assertEquals(MPI.ERR_TRUNCATE, e.getErrorClass());
                        assertEquals(0, got[size / 2]);
                        comm.recv(got, size, MPI.INT, 0, 1);
                        assertArrayEquals(pattern(size, 4), got);
                    }
                }
            });
        }
    }

    @Test
    void shouldDeliverMessagesOfAProcessToItself() {
        try (World world = new World("sci", 1)) {
            world.run(comm -> {
                for (int size : SIZES) {
                    int[] got = new int[size];
                    Request receive = comm.Irecv(got, 0, size, MPI.INT, 0, 1);
                    comm.send(pattern(size, 1), size, MPI.INT, 0, 1);
                    receive.waitFor();
                    assertArrayEquals(pattern(size, 1), got);
                    Request send = comm.Isend(pattern(size, 2), 0, size, MPI.INT, 0, 2);
                    Status status = comm.recv(got, size, MPI.INT, MPI.ANY_SOURCE, 2);
                    assertEquals(0, status.getSource());
                    send.waitFor();
                    assertArrayEquals(pattern(size, 2), got);
                }
                Request unmatched = comm.Issend(new int[1], 0, 1, MPI.INT, 0, 3);
                assertFalse(unmatched.test());
                comm.recv(new int[1], 1, MPI.INT, 0, 3);
                assertTrue(unmatched.test());
            });
        }
    }

    @Test
    void shouldCancelReceivesAndSendsThatNobodyHasMatched() {
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                if (comm.getRank() == 0) {
                    Request receive = comm.Irecv(new int[1], 0, 1, MPI.INT, 1, 8);
                    receive.cancel();
                    assertTrue(receive.waitStatus().isCancelled());
                    for (int size : new int[] {1, 100_000}) {
                        Request send = comm.Issend(new int[size], 0, size, MPI.INT, 1, 9);
                        send.cancel();
                        assertTrue(send.waitStatus().isCancelled());
                    }
                    comm.barrier();
                    comm.send(new int[] {42}, 1, MPI.INT, 1, 9);
                } else {
                    int[] got = new int[1];
                    comm.barrier();
                    comm.recv(got, 1, MPI.INT, 0, MPI.ANY_TAG);
                    assertEquals(42, got[0]);
                }
            });
        }
    }

    @Test
    void shouldProbeAndTakeMessages() {
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                if (comm.getRank() == 0) {
                    comm.send(pattern(10, 1), 10, MPI.INT, 1, 3);
                    comm.send(pattern(50_000, 2), 50_000, MPI.INT, 1, 4);
                    comm.send(pattern(5, 3), 5, MPI.INT, 1, 5);
                } else {
                    assertNull(comm.iProbe(0, 77));
                    Status status = comm.probe(0, MPI.ANY_TAG);
                    assertEquals(10, status.getCount(MPI.INT));
                    assertEquals(3, status.getTag());
                    comm.recv(new int[10], 10, MPI.INT, 0, 3);
                    Message message = new Message();
                    status = message.mProbe(0, 4, comm);
                    assertEquals(50_000, status.getCount(MPI.INT));
                    assertNull(comm.iProbe(0, 4), "a taken message is found again");
                    int[] got = new int[50_000];
                    assertEquals(50_000, message.mRecv(got, got.length, MPI.INT).getCount(MPI.INT));
                    assertArrayEquals(pattern(50_000, 2), got);
                    assertTrue(message.isNull());
                    while (message.imProbe(MPI.ANY_SOURCE, 5, comm) == null) {
                        Thread.onSpinWait();
                    }
                    IntBuffer five = MPI.newIntBuffer(5);
                    message.imRecv(five, 5, MPI.INT).waitFor();
                    assertEquals(pattern(5, 3)[4], five.get(4));
                }
            });
        }
    }

    @Test
    void shouldRepeatPersistentRequests() {
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                IntBuffer data = MPI.newIntBuffer(30_000);
                Prequest[] requests = {
                    comm.getRank() == 0
                            ? comm.sendInit(data, 30_000, MPI.INT, 1, 0)
                            : comm.recvInit(data, 30_000, MPI.INT, 0, 0)
                };
                for (int round = 0; round < 20; round++) {
                    if (comm.getRank() == 0) {
                        data.put(29_999, round);
                    }
                    Prequest.startAll(requests);
                    Request.waitAll(requests);
                    assertFalse(requests[0].isNull());
                    assertEquals(round, data.get(29_999));
                    comm.barrier();
                }
                requests[0].free();
                assertTrue(requests[0].isNull());
                assertThrows(MPIException.class, requests[0]::start);
            });
        }
    }

    @Test
    void shouldBoundBufferedSendsByTheAttachedBuffer() {
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                if (comm.getRank() == 0) {
                    assertEquals(
                            MPI.ERR_BUFFER,
                            assertThrows(MPIException.class, () -> comm.bSend(new int[1], 1, MPI.INT, 1, 0))
                                    .getErrorClass());
                    byte[] buffer = new byte[400_000 + MPI.BSEND_OVERHEAD];
                    comm.environment().buffered().attach(buffer, buffer.length);
                    int[] data = pattern(100_000, 1);
                    comm.bSend(data, 100_000, MPI.INT, 1, 0);
                    data[5] = 0; // the message has a copy
                    assertThrows(MPIException.class, () -> comm.bSend(new int[1], 1, MPI.INT, 1, 0));
                    comm.barrier();
                    assertSame(buffer, comm.environment().buffered().detach());
                } else {
                    comm.barrier();
                    int[] got = new int[100_000];
                    comm.recv(got, got.length, MPI.INT, 0, 0);
                    assertArrayEquals(pattern(100_000, 1), got);
                }
            });
        }
    }

    @Test
    void shouldWaitForAnyAndSomeRequests() {
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                if (comm.getRank() == 0) {
                    for (int tag : new int[] {2, 0, 1}) {
                        comm.recv(new int[1], 1, MPI.INT, 1, 50);
                        comm.send(new int[] {tag}, 1, MPI.INT, 1, tag);
                    }
                } else {
                    Request[] requests = new Request[4];
                    int[][] got = new int[3][1];
                    for (int i = 0; i < 3; i++) {
                        requests[i] = comm.Irecv(got[i], 0, 1, MPI.INT, 0, i);
                    }
                    requests[3] = MPI.REQUEST_NULL;
                    assertEquals(MPI.UNDEFINED, Request.testAny(requests));
                    assertEquals(0, Request.testSome(requests).length);
                    comm.send(new int[1], 1, MPI.INT, 0, 50);
                    assertEquals(2, Request.waitAny(requests));
                    assertTrue(requests[2].isNull());
                    comm.send(new int[1], 1, MPI.INT, 0, 50);
                    assertArrayEquals(new int[] {0}, Request.waitSome(requests));
                    assertFalse(Request.testAll(requests));
                    comm.send(new int[1], 1, MPI.INT, 0, 50);
                    Status status = Request.waitAnyStatus(requests);
                    assertEquals(1, status.getIndex());
                    assertEquals(1, got[1][0]);
                    assertNull(Request.waitSome(requests));
                    assertEquals(MPI.UNDEFINED, Request.waitAny(requests));
                    assertNotNull(Request.testAllStatus(requests));
                }
            });
        }
    }

    @Test
    void shouldSayThatAnArrayOfRequestsIsNull() {
        Map<String, Executable> calls = new LinkedHashMap<>();
        calls.put("waitAny", () -> Request.waitAny(null));
        calls.put("testAny", () -> Request.testAny(null));
        calls.put("waitAll", () -> Request.waitAll(null));
        calls.put("testAll", () -> Request.testAll(null));
        calls.put("waitSome", () -> Request.waitSome(null));
        calls.put("testSome", () -> Request.testSome(null));
        calls.put("startAll", () -> Prequest.startAll(null));
        calls.forEach(PointToPointTest::assertNullArray);
        assertNullArray("waitAny", () -> Request.waitAnyStatus(null));
        assertNullArray("testAny", () -> Request.testAnyStatus(null));
        assertNullArray("waitAll", () -> Request.waitAllStatus(null));
        assertNullArray("testAll", () -> Request.testAllStatus(null));
    }

    private static void assertNullArray(String method, Executable call) {
        MPIException seen = assertThrows(MPIException.class, call, method);
        assertEquals(MPI.ERR_ARG, seen.getErrorClass());
        assertTrue(
                seen.getMessage().startsWith("the array of requests of " + method + " is null: expected an array"),
                seen.getMessage());
    }

    @Test
    void shouldTakeNullElementsOfAnArrayForNullRequests() {
        Request[] none = new Request[2];
        assertEquals(MPI.UNDEFINED, Request.waitAny(none));
        assertEquals(MPI.UNDEFINED, Request.testAny(none));
        assertNull(Request.waitSome(none));
        assertNull(Request.testSome(none));
        assertTrue(Request.testAll(none));
        Request.waitAll(none);
        assertEquals(2, Request.waitAllStatus(none).length);
    }

    @Test
    void shouldStartNoneOfSeveralRequestsIfOneIsNull() {
        try (World world = new World("sci", 1)) {
            Intracomm comm = world.of(0).world();
            Prequest receive = comm.Recv_init(new int[1], 0, 1, MPI.INT, 0, 0);
            MPIException seen =
                    assertThrows(MPIException.class, () -> Prequest.startAll(new Prequest[] {receive, null}));
            assertEquals(MPI.ERR_REQUEST, seen.getErrorClass());
            assertEquals("request 1 of startAll is null: expected an inactive persistent request", seen.getMessage());
            assertFalse(receive.isActive());
        }
    }

    @Test
    void shouldExchangeWithSendRecvAndReplace() {
        try (World world = new World("sci", 3)) {
            world.run(comm -> {
                int right = (comm.getRank() + 1) % 3;
                int left = (comm.getRank() + 2) % 3;
                for (int size : SIZES) {
                    int[] got = new int[size];
                    comm.sendRecv(pattern(size, comm.getRank()), size, MPI.INT, right, 1, got, size, MPI.INT, left, 1);
                    assertArrayEquals(pattern(size, left), got);
                    Status status = comm.sendRecvReplace(got, size, MPI.INT, right, 2, left, 2);
                    assertEquals(left, status.getSource());
                    assertArrayEquals(pattern(size, right), got);
                }
                assertEquals(
                        MPI.PROC_NULL,
                        comm.sendRecv(
                                        new int[1],
                                        1,
                                        MPI.INT,
                                        MPI.PROC_NULL,
                                        0,
                                        new int[1],
                                        1,
                                        MPI.INT,
                                        MPI.PROC_NULL,
                                        0)
                                .getSource());
            });
        }
    }

    @Test
    void shouldKeepAHundredThousandUnexpectedMessagesAndMatchTheLastFirst() {
        int count = 100_000;
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                if (comm.getRank() == 0) {
                    Request[] sends = new Request[count];
                    IntBuffer data = MPI.newIntBuffer(count);
                    for (int i = 0; i < count; i++) {
                        data.put(i, i);
                        sends[i] = comm.iSend(MPI.slice(data, i), 1, MPI.INT, 1, i);
                    }
                    comm.send(new int[0], 0, MPI.INT, 1, count);
                    Request.waitAll(sends);
                } else {
                    comm.recv(new int[0], 0, MPI.INT, 0, count);
                    assertEquals(count, comm.device().arrivedCount(_ -> true));
                    long startNs = System.nanoTime();
                    int[] got = new int[1];
                    for (int i = count - 1; i >= 0; i--) {
                        comm.recv(got, 1, MPI.INT, 0, i);
                        assertEquals(i, got[0]);
                    }
                    long tookNs = System.nanoTime() - startNs;
                    assertTrue(tookNs < 30_000_000_000L, "matching took " + tookNs + " ns");
                }
            });
        }
    }

    @Test
    void shouldServeManyThreadsOfAProcessAtOnce() {
        int threads = 4;
        int rounds = 300;
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                CountDownLatch done = new CountDownLatch(2 * threads);
                AtomicReference<Throwable> failure = new AtomicReference<>();
                for (int t = 0; t < 2 * threads; t++) {
                    int tag = t;
                    Thread.Builder builder = t < threads ? Thread.ofPlatform() : Thread.ofVirtual();
                    builder.start(() -> {
                        try {
                            int other = 1 - comm.getRank();
                            for (int i = 0; i < rounds; i++) {
                                int size = i % 10 == 0 ? 10_000 : i % 50;
                                int[] got = new int[size];
                                comm.sendRecv(
                                        pattern(size, i + tag),
                                        size,
                                        MPI.INT,
                                        other,
                                        tag,
                                        got,
                                        size,
                                        MPI.INT,
                                        other,
                                        tag);
                                assertArrayEquals(pattern(size, i + tag), got);
                            }
                        } catch (Throwable e) {
                            failure.set(e);
                        } finally {
                            done.countDown();
                        }
                    });
                }
                assertTrue(done.await(60, TimeUnit.SECONDS), "the threads are not done");
                assertNull(failure.get());
            });
        }
    }

    @Test
    void shouldUseOffsetsOfArraysAndSlicesOfBuffers() {
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                if (comm.getRank() == 0) {
                    comm.Send(new double[] {1, 2, 3, 4}, 1, 2, MPI.DOUBLE, 1, 0);
                    comm.Send(new boolean[] {true, false, true}, 1, 2, MPI.BOOLEAN, 1, 1);
                    IntBuffer data = MPI.newIntBuffer(4).put(new int[] {5, 6, 7, 8}); // the position does not count
                    comm.send(data, 4, MPI.INT, 1, 2);
                    comm.send(MPI.slice(new int[] {1, 2, 3}, 2), 1, MPI.INT, 1, 3);
                } else {
                    double[] got = new double[4];
                    comm.Recv(got, 2, 2, MPI.DOUBLE, 0, 0);
                    assertArrayEquals(new double[] {0, 0, 2, 3}, got);
                    boolean[] flags = {true, true, true};
                    comm.Recv(flags, 0, 2, MPI.BOOLEAN, 0, 1);
                    assertArrayEquals(new boolean[] {false, true, true}, flags);
                    int[] four = new int[4];
                    comm.recv(four, 4, MPI.INT, 0, 2);
                    assertArrayEquals(new int[] {5, 6, 7, 8}, four);
                    comm.recv(four, 1, MPI.INT, 0, 3);
                    assertEquals(3, four[0]);
                }
            });
        }
    }

    @Test
    void shouldReturnTheMemoryOfBuffersThatNobodyUses() {
        int sum = 0;
        for (int i = 0; i < 3000; i++) { // six times what the JVM allows at once
            sum += MPI.newByteBuffer(1 << 20).put(0, (byte) 1).get(0);
        }
        assertEquals(3000, sum);
    }

    @Test
    void shouldSendObjects() {
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                if (comm.getRank() == 0) {
                    comm.Send(new Object[] {"left out", "one", List.of(2, 3)}, 1, 2, MPI.OBJECT, 1, 0);
                    comm.Send(new String[] {"x".repeat(100_000)}, 0, 1, MPI.OBJECT, 1, 1);
                } else {
                    Object[] got = new Object[3];
                    Status status = comm.Recv(got, 1, 2, MPI.OBJECT, 0, 0);
                    assertEquals(2, status.Get_count(MPI.OBJECT));
                    assertEquals("one", got[1]);
                    assertEquals(List.of(2, 3), got[2]);
                    String[] text = new String[1];
                    comm.Irecv(text, 0, 1, MPI.OBJECT, 0, 1).Wait();
                    assertEquals(100_000, text[0].length());
                }
            });
        }
    }

    @Test
    void shouldRefuseToReceiveIntoAReadOnlyBuffer() {
        ByteBuffer small = MPI.newByteBuffer(8).asReadOnlyBuffer();
        IntBuffer direct = MPI.newIntBuffer(2).asReadOnlyBuffer();
        try (World world = new World("sci", 1)) {
            world.run(comm -> {
                assertError(MPI.ERR_BUFFER, () -> comm.recv(small, 8, MPI.BYTE, 0, 0));
                assertError(MPI.ERR_BUFFER, () -> comm.iRecv(direct, 2, MPI.INT, 0, 0));
                assertError(MPI.ERR_BUFFER, () -> comm.iRecv(direct, 1, MPI.INT2, 0, 0));
                assertError(MPI.ERR_BUFFER, () -> comm.allReduce(new int[2], direct, 2, MPI.INT, MPI.SUM));
                Request send = comm.iSend(direct, 2, MPI.INT, 0, 0);
                comm.recv(MPI.newIntBuffer(2), 2, MPI.INT, 0, 0);
                send.waitFor();
            });
        }
    }

    /** The process copies a message to itself in the sending thread. */
    @Test
    void shouldLeaveNobodyInterruptedWhoseMemoryIsFreedWhileItCopies() {
        int bytes = 16 << 20;
        try (World world = new World("sci", 1)) {
            world.run(comm -> {
                ByteBuffer from = MPI.newByteBuffer(bytes);
                int failed = 0;
                for (int round = 0; round < 400 && failed < 20; round++) {
                    Arena arena = Arena.ofShared();
                    Request receive = comm.iRecv(arena.allocate(bytes).asByteBuffer(), bytes, MPI.BYTE, 0, 0);
                    long delayNs = round % 20 * 100_000L;
                    Thread other = Thread.ofPlatform().start(() -> {
                        LockSupport.parkNanos(delayNs);
                        arena.close();
                    });
                    comm.iSend(from, bytes, MPI.BYTE, 0, 0).waitFor();
                    assertFalse(Thread.interrupted(), "interrupted in round " + round);
                    try {
                        receive.waitFor();
                    } catch (MPIException e) {
                        failed++;
                    }
                    other.join();
                }
                assertTrue(failed > 0, "no memory was freed in time");
            });
        }
    }

    @Test
    void shouldRefuseWrongArguments() {
        try (World world = new World("sci", 1)) {
            world.run(comm -> {
                assertError(MPI.ERR_RANK, () -> comm.send(new int[1], 1, MPI.INT, 1, 0));
                assertError(MPI.ERR_RANK, () -> comm.recv(new int[1], 1, MPI.INT, -7, 0));
                assertError(MPI.ERR_TAG, () -> comm.send(new int[1], 1, MPI.INT, 0, -1));
                assertError(MPI.ERR_COUNT, () -> comm.send(new int[1], -1, MPI.INT, 0, 0));
                assertError(MPI.ERR_BUFFER, () -> comm.send(new int[1], 2, MPI.INT, 0, 0));
                assertError(MPI.ERR_BUFFER, () -> comm.send(null, 1, MPI.INT, 0, 0));
                assertError(MPI.ERR_TYPE, () -> comm.send(new int[1], 1, MPI.DOUBLE, 0, 0));
                assertError(MPI.ERR_TYPE, () -> comm.send(new int[1], 1, MPI.DATATYPE_NULL, 0, 0));
                assertError(MPI.ERR_TYPE, () -> comm.send(new int[1], 1, null, 0, 0));
                assertError(MPI.ERR_TYPE, () -> comm.Irecv(new int[1], 0, 1, null, 0, 0));
                assertError(MPI.ERR_TYPE, () -> comm.bcast(new int[1], 1, null, 0));
                assertError(MPI.ERR_OP, () -> comm.allReduce(new int[1], 1, MPI.INT, null));
                assertThrows(IllegalArgumentException.class, () -> comm.iSend(IntBuffer.allocate(1), 1, MPI.INT, 0, 0));
            });
        }
    }

    @Test
    void shouldTakeNoMessageWithWrongArguments() {
        try (World world = new World("sci", 1)) {
            world.run(comm -> {
                int[] lost = new int[1];
                assertError(MPI.ERR_RANK, () -> comm.sendRecv(new int[1], 1, MPI.INT, 1, 0, lost, 1, MPI.INT, 0, 0));
                Request sent = comm.Isend(new int[] {7}, 0, 1, MPI.INT, 0, 0);
                Message message = new Message();
                message.mProbe(0, 0, comm);
                assertError(MPI.ERR_TYPE, () -> message.mRecv(new int[1], 1, MPI.DOUBLE));
                int[] in = new int[1];
                message.mRecv(in, 1, MPI.INT);
                assertEquals(7, in[0]);
                assertEquals(0, lost[0]);
                assertTrue(message.isNull());
                sent.waitFor();
            });
        }
    }

    private static void assertError(int errorClass, Executable call) {
        assertEquals(errorClass, assertThrows(MPIException.class, call).getErrorClass());
    }

    @Test
    void shouldFailWhatNeedsAProcessThatHasDied() {
        try (World world = new World("tcp", 3)) {
            Intracomm comm = world.of(0).world();
            Request fromDead = comm.Irecv(new int[1], 0, 1, MPI.INT, 2, 0);
            Request fromAny = comm.Irecv(new int[1], 0, 1, MPI.INT, MPI.ANY_SOURCE, 0);
            Request fromLiving = comm.Irecv(new int[1], 0, 1, MPI.INT, 1, 1);
            Request toDead = comm.Issend(new int[1], 0, 1, MPI.INT, 2, 0);
            world.die(2);
            assertError(MPI.ERR_PROC_ABORTED, fromDead::waitFor);
            assertError(MPI.ERR_PROC_ABORTED, fromAny::waitFor);
            assertError(MPI.ERR_PROC_ABORTED, toDead::waitFor);
            assertError(MPI.ERR_PROC_ABORTED, () -> comm.recv(new int[1], 1, MPI.INT, 2, 0));
            for (int source : new int[] {2, MPI.ANY_SOURCE}) {
                assertError(MPI.ERR_PROC_ABORTED, () -> comm.probe(source, 0));
                assertError(MPI.ERR_PROC_ABORTED, () -> comm.iProbe(source, 0));
                assertError(MPI.ERR_PROC_ABORTED, () -> new Message().mProbe(source, 0, comm));
                assertError(MPI.ERR_PROC_ABORTED, () -> new Message().imProbe(source, 0, comm));
            }
            world.of(1).world().send(new int[1], 1, MPI.INT, 0, 1);
            fromLiving.waitFor();
        }
    }

    @Test
    void shouldSayThatTheNullCommunicatorIsNull() {
        MPIException seen = assertThrows(MPIException.class, () -> MPI.COMM_NULL.send(new int[1], 1, MPI.INT, 0, 0));
        assertEquals(MPI.ERR_COMM, seen.getErrorClass(), seen.getMessage());
    }

    @Test
    void shouldEndEachWaitThatIsInterruptedWithItsOwnError() {
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                if (comm.getRank() == 0) {
                    assertInterrupted(() -> comm.recv(new int[1], 1, MPI.INT, 1, 9));
                    assertInterrupted(() -> comm.probe(1, 9));
                    assertInterrupted(() -> new Message().mProbe(MPI.ANY_SOURCE, 9, comm));
                }
                comm.barrier();
            });
        }
    }

    /** An interrupt comes at any moment of a receive: it fails without its message, or has all of it. */
    @Test
    void shouldLoseNoMessageWhoseReceiverIsInterrupted() {
        int[] sizes = {16, 20_000, 100_000, 1_000_000};
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                for (int i = 0; i < 200; i++) {
                    byte[] bytes = new byte[sizes[i % sizes.length]];
                    if (comm.getRank() == 0) {
                        Arrays.fill(bytes, (byte) i);
                        comm.send(bytes, bytes.length, MPI.BYTE, 1, 3);
                    } else {
                        Thread receiver = Thread.currentThread();
                        int pauseNs = i * 3_000;
                        Thread disturber = Thread.ofPlatform().start(() -> {
                            LockSupport.parkNanos(pauseNs);
                            receiver.interrupt();
                        });
                        receiveInSpiteOfInterrupts(comm, bytes);
                        joinInSpiteOfInterrupts(disturber);
                        byte[] expected = new byte[bytes.length];
                        Arrays.fill(expected, (byte) i);
                        assertArrayEquals(expected, bytes, "message " + i);
                    }
                }
            });
        }
    }

    private static void receiveInSpiteOfInterrupts(Comm comm, byte[] bytes) {
        while (true) {
            try {
                comm.recv(bytes, bytes.length, MPI.BYTE, 0, 3);
                return;
            } catch (MPIException e) {
                assertTrue(Thread.interrupted(), e.getMessage());
            }
        }
    }

    private static void joinInSpiteOfInterrupts(Thread thread) {
        while (thread.isAlive()) {
            boolean _ = Thread.interrupted();
            Thread.onSpinWait();
        }
        boolean _ = Thread.interrupted();
    }

    /** The next message to arrive is the one that follows, and the buffer is the sender's again. */
    @ParameterizedTest
    @ValueSource(ints = {100, 1_000_000})
    void shouldNotDeliverASendThatItsInterruptHasEnded(int count) {
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                byte[] bytes = new byte[count];
                if (comm.getRank() == 0) {
                    Arrays.fill(bytes, (byte) 1);
                    assertInterrupted(() -> comm.sSend(bytes, count, MPI.BYTE, 1, 4));
                    Arrays.fill(bytes, (byte) 2);
                    comm.send(bytes, count, MPI.BYTE, 1, 5);
                    comm.send(bytes, count, MPI.BYTE, 1, 4);
                } else {
                    comm.recv(new byte[count], count, MPI.BYTE, 0, 5);
                    comm.recv(bytes, count, MPI.BYTE, 0, 4);
                    byte[] expected = new byte[count];
                    Arrays.fill(expected, (byte) 2);
                    assertArrayEquals(expected, bytes);
                }
            });
        }
    }

    @Test
    void shouldLeaveARequestActiveWhoseWaitIsInterrupted() {
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                IntBuffer number = MPI.newIntBuffer(1);
                if (comm.getRank() == 0) {
                    Request request = comm.iRecv(number, 1, MPI.INT, 1, 6);
                    assertInterrupted(request::waitFor);
                    assertInterrupted(() -> Request.waitAll(new Request[] {request}));
                    assertInterrupted(() -> Request.waitAny(new Request[] {request}));
                    comm.send(new int[0], 0, MPI.INT, 1, 7);
                    request.waitFor();
                    assertEquals(8, number.get(0));
                } else {
                    comm.recv(new int[0], 0, MPI.INT, 0, 7);
                    comm.send(new int[] {8}, 1, MPI.INT, 0, 6);
                }
            });
        }
    }

    /** A buffer that the caller has back takes no later message. */
    @Test
    void shouldWithdrawTheReceiveOfASendRecvThatIsInterrupted() {
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                int[] number = {1};
                if (comm.getRank() == 0) {
                    assertInterrupted(() -> comm.sendRecv(new int[] {5}, 1, MPI.INT, 1, 8, number, 1, MPI.INT, 1, 9));
                    comm.send(new int[0], 0, MPI.INT, 1, 10);
                    int[] other = {2};
                    comm.recv(other, 1, MPI.INT, 1, 9);
                    assertEquals(1, number[0]);
                    assertEquals(6, other[0]);
                } else {
                    comm.recv(new int[0], 0, MPI.INT, 0, 10);
                    comm.send(new int[] {6}, 1, MPI.INT, 0, 9);
                }
            });
        }
    }

    @Test
    void shouldEndACollectiveOperationWhoseThreadIsInterrupted() {
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                int[] sum = new int[1];
                for (int i = 0; i < 50; i++) {
                    if (comm.getRank() == 0) {
                        Thread.currentThread().interrupt();
                    }
                    comm.barrier();
                    comm.allReduce(new int[] {i}, sum, 1, MPI.INT, MPI.SUM);
                    assertEquals(2 * i, sum[0]);
                    assertEquals(comm.getRank() == 0, Thread.interrupted());
                }
            });
        }
    }

    private static void assertInterrupted(Runnable wait) {
        Thread.currentThread().interrupt();
        MPIException seen = assertThrows(MPIException.class, wait::run);
        assertTrue(Thread.interrupted());
        assertEquals(MPI.ERR_OTHER, seen.getErrorClass(), seen.getMessage());
    }

    @Test
    void shouldAccessNoMemoryForAMessageWithoutItems() {
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                Datatype later = Datatype.createIndexed(new int[] {2}, new int[] {4}, MPI.INT);
                int peer = 1 - comm.getRank();
                int[] nothing = {};
                if (comm.getRank() == 0) {
                    comm.send(nothing, 0, later, peer, 1);
                    comm.Send(new int[3], 4, 0, MPI.INT, peer, 2);
                    comm.Isend(nothing, 0, 0, later, peer, 3).Wait();
                } else {
                    assertEquals(0, comm.recv(nothing, 0, later, peer, 1).getCount(later));
                    assertEquals(0, comm.Recv(nothing, 1, 0, MPI.INT, peer, 2).getCount(MPI.INT));
                    comm.Irecv(nothing, 0, 0, later, peer, 3).Wait();
                }
                comm.allReduce(nothing, 0, later, MPI.SUM);
                assertThrows(MPIException.class, () -> comm.Send(nothing, -1, 0, MPI.INT, peer, 4));
                int error = assertThrows(MPIException.class, () -> comm.send(new int[5], 1, later, peer, 4))
                        .getErrorClass();
                assertEquals(MPI.ERR_BUFFER, error);
            });
        }
    }

    @Test
    void shouldSendObjectsThatReferToEachOtherInALongChain() {
        try (World world = new World("sci", 1)) {
            world.run(comm -> {
                Object[] chain = {null};
                for (int i = 0; i < 400; i++) {
                    chain = new Object[] {chain};
                }
                Object[] got = new Object[1];
                comm.Sendrecv(chain, 0, 1, MPI.OBJECT, 0, 0, got, 0, 1, MPI.OBJECT, 0, 0);
                int links = 1;
                for (Object next = got[0]; next instanceof Object[] inner && inner[0] != null; next = inner[0]) {
                    links++;
                }
                assertEquals(400, links);
                for (int i = 0; i < 1000; i++) {
                    chain = new Object[] {chain};
                }
                Object[] tooDeep = chain;
                MPIException error = assertThrows(
                        MPIException.class,
                        () -> comm.Sendrecv(tooDeep, 0, 1, MPI.OBJECT, 0, 0, got, 0, 1, MPI.OBJECT, 0, 0));
                assertTrue(error.getMessage().contains("maxdepth=1000"), error.getMessage());
            });
        }
    }
}
