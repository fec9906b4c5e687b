package mpi;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.madeleine.mpi.report.Awaited;
import java.nio.IntBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What {@code mad report} says of a process. */
class AwaitedTest {
    private static List<String> notAskedFor(World world, int rank) {
        return world.of(rank).awaited().stream()
                .filter(each -> each.rank() == Awaited.NOBODY)
                .map(Awaited::what)
                .toList();
    }

    private static void awaitArrival(World world, int rank, int count) throws InterruptedException {
        while (world.of(rank).device().arrivedCount(_ -> true) < count) {
            world.of(rank).device().progress();
            Thread.sleep(1);
        }
    }

    @Test
    void shouldNotCountMessagesOfCollectiveOperationsAsNotAskedFor() {
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                if (comm.getRank() == 0) {
                    Request barrier = comm.iBarrier();
                    comm.recv(new int[0], 0, MPI.INT, 1, 1);
                    comm.send(new int[3], 3, MPI.INT, 1, 7);
                    barrier.waitFor();
                    for (int tag = 0; tag < 6; tag++) {
                        comm.send(new int[0], 0, MPI.INT, 1, tag);
                    }
                } else {
                    awaitArrival(world, 1, 1);
                    assertEquals(List.of(), notAskedFor(world, 1));
                    comm.send(new int[0], 0, MPI.INT, 0, 1);
                    awaitArrival(world, 1, 2);
                    assertEquals(
                            List.of("not asked for yet: 1 message", "  a message of 12 bytes from rank 0 with tag 7"),
                            notAskedFor(world, 1));
                    comm.barrier();
                    awaitArrival(world, 1, 7);
                    List<String> seven = notAskedFor(world, 1);
                    assertEquals("not asked for yet: 7 messages, among them", seven.getFirst());
                    assertEquals(6, seven.size());
                }
            });
        }
    }

    /** Such a send passes through no channel, but a program that waits for it before it receives hangs as well. */
    @Test
    void shouldTellASendToOneselfThatNobodyHasAskedFor() {
        try (World world = new World("sci", 1)) {
            world.run(comm -> {
                Request send = comm.isSend(MPI.newIntBuffer(1), 1, MPI.INT, 0, 3);
                assertEquals(
                        new Awaited(0, "a send of 4 bytes to rank 0 with tag 3"),
                        world.of(0).awaited().getFirst());
                comm.recv(new int[1], 1, MPI.INT, 0, 3);
                assertEquals(List.of(), world.of(0).awaited());
                send.waitFor();
            });
        }
    }

    @Test
    void shouldSayInWhichCommunicatorAMessageWaits() {
        try (World world = new World("sci", 2)) {
            world.run(comm -> {
                Intracomm copy = comm.split(0, -comm.getRank());
                if (comm.getRank() == 0) {
                    copy.send(new int[1], 1, MPI.INT, 0, 2);
                } else {
                    awaitArrival(world, 1, 1);
                    List<String> lines = notAskedFor(world, 1);
                    assertEquals("not asked for yet: 1 message", lines.getFirst());
                    assertEquals(
                            "  a message of 4 bytes from rank 0 with tag 2 in communicator 1.1 of ranks 1, 0",
                            lines.get(1));
                    copy.setName("halo");
                    assertEquals(
                            "  a message of 4 bytes from rank 0 with tag 2 in communicator halo",
                            notAskedFor(world, 1).get(1));
                    IntBuffer in = MPI.newIntBuffer(1);
                    copy.recv(in, 1, MPI.INT, 1, 2);
                    assertEquals(List.of(), notAskedFor(world, 1));
                }
            });
        }
    }
}
