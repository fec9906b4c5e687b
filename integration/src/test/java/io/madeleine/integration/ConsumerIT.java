package io.madeleine.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A project of its own that takes Madeleine from a Maven repository, on the class path and on the module path. */
@Tag("waits")
class ConsumerIT {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    /** Maven and the programs end before an optimizing compiler would pay. */
    private static final List<String> LIGHT = List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

    private static final long MAVEN_SECONDS = 100;
    private static final long PROGRAM_SECONDS = 60;

    @TempDir
    Path directory;

    @Test
    void shouldBuildAndRunAProjectThatDependsOnMadeleine() throws Exception {
        Path repository = ROOT.resolve(".mad/test-repository");
        assumeTrue(
                Files.isDirectory(repository.resolve("io/madeleine/madeleine-bom"))
                        && Files.isDirectory(repository.resolve("io/madeleine/madeleine")),
                "mad test has not put all artifacts into " + repository);
        Path project = directory.resolve("app");
        copy(Path.of("src/test/resources/consumer"), project);
        maven(project, repository);

        String libraries = Files.readString(project.resolve("libraries.txt")).strip();
        String classes = project.resolve("target/classes").toString();
        String onClassPath = run(List.of("-cp", classes + File.pathSeparator + libraries, "app.Main"));
        assertEquals("class path, rank 0: 42\nclass path, rank 1: 42\n", onClassPath);
        String onModulePath = run(List.of("-p", classes + File.pathSeparator + libraries, "-m", "app/app.Main"));
        assertEquals("module path, rank 0: 42\nmodule path, rank 1: 42\n", onModulePath);
    }

    /** With a local repository that has what the user's has, but nothing of Madeleine, and keeps what is fetched. */
    private void maven(Path project, Path repository) throws Exception {
        Path users = Path.of(System.getProperty("user.home"), ".m2", "repository");
        Path local = Files.createDirectories(directory.resolve("local"));
        if (Files.isDirectory(users)) {
            link(users, local, "io");
            link(users.resolve("io"), Files.createDirectories(local.resolve("io")), "madeleine");
        }
        String maven = Stream.of(System.getenv("PATH").split(File.pathSeparator))
                .map(folder -> Path.of(folder, "mvn"))
                .filter(Files::isExecutable)
                .map(Path::toString)
                .findFirst()
                .orElse(ROOT.resolve("mvnw").toString());
        Process process = start(
                project,
                List.of(
                        maven,
                        "-q",
                        "-B",
                        "-Dmaven.repo.local=" + local,
                        "-Dmadeleine.repository=" + repository.toUri(),
                        "compile",
                        "dependency:build-classpath",
                        "-DincludeScope=runtime",
                        "-Dmdep.outputFile=libraries.txt"));
        String output = new String(process.getInputStream().readAllBytes());
        assertTrue(process.waitFor(MAVEN_SECONDS, TimeUnit.SECONDS), output);
        assertEquals(0, process.exitValue(), output);
    }

    private static void link(Path from, Path to, String butNot) throws IOException {
        try (Stream<Path> entries = Files.list(from)) {
            for (Path entry : entries.toList()) {
                if (!entry.getFileName().toString().equals(butNot)) {
                    Files.createSymbolicLink(to.resolve(entry.getFileName()), entry);
                }
            }
        }
    }

    /** Runs it as two processes that meet at a port; returns what they print, rank 0 first. */
    private String run(List<String> arguments) throws Exception {
        int port = HostedProcesses.freePort();
        List<Process> processes = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) {
            List<String> command = new ArrayList<>(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "--illegal-native-access=deny",
                    "--sun-misc-unsafe-memory-access=deny",
                    LIGHT.get(0),
                    LIGHT.get(1),
                    "-Dmadeleine.session.rank=" + rank,
                    "-Dmadeleine.session.hosts=127.0.0.1:" + port + ",127.0.0.1"));
            command.addAll(arguments);
            processes.add(start(directory, command));
        }
        StringBuilder output = new StringBuilder();
        for (Process process : processes) {
            output.append(new String(process.getInputStream().readAllBytes()));
            assertTrue(process.waitFor(PROGRAM_SECONDS, TimeUnit.SECONDS), output::toString);
        }
        return output.toString();
    }

    private static Process start(Path where, List<String> command) throws IOException {
        ProcessBuilder builder =
                new ProcessBuilder(command).directory(where.toFile()).redirectErrorStream(true);
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().put("MAVEN_OPTS", "--sun-misc-unsafe-memory-access=allow " + String.join(" ", LIGHT));
        builder.environment().remove("JDK_JAVA_OPTIONS");
        return builder.start();
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(from.relativize(file).toString()));
            }
        }
    }
}
