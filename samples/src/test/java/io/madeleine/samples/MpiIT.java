package io.madeleine.samples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.samples.MadCommand.Run;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Programs with MPI under mad run: the samples, and what happens when a process does not end as it should. */
class MpiIT {
    private static final String SAMPLES = "samples/src/main/java/io/madeleine/samples/mpi/";

    private static final Path COMPILED = MadCommand.ROOT.resolve("samples/target/classes");
    private static final boolean THOROUGH = Boolean.getBoolean("thorough");

    @TempDir
    Path directory;

    private Run run(int processes, List<String> program, String... arguments) throws IOException, InterruptedException {
        List<String> words = new ArrayList<>(List.of("run", "-n", String.valueOf(processes)));
        words.addAll(program);
        words.addAll(List.of(arguments));
        return MadCommand.run(directory, words);
    }

    /** A sample by its source, which each process compiles, or by its compiled class. */
    private static List<String> sample(String name, boolean compiled) {
        return compiled
                ? List.of("-cp", COMPILED.toString(), "io.madeleine.samples.mpi." + name)
                : List.of(SAMPLES + name + ".java");
    }

    private void expect(String ofRank0, int processes, String sample, String... arguments) throws Exception {
        expect(List.of("[0] " + ofRank0), processes, sample, arguments);
    }

    private void expect(List<String> expected, int processes, String sample, String... arguments) throws Exception {
        boolean isCompiled = processes > 2 && !THOROUGH;
        Run run = run(processes, sample(sample, isCompiled), arguments);
        assertEquals(List.of(), run.err());
        assertEquals(expected, run.out().stream().sorted().toList());
        assertEquals(0, run.code());
    }

    /** Two from their source. In HeatStencil with five processes there are some between others like them. */
    static Stream<Arguments> runs() {
        Stream<String> samples =
                Stream.of("Ring", "Pi", "HeatStencil", "MatrixMultiplication", "SampleSort", "NasIs", "NasEp");
        return THOROUGH
                ? samples.flatMap(sample -> Stream.of(1, 2, 4, 5).map(n -> Arguments.of(n, sample)))
                : samples.map(sample -> Arguments.of(
                        switch (sample) {
                            case "Ring", "Pi" -> 2;
                            case "HeatStencil" -> 5;
                            default -> 3;
                        },
                        sample));
    }

    @ParameterizedTest
    @MethodSource("runs")
    void shouldPrintTheSameWithAnyNumberOfProcesses(int n, String sample) throws Exception {
        switch (sample) {
            case "Ring" -> {
                int token = 100 * n * (n - 1) / 2;
                expect("after 100 rounds through " + n + " processes the token is " + token, n, sample);
            }
            case "Pi" -> expect("pi is 3.1415926536", n, sample);
            case "HeatStencil" ->
                expect("after 200 steps the heat is 1.000000, the warmest place has 0.001986", n, sample);
            case "MatrixMultiplication" -> expect("the product of two matrices of 203 x 203 is right", n, sample);
            case "SampleSort" -> {
                Path file = MadCommand.ROOT.resolve("LICENSE");
                int lines = Files.readAllLines(file).size();
                expect(
                        "sorted " + lines + " lines, in order: true, as one process sorts them: true",
                        n,
                        sample,
                        file.toString());
            }
            case "NasIs" -> {
                if (n <= 2 || THOROUGH) {
                    expect("IS class S: 65536 keys, 10 iterations, verification successful", n, sample, "S");
                }
                if (n > 2 || THOROUGH) {
                    expect("IS class W: 1048576 keys, 10 iterations, verification successful", n, sample, "W");
                }
            }
            default ->
                expect("EP class S: 2^24 pairs, 13176389 inside the circle, verification successful", n, sample, "S");
        }
    }

    static IntStream greetings() {
        return THOROUGH ? IntStream.of(1, 2, 4, 5) : IntStream.of(1);
    }

