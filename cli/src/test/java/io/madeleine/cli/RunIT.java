package io.madeleine.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.session.Launcher;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Whatever form a program has, it finds Madeleine without naming it. */
class RunIT {
    private static final String SOURCE = """
            package app;

            import io.madeleine.api.Session;

            public class Main {
                public static void main(String[] arguments) {
                    try (Session session = Session.open()) {
                        String access = Session.class.getModule().isNativeAccessEnabled() ? "native" : "no native";
                        System.out.println("%s %d/%d %s %s".formatted(String.join("+", arguments), session.rank(),
                                session.size(), session.channelNames(), access));
                    }
                    System.exit(arguments.length);
                }
            }
            """;

    private static final String INPUT = """
            public class Input {
                public static void main(String[] arguments) throws Exception {
                    System.out.println(new String(System.in.readAllBytes()).replace('\\n', '+'));
                }
            }
            """;

    @TempDir
    static Path compiled;

    @TempDir
    Path directory;

    private static Path classes;
    private static Path modules;

    /** Once for all tests but those of source files. */
    @BeforeAll
    static void compile() throws IOException {
        Path sources = Files.createDirectories(compiled.resolve("sources/app"));
        Files.writeString(sources.resolve("Main.java"), SOURCE);
        Files.writeString(sources.resolve("../module-info.java"), "module app { requires io.madeleine.api; }");
        Files.writeString(sources.resolve("Input.java"), INPUT);
        classes = compiled.resolve("classes");
        modules = compiled.resolve("mods");
        javac(
                "-d",
                classes.toString(),
                sources.resolve("Main.java").toString(),
                sources.resolve("Input.java").toString());
        javac(
                "-d",
                modules.resolve("app").toString(),
                sources.resolve("Main.java").toString(),
                sources.resolve("../module-info.java").toString());
    }

    private static void javac(String... arguments) {
        List<String> all = new ArrayList<>(List.of("--module-path", System.getProperty("mad.module-path")));
        boolean modular = List.of(arguments).toString().contains("module-info");
        if (!modular) {
            all.addAll(List.of("--add-modules", "io.madeleine"));
        }
        all.addAll(List.of(arguments));
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, all.toArray(String[]::new)));
    }

    private String run(int expectedCode, String... arguments) throws InterruptedException {
        RunCommand command = new RunCommand();
        new CommandLine(command).setStopAtUnmatched(true).parseArgs(arguments);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        try (Launcher launcher =
                Launcher.start(command.plan(), new PrintStream(out, true), new PrintStream(err, true))) {
            assertEquals(expectedCode, launcher.await(), err.toString(StandardCharsets.UTF_8));
        }
        return out.toString(StandardCharsets.UTF_8).strip();
    }

    @Test
    void shouldRunAClassOnAClassPath() throws Exception {
        assertEquals(
                "[0] x+-cp 0/1 [default] no native",
                run(2, "-n", "1", "-cp", classes.toString(), "app.Main", "x", "-cp"));
    }

    /** "mad test" makes the archive; a run of Maven alone does not. */
    @Test
    void shouldTakeTheClassesOfMadeleineFromTheArchive() throws Exception {
        Path archive = Path.of(System.getProperty("mad.module-path") + ".jsa");
        boolean made = Files.exists(archive);
        assertTrue(made || !"true".equals(System.getenv("CI")), archive + " is missing");
        assumeTrue(made, "there is no class archive: set -Dclass.archive.skip=false");
        String out = run(2, "-n", "1", "-Xlog:class+load", "-cp", classes.toString(), "app.Main", "x", "-cp");
        for (String name : List.of("io.madeleine.api.Session", "io.madeleine.session.MadeleineSession", "com.google")) {
            assertTrue(out.lines().anyMatch(line -> line.contains(name) && line.contains("shared objects file")), out);
        }
    }

    @Test
    void shouldRunAJar() throws Exception {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, "app.Main");
        Path jar = directory.resolve("app.jar");
        try (OutputStream file = Files.newOutputStream(jar);
                JarOutputStream out = new JarOutputStream(file, manifest)) {
            out.putNextEntry(new JarEntry("app/Main.class"));
            out.write(Files.readAllBytes(classes.resolve("app/Main.class")));
        }
        assertEquals("0/1 [default] no native", run(0, "-n1", "--no-prefix", "-jar", jar.toString()));
    }

    @Test
    void shouldRunAModule() throws Exception {
        assertEquals(
                "[0] y 0/1 [default] no native",
                run(1, "-n", "1", "--", "-p", modules.toString(), "-m", "app/app.Main", "y"));
    }

    @Test
    void shouldRunASourceFileWithSettings() throws Exception {
        Path source = Files.writeString(directory.resolve("Main.java"), SOURCE.replace("package app;", ""));
        String out = run(0, "-n", "1", "--set", "channels.bulk.network=tcp", source.toString());
        assertTrue(out.endsWith(" 0/1 [bulk, default] no native"), out);
    }

    @Test
    void shouldSetVariablesAndTheWorkingDirectory() throws Exception {
        Path source = Files.writeString(directory.resolve("Shell.java"), """
                public class Shell {
                    public static void main(String[] arguments) throws Exception {
                        System.out.println(System.getenv("COLOUR") + " " + System.getenv("EMPTY").isEmpty() + " "
                                + System.getenv("PATH") + " " + java.nio.file.Path.of("").toRealPath());
                    }
                }
                """);
        String out = run(
                0,
                "-n",
                "2",
                "-x",
                "COLOUR=red=1",
                "-x",
                "EMPTY=",
                "-x",
                "PATH",
                "--wdir",
                directory.toString(),
                source.getFileName().toString());
        String line = " red=1 true " + System.getenv("PATH") + " " + directory.toRealPath();
        assertEquals(List.of("[0]" + line, "[1]" + line), out.lines().sorted().toList());
    }

    @Test
    void shouldGiveItsInputToRankZero() throws Exception {
        Path input = Files.writeString(directory.resolve("input"), "one\ntwo\n");
        Process mad = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Dmad.module-path=" + System.getProperty("mad.module-path"),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Mad.class.getName(),
                        "run",
                        "-n",
                        "3",
                        "-cp",
                        classes.toString(),
                        "Input")
                .redirectInput(input.toFile())
                .redirectError(ProcessBuilder.Redirect.DISCARD) // a JVM notes there that it takes options
                .start();
        String out = new String(mad.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, mad.waitFor(), out);
        assertEquals(
                List.of("[0] one+two+", "[1]", "[2]"),
                out.lines().map(String::strip).sorted().toList());
    }

    /** On Linux, writing to this file fails as on a full disk. */
    @Test
    void shouldFailIfTheOutputOfACommandCannotBeWritten() throws Exception {
        File full = new File("/dev/full");
        assumeTrue(full.exists());
        Process mad = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Mad.class.getName(),
                        "secret")
                .redirectOutput(full)
                .start();
        String told = new String(mad.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(1, mad.waitFor());
        assertTrue(told.contains("not all of the output could be written"), told);
    }
}
