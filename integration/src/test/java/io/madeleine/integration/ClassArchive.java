package io.madeleine.integration;

import static java.util.concurrent.TimeUnit.SECONDS;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;

/**
 * The class path of the programs as jars alone, and a class data sharing archive of the classes that a session loads. A
 * JVM that starts with the archive needs a third less of processor time until its session is open.
 *
 * <p>The JVM takes no archive where the class path has folders, so a folder becomes a jar. Jars and archive lie in
 * {@code target}, named by the state of all files on the class path. Test JVMs that run beside each other share them.
 *
 * <p>Threading: immutable.
 *
 * @param classPath of the programs
 * @param options of their JVMs; none if the archive could not be made
 */
record ClassArchive(String classPath, List<String> options) {
    /** The archive of this JVM's class path. */
    static final ClassArchive OWN = of(System.getProperty("java.class.path"), Path.of("target", "programs"));

    private static final int PATIENCE_S = 60;

    private static ClassArchive of(String classPath, Path directory) {
        try {
            List<Path> entries = Stream.of(classPath.split(File.pathSeparator))
                    .map(Path::of)
                    .filter(Files::exists)
                    .toList();
            Path own = directory.resolve(Integer.toHexString(stateOf(entries).hashCode()));
            Files.createDirectories(own);
            try (FileChannel lock =
                            FileChannel.open(own.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    FileLock _ = lock.lock()) {
                return in(own.toAbsolutePath(), entries);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot put the programs' classes into jars", e);
        }
    }

    private static ClassArchive in(Path directory, List<Path> entries) throws IOException {
        List<String> jars = new ArrayList<>();
        for (Path entry : entries) {
            jars.add((Files.isDirectory(entry) ? jarOf(entry, directory, jars.size()) : entry).toString());
        }
        String classPath = String.join(File.pathSeparator, jars);
        Path archive = directory.resolve("classes.jsa");
        if (!Files.exists(archive) && !trained(classPath, archive)) {
            return new ClassArchive(classPath, List.of());
        }
        // An option of a test may exclude the archive: the JVM goes without it then, and need not say so.
        return new ClassArchive(classPath, List.of("-XX:SharedArchiveFile=" + archive, "-Xlog:cds*=off,aot*=off"));
    }

    /** Path, size and time of all files: what decides whether jars and archive are up to date. */
    private static List<String> stateOf(List<Path> entries) throws IOException {
        List<String> state = new ArrayList<>();
        for (Path entry : entries) {
            try (Stream<Path> files = Files.walk(entry)) {
                for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                    state.add(file + " " + Files.size(file) + " " + Files.getLastModifiedTime(file));
                }
            }
        }
        return state;
    }

    private static Path jarOf(Path folder, Path directory, int number) throws IOException {
        Path jar = directory.resolve("folder-" + number + ".jar");
        if (Files.exists(jar)) {
            return jar;
        }
        Path part = directory.resolve(jar.getFileName() + ".part");
        try (OutputStream file = Files.newOutputStream(part);
                JarOutputStream out = new JarOutputStream(file);
                Stream<Path> files = Files.walk(folder)) {
            for (Path each : files.filter(Files::isRegularFile).sorted().toList()) {
                out.putNextEntry(new JarEntry(folder.relativize(each).toString().replace(File.separatorChar, '/')));
                Files.copy(each, out);
            }
        }
        return Files.move(part, jar, StandardCopyOption.ATOMIC_MOVE);
    }

    /** Runs two processes that talk over each network; the first leaves the archive when it ends. */
    private static boolean trained(String classPath, Path archive) throws IOException {
        Path part = archive.resolveSibling("classes.part");
        List<String> hosts =
                List.of("127.0.0.1:" + HostedProcesses.freePort(), "127.0.0.1:" + HostedProcesses.freePort());
        List<Process> processes = new ArrayList<>();
        try {
            for (int rank = 0; rank < 2; rank++) {
                List<String> command = new ArrayList<>(List.of(Ranks.javaExecutable(), "-XX:+UseSerialGC"));
                if (rank == 0) {
                    command.add("-XX:ArchiveClassesAtExit=" + part);
                }
                command.addAll(List.of(
                        "-Dmadeleine.session.hosts=" + String.join(",", hosts),
                        "-Dmadeleine.session.rank=" + rank,
                        "-Dmadeleine.channels.default.network=sci",
                        "-Dmadeleine.channels.sci.network=sci",
                        "-Dmadeleine.channels.tcp.network=tcp",
                        "-Dmadeleine.channels.bip.network=bip",
                        "-cp",
                        classPath,
                        Training.class.getName()));
                processes.add(new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(archive.resolveSibling("training-" + rank + ".log")
                                .toFile())
                        .start());
            }
            boolean ended = true;
            for (Process process : processes) {
                ended &= process.waitFor(PATIENCE_S, SECONDS) && process.exitValue() == 0;
            }
            if (!ended || !Files.exists(part)) {
                System.err.println("no class archive: see training-*.log in " + archive.getParent());
                return false;
            }
            Files.move(part, archive, StandardCopyOption.ATOMIC_MOVE);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            processes.forEach(Process::destroyForcibly);
        }
    }

    /** Sends and receives messages over each network. */
    static final class Training {
        public static void main(String[] args) throws Exception {
            io.madeleine.session.ClassArchive.main(new String[] {"--talk"});
        }
    }
}
