package io.madeleine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.Session;
import io.madeleine.session.JavaArguments;
import io.madeleine.session.LaunchPlan;
import io.madeleine.session.Launcher;
import io.madeleine.session.OnFailure;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Sessions whose ranks are processes: they talk, die, are stopped, and leave nothing behind. */
@Timeout(120)
class LaunchedSessionIT {
    private static final int KILLED = 128 + 9;

    @TempDir
    Path memory;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream errors = new ByteArrayOutputStream();

    private int run(int processes, String network, String program, OnFailure onFailure) throws Exception {
        List<String> java = new ArrayList<>(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
        java.addAll(List.of("--illegal-native-access=deny", "--sun-misc-unsafe-memory-access=deny"));
        java.addAll(List.of("-cp", classes(), Program.class.getName(), program));
        LaunchPlan plan = LaunchPlan.of(processes, JavaArguments.withMadeleine(java, List.of()))
                .withSettings(List.of("channels.default.network=" + network, "tm.sci.directory=" + memory))
                .withConduct(new LaunchPlan.Conduct(onFailure, true, false, Duration.ofSeconds(2)));
        try (Launcher launcher = Launcher.start(plan, new PrintStream(out, true), new PrintStream(errors, true))) {
            return launcher.await();
        }
    }

    /** Where this class is: Madeleine itself is on the module path, with its class archive. */
    private static String classes() throws URISyntaxException {
        return Path.of(Program.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .toURI())
                .toString();
    }

    private List<String> lines() {
        return out.toString(StandardCharsets.UTF_8).lines().sorted().toList();
    }

    private void assertNothingIsLeft() throws IOException {
        try (Stream<Path> files = Files.list(memory)) {
            assertEquals(List.of(), files.toList(), "left behind");
        }
    }

    @ParameterizedTest
    @CsvSource({"tcp, 3", "sci, 4", "auto, 2"})
    void shouldPassATokenAround(String network, int processes) throws Exception {
        int code = run(processes, network, "ring", OnFailure.STOP);
        assertEquals("", errors.toString(StandardCharsets.UTF_8));
        assertEquals(
                List.of("[0] " + 100 * processes + " over " + (network.equals("auto") ? "sci" : network)), lines());
        assertEquals(0, code);
        assertNothingIsLeft();
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "sci"})
    void shouldTellTheSurvivorsOfADeath(String network) throws Exception {
        assertEquals(KILLED, run(3, network, "death", OnFailure.CONTINUE));
        String heard = out.toString(StandardCharsets.UTF_8);
        for (int rank : List.of(0, 2)) {
            assertTrue(heard.contains("[" + rank + "] wait on 1 failed"), heard + errors);
            assertTrue(heard.contains("[" + rank + "] listener heard of 1"), heard + errors);
            assertTrue(heard.contains("[" + rank + "] still got a message from " + (2 - rank)), heard + errors);
        }
        assertNothingIsLeft();
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "sci"})
    void shouldLeaveNoFilesWhenProcessesAreStopped(String network) throws Exception {
        assertEquals(3, run(3, network, "fail", OnFailure.STOP));
        assertNothingIsLeft();
    }

    @Test
    void shouldBeInSeveralSessionsAtOnceAndOpenMoreAtRunTime() throws Exception {
        int code = run(2, "auto", "several", OnFailure.STOP);
        assertEquals("", errors.toString(StandardCharsets.UTF_8));
        assertEquals(List.of("[0] first second third", "[1] first second third"), lines());
        assertEquals(0, code);
        assertNothingIsLeft();
    }

    /** What the processes do. */
    static final class Program {
        public static void main(String[] args) throws Exception {
            try (Session session = Session.open()) {
                switch (args[0]) {
                    case "ring" -> ring(session);
                    case "death" -> death(session);
                    case "several" -> several(session);
                    default -> fail(session);
                }
            }
        }

        private static void ring(Session session) {
            Channel channel = session.channel();
            int next = (session.rank() + 1) % session.size();
            int previous = (session.rank() + session.size() - 1) % session.size();
            int hops = 0;
            for (int round = 0; round < 100; round++) {
                if (session.rank() == 0) {
                    channel.beginPacking(next).packInt(hops + 1).endPacking();
                }
                IncomingMessage in = channel.beginUnpacking(previous);
                hops = in.unpackInt();
                in.endUnpacking();
                if (session.rank() != 0) {
                    channel.beginPacking(next).packInt(hops + 1).endPacking();
                }
            }
            if (session.rank() == 0) {
                System.out.println(hops + " over " + channel.network(1));
            }
        }

        private static void death(Session session) throws Exception {
            Channel channel = session.channel();
            if (session.rank() == 1) {
                new ProcessBuilder(
                                "kill",
                                "-KILL",
                                Long.toString(ProcessHandle.current().pid()))
                        .start();
                Thread.sleep(60_000);
            }
            CountDownLatch heard = new CountDownLatch(1);
            session.onPeerFailure((rank, cause) -> {
                System.out.println("listener heard of " + rank + ": " + cause.getMessage());
                heard.countDown();
            });
            try {
                channel.beginUnpacking(1);
            } catch (PeerFailedException e) {
                System.out.println("wait on " + e.rank() + " failed: " + e.getMessage());
            }
            heard.await();
            int other = 2 - session.rank();
            channel.beginPacking(other).packInt(7).endPacking();
            IncomingMessage in = channel.beginUnpacking();
            in.unpackInt();
            System.out.println("still got a message from " + in.remote());
            in.endUnpacking();
        }

        /** The launcher's session, another of the same processes, and one they agree on at run time. */
        private static void several(Session first) {
            int peer = 1 - first.rank();
            try (Session second = Session.open("session.name=second")) {
                int port = 0;
                if (first.rank() == 0) {
                    port = Ports.free();
                    second.channel().beginPacking(1).packInt(port).endPacking();
                } else {
                    IncomingMessage in = second.channel().beginUnpacking();
                    port = in.unpackInt();
                    in.endUnpacking();
                }
                try (Session third = Session.open(Map.of(
                        "session.hosts",
                        List.of("127.0.0.1:" + port, "127.0.0.1"),
                        "session.rank",
                        first.rank(),
                        "session.secret",
                        "5f0d1c8e9b7a42638e21c4d5a6f70b9d",
                        "channels.default.network",
                        "tcp"))) {
                    first.channel().beginPacking(peer).packUtf8("first").endPacking();
                    second.channel().beginPacking(peer).packUtf8("second").endPacking();
                    third.channel().beginPacking(peer).packUtf8("third").endPacking();
                    List<String> received = new ArrayList<>();
                    for (Session session : List.of(first, second, third)) {
                        IncomingMessage in = session.channel().beginUnpacking();
                        received.add(in.unpackUtf8());
                        in.endUnpacking();
                    }
                    System.out.println(String.join(" ", received));
                }
            }
        }

        private static void fail(Session session) {
            if (session.rank() == 1) {
                Runtime.getRuntime().halt(3);
            }
            try {
                session.channel().beginUnpacking();
            } catch (PeerFailedException e) {
                System.out.println(e.getMessage());
            }
        }
    }
}
