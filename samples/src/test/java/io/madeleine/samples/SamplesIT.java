package io.madeleine.samples;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.samples.MadCommand.Run;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs each sample by the line in its Javadoc, and expects what is said there. */
class SamplesIT {
    private static final Path ROOT = MadCommand.ROOT;
    private static final Path SOURCES = Path.of("samples/src/main/java/io/madeleine/samples");

    @TempDir
    Path directory;

    private Run mad(List<String> arguments) throws IOException, InterruptedException {
        return MadCommand.run(directory, arguments);
    }

    private static List<String> compiled(int processes, String sample, String... arguments) {
        String classes = ROOT.resolve("samples/target/classes").toString();
        List<String> run = new ArrayList<>(
                List.of("run", "-n", String.valueOf(processes), "-cp", classes, "io.madeleine.samples." + sample));
        run.addAll(List.of(arguments));
        return run;
    }

    /** The lines of the example in a sample's Javadoc: the command, then the output. */
    private static List<String> example(String sample) throws IOException {
        String source = Files.readString(ROOT.resolve(SOURCES).resolve(sample + ".java"));
        String pre = source.substring(source.indexOf("<pre>") + 5, source.indexOf("</pre>"));
        return pre.lines()
                .map(line -> line.replaceFirst("^ \\* ?", ""))
                .filter(line -> !line.isBlank())
                .toList();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "UnpredictableArray",
                "TwoProtocols",
                "RpcServer",
                "DirectorySender",
                "KeyValueStore",
                "WordCount",
                "WideArea"
            })
    void shouldPrintWhatTheJavadocSays(String sample) throws Exception {
        List<String> example = example(sample);
        String line = example.getFirst();
        assertTrue(line.startsWith("./mad run "), line);
        assertTrue(Files.readString(ROOT.resolve("samples/README.md")).contains("    " + line + "\n"), line);
        Path copy = directory.resolve("copy");
        Run run = mad(Stream.of(line.split(" "))
                .skip(1)
                .map(word -> word.equals("/tmp/copy") ? copy.toString() : word)
                .toList());
        assertEquals(List.of(), run.err());
        assertEquals(0, run.code());
        List<String> expected =
                example.subList(1, example.size()).stream().sorted().toList();
        List<String> found = run.out().stream()
                .map(word -> word.replaceAll("\\d+ (files|directories|bytes[;,])", "N $1"))
                .sorted()
                .toList();
        assertEquals(expected, found);
    }

    @Test
    void shouldSendATreeWithEmptyLargeAndOddlyNamedFiles() throws Exception {
        Path source = directory.resolve("source");
        Path target = directory.resolve("target");
        write(source.resolve("empty"), 0);
        write(source.resolve("one byte"), 1);
        write(source.resolve("häßlich/ünïcode ☃"), 4711);
        write(source.resolve("a/b/c/d/block"), 1 << 20);
        write(source.resolve("a/b/large"), (5 << 20) + 13);
        Files.createDirectories(source.resolve("a/nothing"));
        Files.createSymbolicLink(source.resolve("link"), Path.of("/etc/passwd"));
        Run run = mad(compiled(2, "DirectorySender", source.toString(), target.toString()));
        assertEquals(List.of(), run.err());
        assertEquals(0, run.code());
        Files.delete(source.resolve("link"));
        Map<String, byte[]> sent = tree(source);
        Map<String, byte[]> received = tree(target);
        assertEquals(sent.keySet(), received.keySet());
        sent.forEach((name, bytes) -> assertArrayEquals(bytes, received.get(name), name));
        assertTrue(
                run.out().getFirst().contains("5 files, 6 directories, " + (4712 + (6 << 20) + 13) + " bytes"),
                run.out().toString());
    }

    private static void write(Path file, int bytes) throws IOException {
        byte[] content = new byte[bytes];
        new Random(bytes).nextBytes(content);
        Files.createDirectories(file.getParent());
        Files.write(file, content);
    }

    /** Relative names to contents; directories are empty. */
    private static Map<String, byte[]> tree(Path root) throws IOException {
        Map<String, byte[]> tree = new TreeMap<>();
        try (Stream<Path> paths = Files.walk(root)) {
            for (Path path : paths.toList()) {
                byte[] content = Files.isDirectory(path)
                        ? "directory".getBytes(StandardCharsets.UTF_8)
                        : Files.readAllBytes(path);
                tree.put(root.relativize(path).toString(), content);
            }
        }
        return tree;
    }

    @Test
    void shouldEndWithTheProgramsExitCodeAndItsWords() throws Exception {
        Run run = mad(compiled(1, "UnpredictableArray"));
        assertEquals(1, run.code());
        assertEquals(List.of(), run.out());
        assertTrue(
                run.err().stream().anyMatch(line -> line.contains("expected 2 processes (mad run -n 2), found 1")),
                run.err().toString());
    }
}
