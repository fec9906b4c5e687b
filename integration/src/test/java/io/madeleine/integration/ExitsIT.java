package io.madeleine.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.PeerFailedException;
import io.madeleine.api.Session;
import io.madeleine.session.LaunchPlan;
import io.madeleine.session.Launcher;
import io.madeleine.session.OnFailure;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs that end without closing their session, and launchers that are killed. */
@Tag("waits")
@Execution(ExecutionMode.CONCURRENT)
class ExitsIT {
    private static final long NOTICE_MS = 5_000;

    @ParameterizedTest
    @CsvSource({"tcp, true", "sci, true", "sci, false"})
    @Tag("measures")
    void shouldNoticeProgramsThatEndWithoutClosing(String network, boolean launched) throws Exception {
        Ranks ranks = Ranks.of(4, Program.class).over(network).arguments("end");
        try (Processes processes = (launched ? ranks.launched(OnFailure.CONTINUE) : ranks).start()) {
            processes.awaitAll();
            assertEquals(launched ? 1 : 0, processes.exitCode(), processes::toString);
            for (int rank = 1; rank < 4; rank++) {
                String line = processes.awaitLine(0, "noticed " + rank + " after ");
                assertTrue(Long.parseLong(line) <= NOTICE_MS, processes::toString);
                String told = processes.awaitLine(0, "told of " + rank + ": ");
                String who = "(process " + processes.pid(rank) + " on 127.0.0.1";
                if (launched) {
                    String sentence = "rank " + rank + " exited without closing its session " + who + ", exit code 0)";
                    assertEquals(sentence, told, processes::toString);
                    String words = ((LaunchedProcesses) processes).words().toString();
                    assertTrue(words.contains("mad run: " + sentence), processes::toString);
                } else if (rank == 2) { // halted, which nobody can tell from a death
                    assertTrue(told.contains("its process ended") || told.contains("reset"), processes::toString);
                } else {
                    assertEquals("rank " + rank + " exited without closing its session " + who + ")", told);
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"halt", "exit"})
    void shouldLeaveNoFilesWhenAllEndWithoutClosing(String how) throws Exception {
        try (Processes processes = Ranks.of(2, Program.class)
                .over("sci")
                .arguments(how)
                .launched(OnFailure.STOP)
                .start()) {
            processes.awaitAll();
            assertEquals(1, processes.exitCode(), processes::toString);
            String words = ((LaunchedProcesses) processes).words().toString();
            assertTrue(words.contains("exited without closing its session"), processes::toString);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "sci"})
    void shouldStopTheOthersWhenAProgramFails(String network) throws Exception {
        try (LaunchedProcesses processes = (LaunchedProcesses) Ranks.of(3, Program.class)
                .over(network)
                .arguments("fail")
                .launched(OnFailure.STOP)
                .start()) {
            processes.awaitAll();
            assertEquals(1, processes.exitCode(), processes::toString);
            assertTrue(processes.err(1).toString().contains("IllegalStateException: on purpose"), processes::toString);
            assertTrue(processes.words().toString().contains("stopping the others"), processes::toString);
            assertFalse(processes.out(0).lines().contains("not stopped"), processes::toString);
        }
    }

    @Test
    void shouldLeaveNobodyBehindWhenTheLauncherIsKilled() throws Exception {
        // made here: the launcher's JVM has another class path, and would make a class archive of its own first
        List<String> java =
                Ranks.of(2, Program.class).arguments("fail", "never").javaArguments(List.of());
        try (Processes processes = Ranks.of(1, LauncherProgram.class)
                .withoutSession()
                .arguments(java.toArray())
                .start()) {
            List<ProcessHandle> children = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                String pid = processes.awaitLine(0, "[" + rank + "] waiting as ");
                children.add(ProcessHandle.of(Long.parseLong(pid)).orElseThrow());
            }
            assertFalse(isEmpty(processes.memory));
            processes.kill(0);
            long deadlineNs = System.nanoTime() + 30_000_000_000L;
            for (ProcessHandle child : children) {
                while (Processes.isRunning(child.pid()) && deadlineNs - System.nanoTime() > 0) {
                    Thread.sleep(20);
                }
                assertFalse(
                        Processes.isRunning(child.pid()),
                        () -> "process " + child.pid() + " outlived its launcher\n" + processes);
            }
        }
    }

    private static boolean isEmpty(Path directory) throws java.io.IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.findAny().isEmpty();
        }
    }

    /** A launcher of two processes that wait for each other for ever; its arguments are theirs. */
    static final class LauncherProgram {
        public static void main(String[] args) {
            String directory = System.getProperty("madeleine.tm.sci.directory");
            System.exit(Launcher.run(LaunchPlan.of(2, List.of(args))
                    .withSettings(List.of("channels.default.network=sci", "tm.sci.directory=" + directory))));
        }
    }

    /** Programs that do not close their session. */
    static final class Program {
        public static void main(String[] args) {
            Session session = Session.open();
            switch (args[0]) {
                case "end" -> {
                    switch (session.rank()) {
                        case 0 -> {
                            notice(session);
                            session.close();
                        }
                        case 1 -> System.exit(0);
                        case 2 -> Runtime.getRuntime().halt(0);
                        default -> {} // and the end of main
                    }
                }
                case "exit" -> System.exit(0);
                case "halt" -> Runtime.getRuntime().halt(0);
                default -> {
                    if (session.rank() == 1 && args.length == 1) {
                        throw new IllegalStateException("on purpose");
                    }
                    waitForEver(session);
                }
            }
        }

        private static void notice(Session session) {
            session.onPeerFailure((rank, cause) -> System.out.println("told of " + rank + ": " + cause.getMessage()));
            for (int rank = 1; rank < 4; rank++) {
                long beganNs = System.nanoTime();
                try {
                    session.channel().beginUnpacking(rank);
                } catch (PeerFailedException e) {
                    System.out.println("noticed " + rank + " after " + (System.nanoTime() - beganNs) / 1_000_000);
                }
            }
        }

        private static void waitForEver(Session session) {
            System.out.println("waiting as " + ProcessHandle.current().pid());
            try {
                while (true) {
                    try {
                        session.channel().beginUnpacking();
                    } catch (PeerFailedException _) {
                        Thread.sleep(60_000);
                    }
                }
            } catch (InterruptedException _) {
                System.out.println("not stopped");
            }
        }
    }
}
