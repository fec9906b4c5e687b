package io.madeleine.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The script {@code mad} in a folder that has been built, with a Maven that copies files instead of compiling. */
class MadScriptTest {
    private static final Path SCRIPT = Path.of("..", "mad");

    @TempDir
    Path directory;

    private Path home;
    private Path build;

    record Run(int code, String out, String err) {}

    @BeforeEach
    void layOutAHomeThatIsBuilt() throws IOException {
        home = Files.createDirectories(directory.resolve("a home")).toRealPath();
        Files.copy(SCRIPT, home.resolve("mad"));
        write(home.resolve("pom.xml"), "");
        for (String module : List.of("fory", "samples")) {
            write(home.resolve(module).resolve("pom.xml"), "");
            write(home.resolve(module).resolve("src/main/java/A.java"), "");
        }
        write(home.resolve("bom/pom.xml"), "");
        try (var files = Files.walk(home)) {
            for (Path file : files.toList()) {
                Files.setLastModifiedTime(file, FileTime.from(Instant.now().minusSeconds(60)));
            }
        }
        build = home.resolve(".mad/build-1");
        write(build.resolve("java.args"), "");
        write(build.resolve("home"), home + "\n");
        write(build.resolve("core/api.jar"), "");
        write(home.resolve(".mad/current"), "build-1\n");
        write(directory.resolve("bin/mvn"), """
                #!/bin/sh
                while [ $# -gt 0 ]; do
                  case $1 in -pl) module=$2 ;; -DoutputDirectory=*) libraries=${1#*=} ;; esac
                  shift
                done
                [ -n "${libraries:-}" ] || { echo "[ERROR] this Maven builds single modules alone"; exit 1; }
                case $libraries in /*) own=$libraries others=$libraries ;; *) own=$module/$libraries others=testkit/$libraries ;; esac
                mkdir -p "$own" "$others" "$module/target"
                touch "$own/library.jar" "$own/api.jar" "$others/of-tests.jar"
                touch "$module/target/$module-1.jar" "$module/target/$module-1-sources.jar" \\
                  "$module/target/$module-1-javadoc.jar"
                """);
        assertTrue(directory.resolve("bin/mvn").toFile().setExecutable(true));
    }

    private static void write(Path file, String text) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private Run mad(String... arguments) throws Exception {
        List<String> command =
                new ArrayList<>(List.of("bash", home.resolve("mad").toString()));
        command.addAll(List.of(arguments));
        return run(command, Path.of(System.getProperty("java.home")));
    }

    private Run run(List<String> command, Path jdk) throws Exception {
        Path err = directory.resolve("err");
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(err.toFile());
        Map<String, String> environment = builder.environment();
        environment.put("JAVA_HOME", jdk.toString());
        environment.put("PATH", directory.resolve("bin") + File.pathSeparator + environment.get("PATH"));
        List.of("MAD_LOCK_HELD", "MADELEINE_JAVA_HOME").forEach(environment::remove);
        Process process = builder.start();
        process.getOutputStream().close();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(process.waitFor(60, TimeUnit.SECONDS));
        return new Run(process.exitValue(), out.strip(), Files.readString(err));
    }

    private String classPathOfFory() {
        Path jars = build.resolve("modules/fory");
        return String.join(
                ":",
                build.resolve("core/api.jar").toString(),
                jars.resolve("fory-1.jar").toString(),
                jars.resolve("library.jar").toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"fory", "fory/", "fory//"})
    void shouldPrintTheJarsOfAModuleAsAShellCompletesItsName(String module) throws Exception {
        for (int times = 0; times < 2; times++) { // built, then found
            Run run = mad("classpath", module);
            assertEquals(0, run.code, run.err);
            assertEquals(classPathOfFory(), run.out, run.err);
            assertEquals(times == 0, run.err.contains("building module fory"), run.err);
        }
    }

