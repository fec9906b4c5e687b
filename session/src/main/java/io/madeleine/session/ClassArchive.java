package io.madeleine.session;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.Session;
import java.io.File;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarFile;
import java.util.stream.Stream;

/**
 * A class data sharing archive of the folder with Madeleine's modules. A process that starts with it has loaded its
 * classes for less than half of the processor time. The archive lies beside the folder: {@code core.jsa} for {@code
 * core}. The JVM checks that archive, JDK and modules belong together.
 *
 * <p>{@link #main} makes it, when Madeleine is built. Nothing depends on it: without an archive programs start slower.
 *
 * <p>Threading: stateless.
 */
public final class ClassArchive {
    private static final String MAIN = "io.madeleine.session/" + ClassArchive.class.getName();

    /** With one of these, the JVM might refuse the archive, and its own with it, or not start. */
    private static final List<String> EXCLUDES = List.of(
            "-Xshare",
            "-XX:SharedArchiveFile",
            "-XX:AOT",
            "-XX:+AutoCreateSharedArchive",
            "-XX:+UseCompactObjectHeaders",
            "-XX:-UseCompressed",
            "-XX:ObjectAlignmentInBytes",
            "-XX:+UseZGC",
            "-XX:VMOptionsFile",
            "-XX:Flags",
            "-Xbootclasspath",
            "--patch-module",
            "--limit-modules",
            "--upgrade-module-path");

    /** Variables with further options of a JVM. */
    private static final List<String> VARIABLES = List.of("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS");

    /** The argument of a process that loads classes for the archive. */
    private static final String TALK = "--talk";

    private static final List<String> NETWORKS = List.of("sci", "tcp", "bip");
    private static final int[] SIZES = {8, 100_000};
    private static final int PATIENCE_S = 60;

    private ClassArchive() {}

    /**
     * The options with which a JVM takes the archive; none if there is none for these modules, or if the given options
     * do not go with it.
     *
     * @param modulePath the whole module path of the JVM
     * @param given the other options
     * @param environment the variables of the JVM, of which some hold further options
     */
    static List<String> options(String modulePath, List<String> given, Map<String, String> environment) {
        Stream<String> more = VARIABLES.stream()
                .map(variable -> environment.getOrDefault(variable, ""))
                .flatMap(text -> Stream.of(text.split("[\\s\"']+")))
                .map(option -> option.startsWith("@") ? "-XX:VMOptionsFile" : option);
        if (modulePath.contains(File.pathSeparator)
                || Stream.concat(given.stream(), more)
                        .anyMatch(option -> EXCLUDES.stream().anyMatch(option::startsWith))) {
            return List.of();
        }
        Path folder = Path.of(modulePath).toAbsolutePath();
        Path archive = archiveOf(folder);
        try {
            if (!Files.isReadable(archive) || isOlderThanAJar(archive, folder)) {
                return List.of();
            }
        } catch (IOException _) {
            return List.of();
        }
        // a JVM that cannot take the archive goes without it, and need not say so
        return List.of("-XX:SharedArchiveFile=" + archive, "-Xlog:cds*=off,aot*=off");
    }

    private static Path archiveOf(Path folder) {
        return folder.resolveSibling(folder.getFileName() + ".jsa");
    }