    @ParameterizedTest
    @MethodSource("greetings")
    void shouldGreetFromEachProcess(int n) throws Exception {
        expect(
                IntStream.range(0, n)
                        .mapToObj(rank -> "[" + rank + "] process " + rank + " of " + n)
                        .toList(),
                n,
                "Hello");
    }

    private Run runBody(int processes, String name, String body) throws Exception {
        return run(
                processes,
                compile(
                        name,
                        "import mpi.*;\npublic class " + name
                                + " {\n  public static void main(String[] args) throws Exception {\n" + body
                                + "\n  }\n}\n"));
    }

    /** Compiles a class once, for all processes, and returns how it is run. */
    private List<String> compile(String name, String text) throws IOException {
        Path source = directory.resolve(name + ".java");
        Files.writeString(source, text);
        String classPath = System.getProperty("java.class.path");
        StringWriter errors = new StringWriter();
        var compiler = ToolProvider.getSystemJavaCompiler();
        try (var files = compiler.getStandardFileManager(null, null, null)) {
            List<String> options = List.of("-proc:none", "-cp", classPath, "-d", directory.toString());
            boolean compiled = compiler.getTask(errors, files, null, options, null, files.getJavaFileObjects(source))
                    .call();
            assertTrue(compiled, errors.toString());
        }
        return List.of("-cp", directory.toString(), name);
    }

    private static boolean names(Run run, String... words) {
        String all = String.join("\n", run.err());
        return List.of(words).stream().allMatch(all::contains);
    }

    @Test
    void shouldFailAndNameTheProcessThatLeavesWithoutFinalize() throws Exception {
        Run run = runBody(
                2, "Leaves", "MPI.Init(args); if (MPI.COMM_WORLD.getRank() == 1) System.exit(0); MPI.Finalize();");
        assertNotEquals(0, run.code());
        assertTrue(names(run, "1"), run.err().toString());
    }

    @Test
    void shouldEndAllProcessesWithTheCodeOfAbort() throws Exception {
        Run run = runBody(
                3,
                "Aborts",
                "MPI.Init(args); if (MPI.COMM_WORLD.getRank() == 1) MPI.COMM_WORLD.abort(42);"
                        + " MPI.COMM_WORLD.barrier();");
        assertEquals(42, run.code());
        assertTrue(names(run, "rank 1 called abort with code 42"), run.err().toString());
    }

    @Test
    void shouldSayWhyMpiCannotStart() throws Exception {
        Run run = runBody(2, "Unable", "System.setProperty(\"madeleine.wait.mode\", \"sometimes\"); MPI.Init(args);");
        assertEquals(1, run.code());
        assertTrue(
                names(run, "mpi.MPIException: MPI.Init cannot open the session: ", "madeleine.wait.mode", "sometimes"),
                run.err().toString());
    }

    @Test
    void shouldSayThatMpiHasFailedToStartIfTheProgramTriesAgain() throws Exception {
        Run run = runBody(1, "Again", """
                System.setProperty("madeleine.wait.mode", "sometimes");
                try {
                  MPI.Init(args);
                } catch (MPIException e) {
                  MPI.Init(args);
                }
                """);
        assertEquals(1, run.code());
        assertTrue(
                names(run, "MPI.Init has failed before", "see the error of the first call"),
                run.err().toString());
    }

    @Test
    void shouldEndTheJobWithTheErrorClassIfNobodyHandlesAnError() throws Exception {
        Run run = runBody(
                2,
                "Fails",
                "MPI.Init(args); if (MPI.COMM_WORLD.getRank() == 0) MPI.COMM_WORLD.send(new int[1], 1, MPI.INT, 9, 0);"
                        + " MPI.COMM_WORLD.barrier(); MPI.Finalize();");
        assertEquals(6, run.code());
        assertTrue(names(run, "the destination is rank 9"), run.err().toString());
    }

