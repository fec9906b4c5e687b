package io.madeleine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.ConfigurationException;
import io.madeleine.api.LaunchRequest;
import io.madeleine.api.Session;
import io.madeleine.api.SessionException;
import io.madeleine.session.bootstrap.Exit;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(120)
class LauncherIT {
    private static final String SLEEPER =
            "System.out.println(\"pid \" + ProcessHandle.current().pid()); Thread.sleep(600_000);";

    @TempDir
    Path directory;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream errors = new ByteArrayOutputStream();

    private Path source(String name, String main) throws IOException {
        String text = "public class " + name + " { public static void main(String[] args) throws Exception { " + main
                + " } }";
        return Files.writeString(directory.resolve(name + ".java"), text);
    }

    /** Compiles a program once, for all of its processes, and returns how it is run; it needs no class path of ours. */
    private List<String> program(String name, String main) throws IOException {
        StringWriter wrong = new StringWriter();
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            List<String> options = List.of("-proc:none", "-d", directory.toString());
            boolean compiled = compiler.getTask(
                            wrong, files, null, options, null, files.getJavaFileObjects(source(name, main)))
                    .call();
            assertTrue(compiled, wrong::toString);
        }
        return List.of("-XX:TieredStopAtLevel=1", "-cp", directory.toString(), name);
    }

    private LaunchPlan plan(int processes, String name, String main, String... arguments) throws IOException {
        List<String> java = new ArrayList<>(program(name, main));
        java.addAll(List.of(arguments));
        return LaunchPlan.of(processes, java);
    }

    private int run(LaunchPlan plan) throws InterruptedException {
        try (Launcher launcher = start(plan)) {
            return launcher.await();
        }
    }

    private Launcher start(LaunchPlan plan) {
        return Launcher.start(plan, new PrintStream(out, true), new PrintStream(errors, true));
    }

    private List<String> output() {
        return out.toString(StandardCharsets.UTF_8).lines().sorted().toList();
    }

    private static LaunchPlan.Conduct conduct(OnFailure onFailure, boolean prefix) {
        return new LaunchPlan.Conduct(onFailure, prefix, false, Duration.ofSeconds(2));
    }

    private static void awaitEnd(Stream<ProcessHandle> processes) throws InterruptedException {
        for (ProcessHandle process : processes.toList()) {
            for (int i = 0; i < 300 && process.isAlive(); i++) {
                Thread.sleep(50);
            }
            assertFalse(process.isAlive(), "process " + process.pid() + " is left behind");
        }
    }

    @Test
    void shouldPassRanksArgumentsAndEnvironmentAndPrefixTheOutput() throws Exception {
        Path hello = source(
                "Hello",
                "System.out.println(System.getenv(\"MADELEINE_RANK\") + \" of \" + System.getenv(\"MADELEINE_SIZE\")"
                        + " + \" \" + args[0] + System.getenv(\"EXTRA\")); System.err.print(\"no newline\");");
        int code = run(LaunchPlan.of(2, List.of("-XX:TieredStopAtLevel=1", hello.toString(), "a b"))
                .withEnvironment(Map.of("EXTRA", "!")));
        assertEquals(0, code);
        assertEquals(List.of("[0] 0 of 2 a b!", "[1] 1 of 2 a b!"), output());
        assertEquals(
                List.of("[0] no newline", "[1] no newline"),
                errors.toString(StandardCharsets.UTF_8).lines().sorted().toList());
    }

    @Test
    void shouldMakeASecretOrPassOneOnWithoutShowingIt() throws Exception {
        String program =
                "String secret = System.getenv(\"MADELEINE_SECRET\"); System.out.println(secret.length() + \" \""
                        + " + new String(java.nio.file.Files.readAllBytes(java.nio.file.Path.of(\"/proc/self/cmdline\")))"
                        + ".contains(secret));";
        assertEquals(0, run(plan(1, "Secret", program)));
        assertEquals(List.of("[0] 64 false"), output());
        String given = "given by the environment ".repeat(2);
        assertEquals(0, run(plan(1, "Secret", program).withEnvironment(Map.of("MADELEINE_SECRET", given))));
        assertTrue(output().contains("[0] " + given.length() + " false"), output()::toString);
    }

    @Test
    void shouldNeverMixLines() throws Exception {
        int code = run(plan(
                        3,
                        "Chatter",
                        "for (int i = 0; i < 2000; i++) { System.out.println((System.getenv(\"MADELEINE_RANK\")).repeat(100)); }")
                .withConduct(conduct(OnFailure.STOP, false)));
        assertEquals(0, code);
        List<String> lines = output();
        assertEquals(6000, lines.size());
        lines.forEach(line -> assertEquals(1, line.chars().distinct().count(), line));
        lines.forEach(line -> assertEquals(100, line.length()));
    }

    @Test
    void shouldStopTheOthersAndKeepTheExitCode() throws Exception {
        LaunchPlan plan = plan(
                        3,
                        "Fail",
                        "if (System.getenv(\"MADELEINE_RANK\").equals(\"1\")) System.exit(7); Thread.sleep(600_000);")
                .withConduct(conduct(OnFailure.STOP, true));
        try (Launcher launcher = start(plan)) {
            assertEquals(7, launcher.await());
            awaitEnd(launcher.pids().stream().flatMap(pid -> ProcessHandle.of(pid).stream()));
        }
        String words = errors.toString(StandardCharsets.UTF_8);
        assertTrue(words.contains("rank 1") && words.contains("exit code 7"), words);
    }

    @Test
    void shouldStopWhatItsLastRankHasLaunchedWhenThatFails() throws Exception {
        LaunchPlan plan = LaunchPlan.of(1, java(SessionProgram.class, "launch-and-halt"))
                .withSettings(settings())
                .withConduct(conduct(OnFailure.STOP, true));
        long startNs = System.nanoTime();
        assertEquals(5, run(plan));
        assertTrue(System.nanoTime() - startNs < Duration.ofSeconds(60).toNanos(), "it waits for what was launched");
        String words = errors.toString(StandardCharsets.UTF_8);
        assertTrue(words.contains("exit code 5") && words.contains("stopping the others"), words);
    }

    @Test
    void shouldForwardWhatProcessesPrintWhileTheyEnd() throws Exception {
        LaunchPlan plan = plan(
                        2,
                        "LastWords",
                        "boolean first = System.getenv(\"MADELEINE_RANK\").equals(\"0\");"
                                + " java.nio.file.Path ready = java.nio.file.Path.of(args[0]);"
                                + " if (first) { while (!java.nio.file.Files.exists(ready)) Thread.sleep(10); System.exit(3); }"
                                + " Runtime.getRuntime().addShutdownHook(new Thread(() -> {"
                                + " System.out.println(\"saved\"); System.err.println(\"warned\"); }));"
                                + " java.nio.file.Files.createFile(ready); Thread.sleep(600_000);",
                        directory.resolve("ready").toString())
                .withConduct(conduct(OnFailure.STOP, true));
        assertEquals(3, run(plan));
        assertEquals(List.of("[1] saved"), output());
        assertTrue(errors.toString(StandardCharsets.UTF_8).contains("[1] warned"), errors::toString);
    }

    /** Two outputs of each rank are held, and the launcher waits for two seconds in all. */
    @Test
    @Tag("measures")
    void shouldNotWaitForTheOutputOfEachRankThatHasLeftAProcessBehind() throws Exception {
        LaunchPlan plan = plan(
                4,
                "Leaving",
                "System.out.println(\"pid \" + new ProcessBuilder(\"sleep\", \"60\").inheritIO().start().pid());"
                        + " System.out.flush();");
        long beganNs;
        try (Launcher launcher = start(plan)) {
            awaitEnd(launcher.pids().stream().flatMap(pid -> ProcessHandle.of(pid).stream()));
            beganNs = System.nanoTime();
            assertEquals(0, launcher.await());
        } finally {
            for (String line : output()) {
                ProcessHandle.of(Long.parseLong(line.substring(line.indexOf("pid ") + 4)))
                        .ifPresent(ProcessHandle::destroyForcibly);
            }
        }
        long tookMs = (System.nanoTime() - beganNs) / 1_000_000;
        assertEquals(4, output().size());
        assertTrue(tookMs < 6_000, tookMs + " ms; each rank's in turn would take 32 s");
        assertTrue(
                errors.toString(StandardCharsets.UTF_8).contains("still run and hold their output"), errors::toString);
    }

    @Test
    void shouldKillWhatDoesNotEndInTime() throws Exception {
        LaunchPlan plan = plan(
                        2,
                        "Stubborn",
                        "java.io.File ready = new java.io.File(args[0]);"
                                + " if (System.getenv(\"MADELEINE_RANK\").equals(\"1\")) {"
                                + " while (!ready.exists()) Thread.sleep(10); System.exit(1); }"
                                + " Runtime.getRuntime().addShutdownHook(new Thread(() -> {"
                                + " try { Thread.sleep(600_000); } catch (InterruptedException e) { } }));"
                                + " ready.createNewFile(); Thread.sleep(600_000);",
                        directory.resolve("ready").toString())
                .withConduct(new LaunchPlan.Conduct(OnFailure.STOP, true, false, Duration.ofMillis(300)));
        assertEquals(1, run(plan));
    }

    private static FutureTask<Integer> awaiting(Launcher launcher) {
        FutureTask<Integer> code = new FutureTask<>(launcher::await);
        Thread.ofVirtual().start(code);
        return code;
    }

    /** Waits until the launcher has told of this; the time-out of the test bounds it. */
    private void awaitError(String words) throws InterruptedException {
        while (!errors.toString(StandardCharsets.UTF_8).contains(words)) {
            Thread.sleep(10);
        }
    }

    @Test
    void shouldLetTheOthersGoOnWhenToldSo() throws Exception {
        Path go = directory.resolve("go");
        LaunchPlan plan = plan(
                        2,
                        "GoOn",
                        "if (System.getenv(\"MADELEINE_RANK\").equals(\"1\")) System.exit(7);"
                                + " while (!new java.io.File(args[0]).exists()) Thread.sleep(10);"
                                + " System.out.println(\"done\");",
                        go.toString())
                .withConduct(conduct(OnFailure.CONTINUE, true));
        try (Launcher launcher = start(plan)) {
            FutureTask<Integer> code = awaiting(launcher);
            awaitError("ended with exit code 7");
            Thread.sleep(300); // it would stop the other now
            Files.createFile(go);
            assertEquals(7, code.get());
        }
        assertEquals(List.of("[0] done"), output());
        String words = errors.toString(StandardCharsets.UTF_8);
        assertTrue(words.matches("mad run: rank 1 \\(process \\d+\\) ended with exit code 7\\R"), words);
    }

    @Test
    void shouldReturnTheCodeOfTheRankThatFailedFirst() throws Exception {
        Path go = directory.resolve("go");
        LaunchPlan plan = plan(
                        3,
                        "Second",
                        "int rank = Integer.parseInt(System.getenv(\"MADELEINE_RANK\"));"
                                + " if (rank == 2) System.exit(5);"
                                + " while (!new java.io.File(args[0]).exists()) Thread.sleep(10);"
                                + " if (rank == 1) System.exit(9);",
                        go.toString())
                .withConduct(conduct(OnFailure.CONTINUE, true));
        try (Launcher launcher = start(plan)) {
            FutureTask<Integer> code = awaiting(launcher);
            awaitError("ended with exit code 5");
            Files.createFile(go);
            assertEquals(5, code.get(), () -> errors.toString(StandardCharsets.UTF_8));
        }
    }

    @Test
    void shouldStopItsProcessesWhenItIsClosed() throws Exception {
        Launcher launcher = start(plan(2, "Sleep", "Thread.sleep(600_000);"));
        List<ProcessHandle> processes = launcher.pids().stream()
                .flatMap(pid -> ProcessHandle.of(pid).stream())
                .toList();
        launcher.close();
        awaitEnd(processes.stream());
    }

    @Test
    void shouldCheckTheConfigurationBeforeItStartsAnything() throws Exception {
        LaunchPlan plan = plan(1, "Never", "System.out.println(1);").withSettings(List.of("wait.mode=spinn"));
        ConfigurationException wrong = assertThrows(ConfigurationException.class, () -> start(plan));
        assertTrue(wrong.getMessage().contains("did you mean spin?"), wrong.getMessage());
        LaunchPlan ofANetwork = plan(1, "NeverStarted", "System.out.println(\"started\");")
                .withSettings(Stream.concat(settings().stream(), Stream.of("tm.loop.wrong=1"))
                        .toList());
        wrong = assertThrows(ConfigurationException.class, () -> start(ofANetwork));
        assertEquals("madeleine.tm.loop.wrong is wrong", wrong.getMessage());
    }

    @Test
    void shouldLetProgramsOpenTheirSession() throws Exception {
        Path file = Files.writeString(directory.resolve("x.conf"), "madeleine.channels.extra { }");
        int code = run(LaunchPlan.of(2, java(SessionProgram.class, "plain"))
                .withConfiguration(file)
                .withSettings(settings()));
        assertEquals("", errors.toString(StandardCharsets.UTF_8));
        assertEquals(List.of("[0] rank 0 of 2 [default, extra]", "[1] rank 1 of 2 [default, extra]"), output());
        assertEquals(0, code);
    }

    /** The loop network does not reach other processes; the session is opened without connecting. */
    private static List<String> settings() {
        return List.of("tm.loop.guice-module=" + LoopGuiceModule.class.getName(), "networks=loop");
    }

    @Test
    void shouldTellSurvivorsOfAKilledProcess() throws Exception {
        LaunchPlan plan = LaunchPlan.of(2, java(SessionProgram.class, "killed"))
                .withSettings(settings())
                .withConduct(conduct(OnFailure.CONTINUE, true));
        assertEquals(128 + 9, run(plan));
        String heard = String.join("\n", output());
        assertTrue(heard.contains("[0] heard of 1: rank 1 is gone: its process ended"), heard + errors);
    }

    /** As those of MPI do, whose errors are fatal: that one has failed first is what the caller should learn. */
    @ParameterizedTest
    @CsvSource({"fail, 3", "leave, 1", "abort, 7"})
    void shouldEndWithTheCodeOfTheProcessForWhoseFailureTheOthersAbort(String how, int code) throws Exception {
        LaunchPlan plan = LaunchPlan.of(3, java(SessionProgram.class, "abort-after-" + how))
                .withSettings(settings())
                .withConduct(conduct(OnFailure.STOP, true));
        assertEquals(code, run(plan), () -> output() + "\n" + errors);
    }

    @ParameterizedTest
    @CsvSource({"killed-early, 137, by signal 9", "exit-early, 1, with exit code 0"})
    void shouldTellAtOnceOfAProcessThatEndsBeforeItJoins(String how, int code, String end) throws Exception {
        LaunchPlan plan = LaunchPlan.of(2, java(SessionProgram.class, how))
                .withSettings(Stream.concat(settings().stream(), Stream.of("session.open-timeout=60s"))
                        .toList())
                .withConduct(conduct(OnFailure.CONTINUE, true));
        long startNs = System.nanoTime();
        assertEquals(code, run(plan));
        assertTrue(System.nanoTime() - startNs < Duration.ofSeconds(50).toNanos(), "much less than the open-timeout");
        String heard = String.join("\n", output());
        assertTrue(heard.contains("rank 1 died: its process ended " + end + " before it joined"), heard);
        String words = errors.toString(StandardCharsets.UTF_8);
        assertTrue(words.matches("(?s).*mad run: rank 1 \\(process \\d+\\) ended " + end + ".*"), words);
    }

    @Test
    void shouldLeaveNobodyBehindWhenTheLauncherItselfIsKilled() throws Exception {
        List<String> sleeper = program("Orphan", SLEEPER);
        try (LauncherProcess launcher = LauncherProcess.of(sleeper)) {
            launcher.process().destroyForcibly();
            assertEquals(128 + 9, launcher.awaitEnd());
            awaitEnd(launcher.children().stream());
        }
    }

    @Test
    void shouldPassASignalOn() throws Exception {
        List<String> sleeper = program("Signalled", SLEEPER);
        try (LauncherProcess launcher = LauncherProcess.of(sleeper)) {
            launcher.process().destroy();
            assertEquals(128 + 15, launcher.awaitEnd());
            awaitEnd(launcher.children().stream());
        }
    }

    @Test
    void shouldLeaveNobodyBehindWhenItIsToEndWhileItStartsProcesses() throws Exception {
        List<String> command = new ArrayList<>(List.of(javaExecutable()));
        command.addAll(java(ManyProcesses.class, directory.toString()));
        for (int millis = 0; millis < 30; millis += 5) {
            Process launcher = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            try {
                while (launcher.children().count() < 2) { // the guard, and the first of them
                    assertTrue(launcher.isAlive(), "the launcher has ended by itself");
                }
                Thread.sleep(millis);
                launcher.destroy();
                assertTrue(launcher.waitFor(30, TimeUnit.SECONDS), "the launcher has not ended");
                assertEquals(128 + 15, launcher.exitValue());
                awaitEnd(sleepers().stream());
            } finally {
                launcher.destroyForcibly();
                sleepers().forEach(ProcessHandle::destroyForcibly);
            }
        }
    }

    private List<ProcessHandle> sleepers() {
        return ProcessHandle.allProcesses()
                .filter(process -> process.info()
                        .commandLine()
                        .filter(line -> line.contains(Sleeper.class.getName()) && line.contains(directory.toString()))
                        .isPresent())
                .toList();
    }

    /** A launcher of as many processes as takes a while to start. */
    static final class ManyProcesses {
        public static void main(String[] args) {
            System.exit(Launcher.run(LaunchPlan.of(12, java(Sleeper.class, args))));
        }
    }

    /** Its argument says whose it is. */
    static final class Sleeper {
        public static void main(String[] args) throws Exception {
            Thread.sleep(600_000);
        }
    }

    @ParameterizedTest
    @CsvSource({"STOP, ; stopping them", "CONTINUE, ''"})
    void shouldSayThatOutputCannotBeWrittenInsteadOfLosingIt(OnFailure onFailure, String consequence) throws Exception {
        LaunchPlan plan = plan(
                        2,
                        "Flood",
                        "for (int i = 0; i < " + (onFailure == OnFailure.STOP ? "2_000_000_000" : "2000")
                                + "; i++) System.out.println(\"line \" + i);")
                .withConduct(conduct(onFailure, true));
        OutputStream full = new OutputStream() {
            @Override
            public void write(int octet) throws IOException {
                throw new IOException("no space left on device");
            }
        };
        try (Launcher launcher = Launcher.start(plan, new PrintStream(full, true), new PrintStream(errors, true))) {
            assertEquals(1, launcher.await());
        }
        List<String> told = errors.toString(StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.startsWith("mad run: what the processes print can no longer be written"))
                .toList();
        assertEquals(1, told.size(), errors.toString(StandardCharsets.UTF_8));
        assertTrue(told.getFirst().endsWith("nobody reads it" + consequence), told.getFirst());
    }

    @Test
    void shouldAddNothingToOutputWithoutPrefix() throws Exception {
        assertEquals(
                0,
                run(plan(1, "Bare", "System.out.print(\"no end of line\");")
                        .withConduct(conduct(OnFailure.STOP, false))));
        assertEquals("no end of line", out.toString(StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @CsvSource({"137, by signal 9", "192, by signal 64", "193, with exit code 193", "255, with exit code 255"})
    void shouldTellASignalFromAnExitCode(int code, String words) {
        assertEquals(words, Exit.describe(code));
    }

    /** So that one that hangs can be told from one that is slow. */
    @Test
    void shouldShowTheThreadsOfALauncherThatDoesNotEnd() throws Exception {
        List<String> sleeper = program("Sleeper", SLEEPER);
        List<ProcessHandle> all = new ArrayList<>();
        try (LauncherProcess launcher = LauncherProcess.of(sleeper)) {
            all.add(launcher.process().toHandle());
            all.addAll(launcher.children());
            AssertionError hangs = assertThrows(AssertionError.class, () -> launcher.awaitEnd(Duration.ofMillis(50)));
            String words = hangs.getMessage();
            assertTrue(words.contains("Launcher.await") && words.contains("Sleeper.main"), words);
        }
        awaitEnd(all.stream());
    }

    static String javaExecutable() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    static List<String> java(Class<?> main, String... arguments) {
        List<String> java = new ArrayList<>(
                List.of("-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"), main.getName()));
        java.addAll(List.of(arguments));
        return java;
    }

    /** A program with a session. */
    static final class SessionProgram {
        private static void abortAfter(String what, Session session) throws InterruptedException {
            session.onPeerFailure((rank, _) -> session.abort(74, "rank " + rank + " is gone"));
            if (session.rank() == 1) {
                Thread.sleep(100); // the others wait
                switch (what) {
                    case "abort-after-fail" -> Runtime.getRuntime().halt(3);
                    case "abort-after-leave" -> System.exit(0);
                    default -> session.abort(7, "as a test");
                }
            }
            Thread.sleep(600_000);
        }

        public static void main(String[] args) throws Exception {
            if (args[0].endsWith("-early") && System.getenv("MADELEINE_RANK").equals("1")) {
                endEarly(args[0].startsWith("killed"));
            }
            try (Session session = Session.open()) {
                if (args[0].startsWith("abort-after-")) {
                    abortAfter(args[0], session);
                }
                if (args[0].equals("launch-and-halt")) {
                    session.launch(LaunchRequest.system(1, "sleep", "90"));
                    Runtime.getRuntime().halt(5);
                }
                if (args[0].equals("plain")) {
                    System.out.println(
                            "rank " + session.rank() + " of " + session.size() + " " + session.channelNames());
                    return;
                }
                if (session.rank() == 1) {
                    killMyself();
                    Thread.sleep(60_000);
                }
                Thread main = Thread.currentThread();
                session.onPeerFailure((rank, cause) -> {
                    System.out.println("heard of " + rank + ": " + cause.getMessage());
                    main.interrupt();
                });
                Thread.sleep(60_000);
            } catch (InterruptedException _) {
                // heard
            } catch (SessionException e) {
                System.out.println(e.getMessage());
            }
        }

        private static void endEarly(boolean killed) throws Exception {
            if (killed) {
                killMyself();
                Thread.sleep(60_000);
            }
            System.exit(0);
        }

        private static void killMyself() throws IOException {
            new ProcessBuilder("kill", "-KILL", "" + ProcessHandle.current().pid()).start();
        }
    }
}