    private static boolean isOlderThanAJar(Path archive, Path folder) throws IOException {
        FileTime made = Files.getLastModifiedTime(archive);
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                if (Files.getLastModifiedTime(file).compareTo(made) > 0) {
                    return true;
                }
            }
        }
        return false;
    }

    /**
     * Makes the archive of a folder: {@code main(folder)}. Two processes open a session and talk; the archive gets the
     * classes that they have loaded, and all of Madeleine's. If that fails, says why on standard error, and leaves no
     * archive.
     *
     * @param arguments the folder with the modules
     */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length != 1) {
            throw new IllegalArgumentException(
                    arguments.length + " arguments: expected one, the folder with Madeleine's modules");
        }
        if (arguments[0].equals(TALK)) {
            talk();
            return;
        }
        Path folder = Path.of(arguments[0]).toAbsolutePath();
        Path scratch = archiveOf(folder).resolveSibling(folder.getFileName() + "-archive");
        try {
            Files.deleteIfExists(archiveOf(folder));
            Files.createDirectory(scratch);
            Path made = scratch.resolve("archive");
            // as mad run grants without configuration: for others, the JVM takes the classes but not the modules' graph
            List<String> nativeModules = SessionInfo.of(List.of()).nativeModules();
            Path classes = classes(folder, nativeModules, scratch);
            dump(JavaArguments.withMadeleine(List.of(), nativeModules, folder.toString(), Map.of()), classes, made);
            Files.move(made, archiveOf(folder), StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException | RuntimeException e) {
            System.err.println("no class archive, programs start slower: " + e);
        } finally {
            deleteWith(scratch);
        }
    }

    private static void deleteWith(Path scratch) {
        if (Files.notExists(scratch)) {
            return;
        }
        try (Stream<Path> files = Files.list(scratch)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
            Files.delete(scratch);
        } catch (IOException e) {
            System.err.println("left over, delete it: " + scratch + ": " + e);
        }
    }

    /** Lets two processes talk; returns the list of classes. */
    private static Path classes(Path folder, List<String> nativeModules, Path scratch)
            throws IOException, InterruptedException {
        List<String> program = List.of("-XX:DumpLoadedClassList=" + scratch.resolve("list-%p"), "--module", MAIN, TALK);
        List<String> settings = new ArrayList<>(List.of("channels.default.network=" + NETWORKS.getFirst()));
        NETWORKS.forEach(network -> settings.add("channels." + network + ".network=" + network));
        LaunchPlan plan = LaunchPlan.of(
                        2, JavaArguments.withMadeleine(program, nativeModules, folder.toString(), Map.of()))
                .withSettings(settings);
        int code = Launcher.run(plan);
        if (code != 0) {
            throw new IOException("the training run has ended with " + code);
        }
        Path all = scratch.resolve("classes");
        try (Stream<Path> lists = Files.list(scratch)) {
            Path first = lists.filter(file -> file.getFileName().toString().startsWith("list-"))
                    .min(Path::compareTo)
                    .orElseThrow(() -> new IOException("the JVM has listed no classes"));
            List<String> lines = new ArrayList<>(Files.readAllLines(first));
            lines.addAll(ownClasses(folder));
            return Files.write(all, lines);
        }
    }

    /** The classes of Madeleine's jars, since the training loads only some: none of MPI, for example. */
    private static List<String> ownClasses(Path folder) throws IOException {
        List<String> names = new ArrayList<>();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file :
                    files.filter(file -> file.toString().endsWith(".jar")).toList()) {
                try (JarFile jar = new JarFile(file.toFile())) {
                    jar.stream()
                            .map(entry -> entry.getName())
                            .filter(name -> name.matches("(io/madeleine|mpi|mpjbuf)/.*\\.class"))
                            .map(name -> name.substring(0, name.length() - ".class".length()))
                            .forEach(names::add);
                }
            }
        }
        return names;
    }

    private static void dump(List<String> modules, Path classes, Path archive)
            throws IOException, InterruptedException {
        Path log = classes.resolveSibling("log");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xshare:dump",
                "-XX:SharedClassListFile=" + classes,
                "-XX:SharedArchiveFile=" + archive));
        command.addAll(modules);
        Process java = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            if (!java.waitFor(PATIENCE_S, TimeUnit.SECONDS) || java.exitValue() != 0 || !Files.exists(archive)) {
                List<String> errors = Files.readAllLines(log).stream()
                        .filter(line -> line.contains("rror"))
                        .toList();
                throw new IOException("the JVM has not made it: " + String.join("; ", errors));
            }
        } finally {
            java.destroyForcibly();
        }
    }

    /** Sends and receives a short and a long message on each channel. */
    private static void talk() {
        try (Session session = Session.open()) {
            for (String network : NETWORKS) {
                Channel channel = session.channel(network);
                int peer = 1 - session.rank();
                for (int bytes : SIZES) {
                    var sent = channel.beginPacking(peer)
                            .packInt(bytes)
                            .pack(MemorySegment.ofArray(new byte[bytes]))
                            .endPackingAsync();
                    IncomingMessage in = channel.beginUnpacking(peer, PATIENCE_S, TimeUnit.SECONDS)
                            .within(PATIENCE_S, TimeUnit.SECONDS);
                    in.unpack(MemorySegment.ofArray(new byte[in.unpackInt()]));
                    in.endUnpacking();
                    if (!sent.await(PATIENCE_S, TimeUnit.SECONDS)) {
                        throw new IllegalStateException(
                                "a message of " + bytes + " bytes has not left over " + network);
                    }
                }
            }
        }
    }
}