    /** The exit code is the class of the error. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            13 | attribute cannot be serialized | MPI.COMM_WORLD.setAttr(Comm.createKeyval(), new Object());
            3  | one that is not freed          | Datatype t = MPI.INT.dup(); t.free(); MPI.COMM_WORLD.bcast(null, 0, t, 0);
            """)
    void shouldEndTheJobIfACallFails(int code, String why, String call) throws Exception {
        Run run = runBody(1, "Fails", "MPI.Init(args); " + call + " MPI.Finalize();");
        assertEquals(code, run.code());
        assertTrue(names(run, why), run.err().toString());
    }

    @Test
    void shouldNameTheProcessThatWasKilled() throws Exception {
        Run run = runBody(
                3,
                "Killed",
                "MPI.Init(args); if (MPI.COMM_WORLD.getRank() == 2) Runtime.getRuntime().halt(9);"
                        + " MPI.COMM_WORLD.barrier(); MPI.Finalize();");
        assertEquals(9, run.code());
        assertTrue(names(run, "rank 2"), run.err().toString());
    }

    /** Rank 0 fills its heap but for 3 MiB, and waits for a message that comes after many others. */
    @ParameterizedTest
    @CsvSource({"sci", "tcp"})
    void shouldEndTheJobIfMessagesThatNobodyHasAskedForFillTheHeap(String network) throws Exception {
        List<String> program = new ArrayList<>(List.of("--set", "networks=[" + network + "]", "--"));
        program.addAll(List.of("-XX:+UseSerialGC", "-Xmx32m", "-Dmpi.credit-bytes=67108864"));
        program.addAll(compile("Flooded", """
                import java.util.*;
                import mpi.*;

                public class Flooded {
                  static final List<byte[]> BALLAST = new ArrayList<>();
                  static byte[][] spare = new byte[12][1 << 18];

                  public static void main(String[] args) throws Exception {
                    MPI.Init(args);
                    byte[] body = new byte[8];
                    if (MPI.COMM_WORLD.getRank() == 0) {
                      try {
                        while (true) BALLAST.add(new byte[1 << 18]);
                      } catch (OutOfMemoryError e) {
                        spare = null;
                      }
                      MPI.COMM_WORLD.recv(body, 8, MPI.BYTE, 1, 2);
                    } else {
                      for (int i = 0; i < 60_000; i++) MPI.COMM_WORLD.send(body, 8, MPI.BYTE, 0, 1);
                      MPI.COMM_WORLD.send(body, 8, MPI.BYTE, 0, 2);
                    }
                    MPI.Finalize();
                  }
                }
                """));
        Run run = run(2, program);
        assertTrue(
                names(run, "rank 0 has no memory ", "messages that it has not asked for", "more memory (-Xmx)"),
                run.err().toString());
        assertEquals(17, run.code());
    }

    @Test
    void shouldFinalizeAlthoughRequestsArePending() throws Exception {
        Run run = runBody(2, "Pending", """
                MPI.Init(args);
                int other = 1 - MPI.COMM_WORLD.getRank();
                MPI.COMM_WORLD.iRecv(MPI.newIntBuffer(1), 1, MPI.INT, other, 7);
                MPI.COMM_WORLD.isSend(MPI.newIntBuffer(1), 1, MPI.INT, other, 8);
                MPI.COMM_WORLD.iSend(MPI.newIntBuffer(100_000), 100_000, MPI.INT, other, 9);
                MPI.Finalize();
                System.out.println("done");
                """);
        assertEquals(
                List.of("[0] done", "[1] done"), run.out().stream().sorted().toList());
        assertEquals(0, run.code());
    }

    @Test
    void shouldFinalizeWithinABoundAlthoughNobodyReceivesABufferedSend() throws Exception {
        Run run = runBody(2, "Buffered", """
                MPI.Init(args);
                MPI.attachBuffer(new byte[1_000_000]);
                if (MPI.COMM_WORLD.getRank() == 0) MPI.COMM_WORLD.bSend(new int[100_000], 100_000, MPI.INT, 1, 9);
                MPI.Finalize();
                System.out.println("done");
                """);
        assertEquals(1, run.code());
        assertEquals(List.of("[1] done"), run.out());
        assertTrue(
                names(run, "Finalize of rank 0", "a receive for each buffered send"),
                run.err().toString());
    }

