package io.madeleine.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.IncomingMessage;
import io.madeleine.api.LaunchRequest;
import io.madeleine.api.LaunchedProcess;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.Session;
import io.madeleine.api.SessionPort;
import io.madeleine.api.SessionRequest;
import io.madeleine.session.OnFailure;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Processes start others, join their session, lose one of them, and all are ended by an abort. */
@Tag("waits")
class SpawnIT {
    private static final int CODE = 9;
    private static final int KILLED = 128 + 9;
    private static final String SETTING = "madeleine.channels.default.network";

    @ParameterizedTest
    @CsvSource({"sci, true", "tcp, false"})
    void shouldSpawnTwoJoinTheirSessionHearOfAKilledOneAndEndAll(String network, boolean launched) throws Exception {
        Ranks ranks = Ranks.of(2, Parent.class).over(network).java("-D" + SETTING + "=" + network);
        try (Processes processes = (launched ? ranks.launched(OnFailure.STOP) : ranks).start()) {
            long survivor = Long.parseLong(processes.awaitLine(0, "child 2 is process "));
            processes.awaitAll();
            assertEquals(CODE, processes.exitCode(), processes::toString);
            for (int rank = 0; rank < 2; rank++) {
                assertEquals("6", processes.awaitLine(rank, "sum "), processes::toString);
                assertEquals("6", processes.awaitLine(rank, "joined sum "), processes::toString);
                assertTrue(processes.awaitLine(rank, "heard: ").startsWith("rank 3 is gone"), processes::toString);
            }
            assertEquals("" + KILLED, processes.awaitLine(0, "exit code "), processes::toString);
            for (int i = 0; i < 1_000 && Processes.isRunning(survivor); i++) {
                Thread.sleep(20);
            }
            assertFalse(Processes.isRunning(survivor), () -> "process " + survivor + " survives\n" + processes);
        }
    }

    /** Each tells all others its rank, and adds up what it hears. */
    private static int sum(Session session) {
        int sum = session.rank();
        for (int rank = 0; rank < session.size(); rank++) {
            if (rank != session.rank()) {
                session.channel().beginPacking(rank).packInt(session.rank()).endPackingAsync();
            }
        }
        for (int i = 1; i < session.size(); i++) {
            sum += receive(session);
        }
        return sum;
    }

    private static int receive(Session session) {
        IncomingMessage in = session.channel().beginUnpacking();
        int value = in.unpackInt();
        in.endUnpacking();
        return value;
    }

    private static void tell(Session session, int rank, String text) {
        session.channel().beginPacking(rank).packUtf8(text).endPacking();
    }

    private static String hear(Session session, int rank) {
        IncomingMessage in = session.channel().beginUnpacking(rank);
        String text = in.unpackUtf8();
        in.endUnpacking();
        return text;
    }

    private static SessionRequest request(String name, int rank, String address, String secret) {
        return SessionRequest.of(name, 4, rank, address, secret)
                .withSettings(Map.of(SETTING, System.getProperty(SETTING)));
    }

    /** Ranks 0 and 1 of the common sessions. */
    static final class Parent {
        public static void main(String[] args) throws Exception {
            Session world = Session.open();
            Session family;
            Session joined;
            List<LaunchedProcess> children = List.of();
            if (world.rank() == 0) {
                SessionPort port = SessionPort.open("127.0.0.1");
                children = world.launch(LaunchRequest.java(2, Child.class.getName())
                        .withEnvironment(Map.of("FAMILY", port.address(), "FAMILY_SECRET", port.secret())));
                tell(world, 1, port.address());
                tell(world, 1, port.secret());
                family = port.open(request("family", 0, port.address(), port.secret()));
                System.out.println("child 2 is process " + children.get(0).pid());
                // accept: the roots meet first, and agree on what both groups open
                try (Session door = port.open(port.request("door", 2, 0))) {
                    tell(door, 1, "joined");
                }
                joined = port.open(request("joined", 0, port.address(), port.secret()));
            } else {
                String address = hear(world, 0);
                String secret = hear(world, 0);
                family = Session.open(request("family", 1, address, secret));
                joined = Session.open(request("joined", 1, address, secret));
            }
            System.out.println("sum " + sum(family));
            System.out.println("joined sum " + sum(joined));
            if (world.rank() == 1) {
                tell(world, 0, "rank 3 is not needed any more"); // all that it had to say has come
            } else {
                hear(world, 1);
                ProcessHandle.of(children.get(1).pid()).orElseThrow().destroyForcibly();
                System.out.println("exit code " + children.get(1).exit().get());
            }
            System.out.println("heard: " + loss(family));
            tell(world, 1 - world.rank(), "that is all");
            String all = hear(world, 1 - world.rank());
            if (world.rank() == 1) {
                world.abort(CODE, all);
            }
            Thread.sleep(600_000);
        }

        private static String loss(Session family) {
            try {
                family.channel().beginUnpacking(3);
                return "nothing";
            } catch (PeerFailedException e) {
                return String.valueOf(e.getMessage());
            }
        }
    }

    /** Ranks 2 and 3 of the common sessions. */
    static final class Child {
        public static void main(String[] args) throws Exception {
            Session world = Session.open();
            String address = System.getenv("FAMILY");
            String secret = System.getenv("FAMILY_SECRET");
            Session family = Session.open(request("family", 2 + world.rank(), address, secret));
            String name;
            if (world.rank() == 0) {
                try (Session door = Session.open(SessionRequest.of("door", 2, 1, address, secret))) {
                    name = hear(door, 0);
                }
                tell(world, 1, name);
            } else {
                name = hear(world, 0);
            }
            Session joined = Session.open(request(name, 2 + world.rank(), address, secret));
            System.out.println(
                    "sum " + sum(family) + Optional.of(joined).map(SpawnIT::sum).orElseThrow());
            Thread.sleep(600_000);
        }
    }
}
