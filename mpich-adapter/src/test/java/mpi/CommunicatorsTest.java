package mpi;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.mpi.MpiFault;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Groups, communicators, attributes, grids. */
class CommunicatorsTest {
    @Test
    void shouldKeepMessagesOfCommunicatorsApart() {
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                Intracomm copy = comm.dup();
                assertEquals(MPI.CONGRUENT, Comm.compare(comm, copy));
                assertEquals(MPI.IDENT, Comm.compare(comm, comm));
                if (comm.getRank() == 0) {
                    comm.send(new int[] {1}, 1, MPI.INT, 1, 0);
                    copy.send(new int[] {2}, 1, MPI.INT, 1, 0);
                } else {
                    int[] got = new int[1];
                    copy.recv(got, 1, MPI.INT, MPI.ANY_SOURCE, MPI.ANY_TAG);
                    assertEquals(2, got[0]);
                    comm.recv(got, 1, MPI.INT, MPI.ANY_SOURCE, MPI.ANY_TAG);
                    assertEquals(1, got[0]);
                }
                copy.free();
                assertTrue(copy.isNull());
                assertThrows(MPIException.class, copy::getRank);
            });
        }
    }

    @Test
    void shouldSplitByColourAndKey() {
        try (World world = new World("sci", 5)) {
            world.run(comm -> {
                int rank = comm.getRank();
                Intracomm part = comm.split(rank % 2, -rank);
                assertEquals(rank % 2 == 0 ? 3 : 2, part.getSize());
                assertEquals((comm.getSize() - 1 - rank) / 2, part.getRank());
                int[] sum = {rank};
                part.allReduce(sum, 1, MPI.INT, MPI.SUM);
                assertEquals(rank % 2 == 0 ? 6 : 4, sum[0]);
                Intracomm none = comm.split(rank == 0 ? MPI.UNDEFINED : 0, 0);
                assertEquals(rank == 0, none.isNull());
                assertEquals(rank == 0, comm.Split(rank == 0 ? MPI.UNDEFINED : 0, 0) == null);
                Intracomm host = comm.splitType(Comm.TYPE_SHARED, 0, MPI.INFO_NULL);
                assertEquals(5, host.getSize());
            });
        }
    }

    @Test
    void shouldCreateFromGroupsWithAndWithoutTheOthers() {
        try (World world = new World("sci", 4)) {
            world.run(comm -> {
                int rank = comm.getRank();
                Group group = comm.getGroup().incl(new int[] {3, 1});
                Intracomm part = comm.create(group);
                assertEquals(rank % 2 == 0, part.isNull());
                if (rank % 2 == 1) {
                    assertEquals(rank == 3 ? 0 : 1, part.getRank());
                    assertEquals(
                            MPI.SIMILAR,
                            Group.compare(part.getGroup(), comm.getGroup().excl(new int[] {0, 2})));
                    Intracomm again = comm.createGroup(group, 4);
                    int[] got = {rank};
                    again.bcast(got, 1, MPI.INT, 0);
                    assertEquals(3, got[0]);
                }
            });
        }
    }

    @Test
    void shouldComputeWithGroups() {
        try (World world = new World("sci", 4)) {
            Group all = world.of(1).world().getGroup();
            Group odd = all.rangeIncl(new int[][] {{1, 3, 2}});
            assertEquals(2, odd.getSize());
            assertEquals(0, odd.getRank());
            Group low = all.incl(new int[] {2, 0, 1});
            assertArrayEquals(new int[] {2, 0, MPI.UNDEFINED}, Group.translateRanks(all, new int[] {1, 2, 3}, low));
            assertEquals(MPI.SIMILAR, Group.compare(Group.union(low, odd), all));
            assertArrayEquals(
                    new int[] {3, 0},
                    Group.translateRanks(Group.union(odd, low), new int[] {1, 3}, all),
                    "first those of the first");
            assertEquals(1, Group.intersection(low, odd).getSize());
            assertEquals(2, Group.difference(low, odd).getSize());
            assertEquals(MPI.IDENT, Group.compare(Group.difference(odd, all), MPI.GROUP_EMPTY));
            assertEquals(2, all.rangeExcl(new int[][] {{3, 2, -1}}).getSize());
            assertEquals(
                    MPI.ERR_RANK,
                    assertThrows(MPIException.class, () -> all.incl(new int[] {4}))
                            .getErrorClass());
            odd.free();
            assertTrue(odd.isNull());
        }
    }

    @Test
    void shouldLetSeveralThreadsMakeCommunicatorsAtOnce() {
        try (World world = new World("sci", 3)) {
            world.run(comm -> {
                Intracomm[] parents = {comm.dup(), comm.dup(), comm.dup()};
                Intracomm[] made = new Intracomm[3];
                Thread[] threads = new Thread[3];
                for (int i = 0; i < 3; i++) {
                    int number = i;
                    threads[i] = Thread.ofPlatform().start(() -> made[number] = parents[number].dup());
                }
                for (Thread thread : threads) {
                    thread.join();
                }
                for (int i = 0; i < 3; i++) {
                    int[] got = new int[1];
                    int right = (comm.getRank() + 1) % 3;
                    int left = (comm.getRank() + 2) % 3;
                    for (int j = 2; j >= 0 && i == 0; j--) {
                        made[j].Isend(new int[] {j}, 0, 1, MPI.INT, right, 0);
                    }
                    made[i].recv(got, 1, MPI.INT, left, 0);
                    assertEquals(i, got[0]);
                }
            });
        }
    }

    @Test
    void shouldDuplicateInTheBackground() {
        try (World world = new World("sci", 3)) {
            world.run(comm -> {
                Intracomm copy = comm.iDup();
                copy.getRequest().waitFor();
                copy.barrier();
                assertEquals(MPI.CONGRUENT, Comm.compare(comm, copy));
            });
        }
    }

    @Test
    void shouldKeepAttributesNamesAndHandlers() {
        try (World world = new World("sci", 1)) {
            Intracomm comm = world.of(0).world();
            int key = Comm.createKeyval();
            assertNull(comm.getAttr(key));
            comm.setAttr(key, "value");
            assertEquals("value", comm.dup().getAttr(key));
            comm.deleteAttr(key);
            assertNull(comm.getAttr(key));
            assertThrows(MPIException.class, () -> comm.getAttr(key + 1000));
            assertEquals(Integer.MAX_VALUE, comm.getAttr(MPI.TAG_UB));
            assertEquals(false, comm.getAttr(MPI.WTIME_IS_GLOBAL));
            assertEquals("MPI_COMM_WORLD", comm.getName());
            comm.setName("mine");
            assertEquals("mine", comm.getName());
            assertEquals(MPI.ERRORS_RETURN, comm.dup().getErrhandler());
            assertFalse(comm.isInter());
        }
    }

    @Test
    void shouldFindNeighboursInAGrid() {
        try (World world = new World("sci", 7)) {
            world.run(comm -> {
                CartComm grid = comm.createCart(new int[] {2, 3}, new boolean[] {true, false}, false);
                assertEquals(comm.getRank() == 6, grid.isNull());
                if (comm.getRank() < 6) {
                    int rank = grid.getRank();
                    int[] coords = grid.getCoords(rank);
                    assertArrayEquals(new int[] {rank / 3, rank % 3}, coords);
                    assertEquals(rank, grid.getRank(coords));
                    ShiftParms right = grid.shift(1, 1);
                    assertEquals(rank % 3 == 2 ? MPI.PROC_NULL : rank + 1, right.getRankDest());
                    assertEquals(rank % 3 == 0 ? MPI.PROC_NULL : rank - 1, right.getRankSource());
                    assertEquals((rank + 3) % 6, grid.shift(0, 1).getRankDest());
                    CartComm row = grid.sub(new boolean[] {false, true});
                    assertEquals(3, row.getSize());
                    assertEquals(rank % 3, row.getRank());
                    assertEquals(MPI.CART, row.getTopology());
                    assertEquals(2, grid.dup().getTopo().getDimCount());
                    assertThrows(MPIException.class, () -> grid.getRank(new int[] {0, 3}));
                    assertEquals(1, grid.getRank(new int[] {-2, 1}));
                }
                assertEquals(MPI.UNDEFINED, comm.getTopology());
            });
        }
    }

    @Test
    void shouldBalanceDimensions() {
        int[][] cases = {
            {12, 0, 0},
            {7, 0, 0},
            {10, 0, 0},
            {24, 0, 2, 0},
            {1, 0},
            {36, 0, 0, 0},
            {72, 0, 0},
            {144, 0, 0},
            {6, 2, 3},
            {735_134_400, 0, 0, 0, 0, 0, 0}
        };
        int[][] expected = {
            {4, 3}, {7, 1}, {5, 2}, {4, 2, 3}, {1}, {4, 3, 3}, {9, 8}, {12, 12}, {2, 3}, {34, 33, 30, 30, 28, 26}
        };
        for (int i = 0; i < cases.length; i++) {
            int[] dims = Arrays.copyOfRange(cases[i], 1, cases[i].length);
            CartComm.createDims(cases[i][0], dims);
            assertArrayEquals(expected[i], dims);
        }
        assertEquals(
                MPI.ERR_DIMS,
                assertThrows(MPIException.class, () -> CartComm.createDims(7, new int[] {2, 0}))
                        .getErrorClass());
    }

    @Test
    void shouldBalanceDimensionsAsWellAsAnyOther() {
        for (int nodes = 1; nodes <= 512; nodes++) {
            int[] dims = new int[2];
            CartComm.createDims(nodes, dims);
            int root = (int) Math.sqrt(nodes);
            while (nodes % root != 0) {
                root--;
            }
            assertArrayEquals(new int[] {nodes / root, root}, dims);
        }
    }

    @Test
    void shouldSayOfMembersThatAreLeftOutThatTheyAre() {
        try (World world = new World("sci", 1)) {
            Intracomm comm = world.of(0).world();
            MPIException e = assertThrows(MPIException.class, () -> comm.createGraph(new int[] {0}, new int[0], false));
            assertEquals(MPI.ERR_UNSUPPORTED_OPERATION, e.getErrorClass());
            assertNotNull(e.getMessage());
            assertTrue(e.getMessage().contains("Intracomm.createGraph"), e.getMessage());
        }
    }

    private static void assertRefuses(int errorClass, Executable call) {
        assertEquals(errorClass, assertThrows(MPIException.class, call).getErrorClass());
    }

    @Test
    void shouldSayThatAnArgumentIsNull() {
        try (World world = new World("sci", 1)) {
            world.run(comm -> {
                Group all = comm.getGroup();
                assertRefuses(MPI.ERR_ARG, () -> comm.setErrhandler(null));
                assertRefuses(MPI.ERR_ARG, () -> comm.Errhandler_set(null));
                assertEquals(MPI.ERRORS_RETURN, comm.getErrhandler());
                assertRefuses(MPI.ERR_ARG, () -> comm.setName(null));
                assertRefuses(MPI.ERR_GROUP, () -> comm.create(null));
                assertRefuses(MPI.ERR_GROUP, () -> comm.createGroup(null, 0));
                assertRefuses(MPI.ERR_COMM, () -> Comm.compare(comm, null));
                assertRefuses(MPI.ERR_COMM, () -> new Message().mProbe(0, 0, null));
                assertRefuses(MPI.ERR_TYPE, () -> new Status().getCount(null));
                assertRefuses(MPI.ERR_ARG, () -> new Op((UserFunction) null, true));
                assertRefuses(MPI.ERR_ARG, () -> new Op((User_function) null, true));
                assertRefuses(MPI.ERR_GROUP, () -> Group.union(all, null));
                assertRefuses(MPI.ERR_GROUP, () -> Group.compare(null, all));
                assertRefuses(MPI.ERR_ARG, () -> all.incl(null));
                assertRefuses(MPI.ERR_ARG, () -> all.rangeExcl(null));
                assertRefuses(MPI.ERR_ARG, () -> Group.translateRanks(all, null, all));
                assertRefuses(MPI.ERR_ARG, () -> Datatype.createStruct(null, null, null));
                assertRefuses(MPI.ERR_ARG, () -> Datatype.Struct(new int[0], new int[0], null));
                assertRefuses(MPI.ERR_ARG, () -> Datatype.createIndexed(null, new int[0], MPI.INT));
            });
        }
    }

    /** Only a fault reaches the error handler of the communicator, and becomes the cause of what it throws. */
    private static void assertRaises(int errorClass, Executable call) {
        MPIException seen = assertThrows(MPIException.class, call);
        assertEquals(errorClass, seen.getErrorClass());
        assertInstanceOf(MpiFault.class, seen.getCause());
    }

    @Test
    void shouldLetTheErrorHandlerDecideAboutArgumentsThatAreFreedOrNull() {
        try (World world = new World("sci", 1)) {
            Intracomm comm = world.of(0).world();
            Datatype pair = Datatype.createContiguous(2, MPI.INT);
            pair.free();
            for (Datatype type : new Datatype[] {pair, null}) {
                int[] values = new int[2];
                ByteBuffer buffer = MPI.newByteBuffer(8);
                assertRaises(MPI.ERR_TYPE, () -> comm.send(values, 1, type, 0, 0));
                assertRaises(MPI.ERR_TYPE, () -> comm.Send(values, 0, 1, type, 0, 0));
                assertRaises(MPI.ERR_TYPE, () -> comm.iSend(buffer, 1, type, 0, 0));
                assertRaises(MPI.ERR_TYPE, () -> comm.recv(values, 1, type, 0, 0));
                assertRaises(MPI.ERR_TYPE, () -> comm.Recv(values, 0, 1, type, 0, 0));
                assertRaises(MPI.ERR_TYPE, () -> comm.iRecv(buffer, 1, type, 0, 0));
                assertRaises(MPI.ERR_TYPE, () -> comm.Send_init(values, 0, 1, type, 0, 0));
                assertRaises(MPI.ERR_TYPE, () -> comm.bcast(values, 1, type, 0));
                assertRaises(MPI.ERR_TYPE, () -> comm.Bcast(values, 0, 1, type, 0));
                assertRaises(MPI.ERR_TYPE, () -> comm.allReduce(values, 1, type, MPI.SUM));
                assertRaises(MPI.ERR_TYPE, () -> comm.Reduce(values, 0, values, 0, 1, type, MPI.SUM, 0));
                assertRaises(MPI.ERR_TYPE, () -> comm.Allgather(values, 0, 1, type, values, 0, 1, type));
                assertRaises(MPI.ERR_TYPE, () -> comm.packSize(1, type));
                assertRaises(MPI.ERR_TYPE, () -> comm.pack(values, 1, type, new byte[8], 0));
                assertRaises(MPI.ERR_TYPE, () -> comm.unpack(new byte[8], 0, values, 1, type));
            }
            assertRaises(MPI.ERR_BUFFER, () -> comm.pack(new int[1], 1, MPI.INT, null, 0));
            assertRaises(MPI.ERR_BUFFER, () -> comm.unpack(null, 0, new int[1], 1, MPI.INT));
            Group all = comm.getGroup();
            all.free();
            assertRaises(MPI.ERR_GROUP, () -> comm.create(all));
            assertRaises(MPI.ERR_GROUP, () -> comm.createGroup(all, 0));
        }
    }

    @Test
    void shouldRefuseAFreedArgumentOfACallWithoutACommunicator() {
        try (World world = new World("sci", 1)) {
            Group all = world.of(0).world().getGroup();
            all.free();
            assertRefuses(MPI.ERR_GROUP, all::getSize);
            assertRefuses(MPI.ERR_GROUP, () -> all.incl(new int[0]));
            assertRefuses(MPI.ERR_GROUP, () -> Group.union(all, all));
            Datatype pair = Datatype.createContiguous(2, MPI.INT);
            pair.free();
            assertRefuses(MPI.ERR_TYPE, pair::getExtent);
            assertRefuses(MPI.ERR_TYPE, pair::dup);
            assertRefuses(MPI.ERR_TYPE, () -> new Status().getCount(pair));
            assertRefuses(MPI.ERR_TYPE, () -> Datatype.createContiguous(2, pair));
        }
    }

    @Test
    void shouldSayThatTheProgramsFunctionFailedInALocalReduction() {
        UserFunction failing = new UserFunction() {
            @Override
            public void call(Object in, Object inOut, int count, Datatype datatype) {
                throw new IllegalStateException("no such value");
            }
        };
        Op op = new Op(failing, true);
        MPIException seen =
                assertThrows(MPIException.class, () -> Intracomm.reduceLocal(new int[1], new int[1], 1, MPI.INT, op));
        assertEquals(MPI.ERR_OTHER, seen.getErrorClass());
        assertEquals("reduceLocal failed: java.lang.IllegalStateException: no such value", seen.getMessage());
    }

    @Test
    void shouldSayWhatIsWrongWithAGrid() {
        try (World world = new World("sci", 1)) {
            world.run(comm -> {
                assertRefuses(MPI.ERR_ARG, () -> comm.createCart(null, null, false));
                assertRefuses(MPI.ERR_ARG, () -> comm.createCart(new int[] {1}, null, false));
                assertRefuses(MPI.ERR_DIMS, () -> comm.createCart(new int[] {1}, new boolean[2], false));
                assertRefuses(MPI.ERR_DIMS, () -> comm.createCart(new int[] {0}, new boolean[1], false));
                assertRefuses(MPI.ERR_DIMS, () -> comm.createCart(new int[] {1 << 16, 1 << 16}, new boolean[2], false));
                assertRefuses(MPI.ERR_ARG, () -> Cartcomm.Dims_create(1, null));
                CartComm grid = comm.createCart(new int[] {1}, new boolean[1], false);
                assertRefuses(MPI.ERR_ARG, () -> grid.getRank(null));
                assertRefuses(MPI.ERR_ARG, () -> grid.sub(null));
                assertRefuses(MPI.ERR_ARG, () -> grid.Map(null, null));
            });
        }
    }

    @Test
    void shouldRefuseCallsAfterFinalizeWhateverTheCommunicator() {
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                Intracomm copy = comm.dup();
                Intracomm part = comm.split(comm.getRank(), 0);
                Intracomm freed = comm.dup();
                freed.free();
                Request pending = copy.iRecv(MPI.newIntBuffer(1), 1, MPI.INT, 1 - comm.getRank(), 4);
                comm.environment().end();
                for (Intracomm each : List.of(comm, copy, part, freed)) {
                    for (Executable call : List.<Executable>of(
                            each::barrier,
                            each::getRank,
                            each::dup,
                            () -> each.send(new int[1], 1, MPI.INT, 0, 0),
                            () -> each.iRecv(MPI.newIntBuffer(1), 1, MPI.INT, 0, 0))) {
                        MPIException seen = assertThrows(MPIException.class, call);
                        assertEquals("MPI has been finalized: expected no call after MPI.Finalize", seen.getMessage());
                    }
                }
                for (Executable wait :
                        List.<Executable>of(pending::waitFor, () -> Request.waitAll(new Request[] {pending}))) {
                    String text = assertThrows(MPIException.class, wait).getMessage();
                    assertTrue(text.startsWith("MPI was finalized before a receive from rank "), text);
                }
            });
        }
    }

    @Test
    void shouldTellAWaitThatMpiWasFinalized() {
        try (World world = new World("sci", 1)) {
            world.run(comm -> {
                Request pending = comm.iRecv(MPI.newIntBuffer(1), 1, MPI.INT, 0, 4);
                FutureTask<String> waiting = new FutureTask<>(
                        () -> assertThrows(MPIException.class, pending::waitFor).getMessage());
                Thread _ = Thread.ofPlatform().daemon().start(waiting);
                Thread.sleep(100); // it says the same if it begins to wait only then
                comm.environment().end();
                String text = waiting.get(60, TimeUnit.SECONDS);
                assertTrue(text.startsWith("MPI was finalized before a receive from rank 0 "), text);
            });
        }
    }

    /** As programs of MPJ Express do, which print their times at the end. */
    @Test
    void shouldTellTheTimeWithoutMpi() {
        double before = MPI.wtime();
        assertTrue(MPI.Wtime() >= before);
        assertTrue(MPI.wtick() > 0 && MPI.Wtick() < 1);
    }

    @Test
    void shouldPrintAFatalErrorAsTheExceptionThatProgramsKnow() {
        PrintStream before = System.err;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        try (World world = new World("sci", 1)) {
            System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
            world.run(comm -> {
                comm.setErrhandler(MPI.ERRORS_ARE_FATAL);
                // a session inside one JVM cannot end it
                assertThrows(UnsupportedOperationException.class, () -> comm.send(new int[1], 1, MPI.INT, 7, 0));
            });
        } finally {
            System.setErr(before);
        }
        String text = printed.toString(StandardCharsets.UTF_8);
        assertTrue(text.startsWith("mpi.MPIException: the destination is rank 7: expected 0 to 0"), text);
    }
}