    @Test
    void shouldRunProgramsOfBothDialectsAndSupportBuffersOutsideInitAndFinalize() throws Exception {
        Run run = runBody(2, "Mixed", """
                java.nio.IntBuffer early = MPI.newIntBuffer(4);
                args = MPI.Init(args);
                MPI.COMM_WORLD.setErrhandler(MPI.ERRORS_RETURN);
                int rank = MPI.COMM_WORLD.Rank();
                if (rank == 0) early.put(0, 17);
                MPI.COMM_WORLD.bcast(early, 4, MPI.INT, 0);
                try {
                  MPI.COMM_WORLD.Send(new int[1], 0, 1, MPI.INT, 7, 0);
                } catch (MPIException e) {
                  if (rank == 1) System.out.println("class " + e.getErrorClass());
                }
                java.nio.LongBuffer late = MPI.newLongBuffer(1 << 17);
                if (rank == 0) late.put(100_000, 23);
                MPI.COMM_WORLD.bcast(late, 1 << 17, MPI.LONG, 0);
                for (int i = 0; i < 2000; i++) MPI.newByteBuffer(1 << 20).put(i, (byte) 1);
                MPI.Finalize();
                System.gc();
                if (rank == 1) System.out.println("got " + early.get(0) + ", finalized " + MPI.isFinalized());
                if (rank == 1) System.out.println("kept " + late.get(100_000));
                try {
                  MPI.COMM_SELF.send(new int[1], 1, MPI.INT, 0, 0);
                } catch (MPIException e) {
                  if (rank == 1) System.out.println(e.getMessage());
                }
                """);
        assertEquals(List.of(), run.err());
        assertEquals(
                List.of(
                        "[1] class 6",
                        "[1] got 17, finalized true",
                        "[1] kept 23",
                        "[1] MPI has been finalized: expected no call after MPI.Finalize"),
                run.out());
        assertEquals(0, run.code());
    }

    /** The ranks with the same parity share memory, the others meet over sockets. */
    @Test
    void shouldCarryOneCommunicatorOverSharedMemoryAndSockets() throws Exception {
        List<String> program = compile("Networks", """
                import java.nio.file.*;
                import java.util.stream.*;
                import mpi.*;

                public class Networks {
                  public static void main(String[] args) throws Exception {
                    Path memory = Path.of(args[0], Integer.parseInt(System.getenv("MADELEINE_RANK")) % 2 + "");
                    Files.createDirectories(memory);
                    System.setProperty("madeleine.tm.sci.directory", memory.toString());
                    MPI.Init(args);
                    Intracomm world = MPI.COMM_WORLD;
                    int rank = world.getRank();
                    int size = world.getSize();
                    int each = 200;
                    if (rank != 0) {
                      for (int i = 0; i < each; i++) {
                        int length = i % 3 == 0 ? 1 : i % 3 == 1 ? 3_000 : 40_000;
                        int[] body = new int[length];
                        body[length - 1] = i;
                        world.send(body, length, MPI.INT, 0, i);
                      }
                    } else {
                      int[] next = new int[size];
                      int[] body = new int[40_000];
                      for (int i = 0; i < each * (size - 1); i++) {
                        Status status = world.recv(body, body.length, MPI.INT, MPI.ANY_SOURCE, MPI.ANY_TAG);
                        int from = status.getSource();
                        if (status.getTag() != next[from] || body[status.getCount(MPI.INT) - 1] != next[from]++) {
                          throw new AssertionError("tag " + status.getTag() + " of rank " + from);
                        }
                      }
                    }
                    int[] sum = {rank};
                    world.allReduce(sum, 1, MPI.INT, MPI.SUM);
                    long memories = Files.readAllLines(Path.of("/proc/self/maps")).stream()
                        .filter(line -> line.contains(args[0])).count();
                    long sockets;
                    try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
                      sockets = open.filter(file -> {
                        try {
                          return Files.readSymbolicLink(file).toString().startsWith("socket:");
                        } catch (java.io.IOException e) {
                          return false;
                        }
                      }).count();
                    }
                    System.out.println(sum[0] + " " + (memories > 0) + " " + (sockets > 2));
                    MPI.Finalize();
                  }
                }
                """);
        Path memories = Files.createTempDirectory(Path.of("/dev/shm"), "n");
        try {
            Run run = run(4, program, memories.toString());
            assertEquals(
                    IntStream.range(0, 4)
                            .mapToObj(rank -> "[" + rank + "] 6 true true")
                            .toList(),
                    run.out().stream().sorted().toList(),
                    run.err().toString());
            assertEquals(0, run.code());
        } finally {
            try (Stream<Path> files = Files.walk(memories)) {
                files.sorted(java.util.Comparator.reverseOrder())
                        .forEach(file -> file.toFile().delete());
            }
        }
    }

