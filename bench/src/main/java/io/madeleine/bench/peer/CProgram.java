package io.madeleine.bench.peer;

import io.madeleine.bench.measure.MeasuringException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * One of our small programs in C, compiled when it is first needed and kept in a folder of the user's own below the
 * folder for temporary files until its sources, its compiler or the options change.
 *
 * <p>Threading: immutable.
 *
 * @param compiler the command, as gcc or mpicc.mpich
 * @param wire the source of the wire, as tcp
 * @param libraries what it is linked with, as fabric
 */
record CProgram(String compiler, String wire, List<String> libraries) {
    /** The wire that also has benchmarks of its own. */
    static final String MPI = "mpi";

    private static final List<String> OPTIONS = List.of("-O2", "-std=gnu11", "-pthread");
    private static final List<String> HEADERS = List.of("wire.h", "shared.h");
    private static final Set<PosixFilePermission> PRIVATE = PosixFilePermissions.fromString("rwx------");
    private static final int HASH_BYTES = 8;

    /** Copies the list. */
    CProgram {
        libraries = List.copyOf(libraries);
    }

    /** One that takes nothing but the C library, or what its compiler adds. */
    CProgram(String compiler, String wire) {
        this(compiler, wire, List.of());
    }

    private List<String> sources() {
        return wire.equals(MPI) ? List.of("measure.c", "mpi.c", "osu.c") : List.of("measure.c", wire + ".c");
    }

    /** Where a command is, if anywhere. */
    static Optional<Path> find(String command) {
        String path = Optional.ofNullable(System.getenv("PATH")).orElse("");
        return Stream.of(path.split(":", -1))
                .filter(folder -> !folder.isEmpty())
                .map(folder -> Path.of(folder, command))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /**
     * The program, compiled.
     *
     * @throws MeasuringException if that fails
     */
    Path build() {
        try {
            Path found = find(compiler).orElseThrow(() -> new MeasuringException("there is no " + compiler));
            Path folder = folder();
            Path program = folder.resolve(compiler + "-" + wire + "-" + hash(found));
            if (!Files.isExecutable(program)) {
                compile(found, folder, program);
            }
            return program;
        } catch (IOException e) {
            throw new MeasuringException(wire + ".c cannot be compiled: " + e, e);
        }
    }

    private void compile(Path found, Path folder, Path program) throws IOException {
        Path work = Files.createTempDirectory(folder, "build");
        try {
            List<String> command = new ArrayList<>(List.of(found.toString()));
            command.addAll(OPTIONS);
            Path compiled = work.resolve(wire);
            command.addAll(List.of("-o", compiled.toString()));
            for (String name : HEADERS) {
                Files.write(work.resolve(name), source(name));
            }
            for (String name : sources()) {
                command.add(Files.write(work.resolve(name), source(name)).toString());
            }
            libraries.forEach(library -> command.add("-l" + library));
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            process.getOutputStream().close();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (process.waitFor() != 0) {
                throw new MeasuringException(String.join(" ", command) + " failed: " + said.strip());
            }
            Files.move(compiled, program, StandardCopyOption.ATOMIC_MOVE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MeasuringException("interrupted", e);
        } finally {
            delete(work);
        }
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(folder);
    }

    /** Nobody else may have put a program there. */
    private static Path folder() throws IOException {
        Path shared = Path.of(System.getProperty("java.io.tmpdir"));
        Path folder = shared.resolve("madeleine-perf-" + System.getProperty("user.name"));
        if (Files.notExists(folder, LinkOption.NOFOLLOW_LINKS)) {
            createFolder(folder);
        }
        PosixFileAttributes found = Files.readAttributes(folder, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        Path probe = Files.createTempFile("madeleine-perf", "");
        try {
            if (found.isDirectory()
                    && found.permissions().equals(PRIVATE)
                    && found.owner().equals(Files.getOwner(probe))) {
                return folder;
            }
        } finally {
            Files.delete(probe);
        }
        throw new MeasuringException(folder + " is not a folder of this user alone: remove it");
    }

    private static void createFolder(Path folder) throws IOException {
        try {
            Files.createDirectory(folder, PosixFilePermissions.asFileAttribute(PRIVATE));
        } catch (FileAlreadyExistsException _) {
            // another measurement that began at the same time was faster; it is examined like any other
        }
    }

    private String hash(Path found) throws IOException {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            List<String> names = new ArrayList<>(HEADERS);
            names.addAll(sources());
            for (String name : names) {
                digest.update(source(name));
            }
            String context = OPTIONS + " " + libraries + " " + found.toRealPath() + " "
                    + Files.getLastModifiedTime(found.toRealPath());
            digest.update(context.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest.digest(), 0, HASH_BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new MeasuringException("SHA-256 is missing", e);
        }
    }

    private static byte[] source(String name) throws IOException {
        try (InputStream in = CProgram.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IOException("the source " + name + " is not on the class path");
            }
            return in.readAllBytes();
        }
    }
}