    @Test
    void shouldBuildAModuleAnewWhoseSourcesAreNewer() throws Exception {
        assertEquals(0, mad("classpath", "samples").code);
        Path source = home.resolve("samples/src/main/java/A.java");
        Files.setLastModifiedTime(source, FileTime.from(Instant.now().plusSeconds(60)));
        Run run = mad("classpath", "samples");
        assertEquals(0, run.code, run.err);
        assertTrue(run.err.contains("building module samples"), run.err);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ".", "..", "/", "nothing", "bom", "../a home/fory", "-x"})
    void shouldRefuseWhatIsNoModule(String module) throws Exception {
        Run run = mad("classpath", module);
        assertEquals(2, run.code, run.out);
        assertEquals("", run.out);
        assertTrue(run.err.contains("there is no module"), run.err);
    }

    @Test
    void shouldNotBuildBecauseASampleIsNewer() throws Exception {
        Path source = home.resolve("samples/src/main/java/A.java");
        Files.setLastModifiedTime(source, FileTime.from(Instant.now().plusSeconds(60)));
        Run run = mad("classpath");
        assertEquals(0, run.code, run.err);
        assertEquals(build.resolve("core/api.jar").toString(), run.out);
        assertFalse(run.err.contains("building"), run.err);
    }

    @Test
    void shouldBuildWhenTheSourcesOfAnotherModuleAreNewer() throws Exception {
        Path source = home.resolve("fory/src/main/java/A.java");
        Files.setLastModifiedTime(source, FileTime.from(Instant.now().plusSeconds(60)));
        assertTrue(mad("classpath").err.contains("building Madeleine"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"--repo=", "--repo= ", "--repo"})
    void shouldNotInstallIntoTheUsersRepositoryWhereAFolderIsMissing(String option) throws Exception {
        Run run = option.endsWith(" ") ? mad("install", "--repo", "") : mad("install", option);
        assertEquals(2, run.code, run.err);
        assertTrue(run.err.contains("--repo needs a folder"), run.err);
    }

    @Test
    void shouldSayInOneSentenceThatThisUserMayNotBuildHere() throws Exception {
        Path source = home.resolve("fory/src/main/java/A.java");
        Files.setLastModifiedTime(source, FileTime.from(Instant.now().plusSeconds(60)));
        write(home.resolve(".mad/lock"), "");
        List<String> command = new ArrayList<>();
        if (System.getProperty("user.name").equals("root")) { // who may write everywhere
            command.addAll(List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"));
        }
        setMode(directory, "rwxr-xr-x");
        List<String> reading = new ArrayList<>(command);
        reading.addAll(List.of("cat", home.resolve("pom.xml").toString()));
        Path jdk = Path.of(System.getProperty("java.home"));
        assumeTrue(
                command.isEmpty() || Files.isExecutable(Path.of("/usr/bin/setpriv")),
                "root may write everywhere, and setpriv of util-linux is missing");
        assumeTrue(run(reading, jdk).code == 0, "another user cannot read the folder of temporary files");
        command.addAll(List.of("bash", home.resolve("mad").toString(), "info"));
        for (Path locked : List.of(home.resolve(".mad"), home)) {
            setMode(locked, "r-xr-xr-x");
            try {
                Run run = run(command, jdk);
                assertEquals(1, run.code, run.err);
                assertEquals(
                        "mad: " + home + " has to be built, and this user may not write there: build it as its owner"
                                + " (./mad --help), or copy the folder\n",
                        run.err);
            } finally {
                setMode(locked, "rwxr-xr-x");
            }
            deleteAll(home.resolve(".mad")); // the second time nothing has been built
        }
    }

    private static void setMode(Path file, String mode) throws IOException {
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
    }

    private static void deleteAll(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        try (var files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    @Test
    void shouldGiveTheProgramAnEmptyInputWhereItHasNone() throws Exception {
        Path jdk = directory.resolve("jdk");
        write(jdk.resolve("release"), "JAVA_VERSION=\"25\"\n");
        for (String tool : List.of("java", "javac")) {
            write(jdk.resolve("bin").resolve(tool), """
                    #!/bin/sh
                    cat && echo read
                    """);
            assertTrue(jdk.resolve("bin").resolve(tool).toFile().setExecutable(true));
        }
        Run run = run(
                List.of(
                        "bash",
                        "-c",
                        "exec bash \"$0\" info <&-",
                        home.resolve("mad").toString()),
                jdk);
        assertEquals("read", run.out, run.err);
    }
}