    @Test
    void shouldReportWhoWaitsForWhom() throws Exception {
        List<String> words = new ArrayList<>(List.of("run", "-n", "3"));
        words.addAll(compile("Circle", """
                import mpi.*;

                public class Circle {
                  public static void main(String[] args) throws Exception {
                    MPI.Init(args);
                    int rank = MPI.COMM_WORLD.getRank();
                    System.out.println("waits");
                    if (rank == 2) {
                      MPI.COMM_WORLD.send(new int[3], 3, MPI.INT, 0, 77);
                      MPI.COMM_WORLD.barrier();
                    }
                    MPI.COMM_WORLD.recv(new int[1], 1, MPI.INT, 1 - rank, 5 + rank);
                  }
                }
                """));
        Path out = directory.resolve("circle");
        List<String> expected = List.of(
                "rank 0 of 3, process ",
                "a receive from rank 1 with tag 5",
                "a message of 12 bytes from rank 2 with tag 77",
                "a receive from rank 0 with tag 6",
                "barrier, step 1 of 2: a receive from rank 1",
                "rank 0 waits for rank 1",
                "these wait in a circle: 0 -> 1 -> 0");
        Process program = MadCommand.start(words, out, out);
        boolean ended;
        try {
            String report = "";
            long endNs = System.nanoTime() + 60_000_000_000L;
            while (Files.readString(out).split("waits", -1).length <= 3 && System.nanoTime() - endNs < 0) {
                Thread.sleep(20); // each report takes a JVM
            }
            while (!expected.stream().allMatch(report::contains) && System.nanoTime() - endNs < 0) {
                Run run = MadCommand.run(directory, List.of("report", String.valueOf(program.pid())));
                report = String.join("\n", run.out());
            }
            for (String part : expected) {
                assertTrue(report.contains(part), part + " is not in\n" + report);
            }
            String stopped = report.replaceAll("(?s).*rank 1 of 3, process (\\d+):.*", "$1");
            assertEquals(0, new ProcessBuilder("kill", "-STOP", stopped).start().waitFor());
            Run run = MadCommand.run(directory, List.of("report", String.valueOf(program.pid())));
            assertEquals(1, run.code());
            assertTrue(
                    String.join("\n", run.out()).contains("no answer within 2 s: it is stopped"),
                    run.out().toString());
        } finally {
            program.descendants().forEach(ProcessHandle::destroyForcibly);
            ended = program.waitFor(60, TimeUnit.SECONDS); // after its processes, which are reported until then
            program.destroyForcibly().waitFor();
        }
        assertTrue(ended, "mad run goes on without its processes");
        Run run = MadCommand.run(directory, List.of("report", String.valueOf(program.pid())));
        assertEquals(1, run.code());
        assertTrue(run.err().toString().contains("no MPI program"), run.err().toString());
    }
}
