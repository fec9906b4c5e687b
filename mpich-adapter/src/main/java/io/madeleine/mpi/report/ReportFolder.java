package io.madeleine.mpi.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The folder with a socket of each running process, which only this user can open: {@code PID-RANK-SIZE}.
 *
 * <p>Threading: without state.
 */
final class ReportFolder {
    private static final Set<PosixFilePermission> OWN = PosixFilePermissions.fromString("rwx------");
    private static final Pattern NAME = Pattern.compile("(\\d+)-(\\d+)-(\\d+)");

    private ReportFolder() {}

    /** A process that can be asked. */
    record Entry(long pid, int rank, int size, Path socket) {
        /** The process that has started it, as {@code mad run}; the process itself if there is none any more. */
        long starter() {
            return ProcessHandle.of(pid)
                    .flatMap(ProcessHandle::parent)
                    .map(ProcessHandle::pid)
                    .orElse(pid);
        }

        /** Whether one of these processes is this one, or has started it, itself or through others. */
        boolean isBelow(Set<Long> pids) {
            Optional<ProcessHandle> above = ProcessHandle.of(pid);
            while (above.isPresent() && !pids.contains(above.get().pid())) {
                above = above.get().parent();
            }
            return above.isPresent();
        }
    }

    private static Path path() {
        return Path.of(System.getProperty("java.io.tmpdir"), "madeleine-report-" + System.getProperty("user.name"));
    }

    /**
     * Where the socket of this process belongs.
     *
     * @throws IOException if there is no folder that is only this user's
     */
    static Path socket(int rank, int size) throws IOException {
        Path folder = path();
        if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
            try {
                Files.createDirectory(folder, PosixFilePermissions.asFileAttribute(OWN));
            } catch (java.nio.file.FileAlreadyExistsException _) {
                // another process was faster
            }
        }
        List<Entry> _ = unsorted(folder); // removes what killed processes have left
        return folder.resolve(ProcessHandle.current().pid() + "-" + rank + "-" + size);
    }

    private static void check(Path folder) throws IOException {
        if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)
                || !Files.getPosixFilePermissions(folder, LinkOption.NOFOLLOW_LINKS)
                        .equals(OWN)
                || !Files.getOwner(folder, LinkOption.NOFOLLOW_LINKS)
                        .getName()
                        .equals(System.getProperty("user.name"))) {
            throw new IOException(folder + " is not a folder that only its owner, this user, can open");
        }
    }

    /** The running processes, by rank. Removes the sockets of those that have ended. */
    static List<Entry> entries() throws IOException {
        Path folder = path();
        if (!Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
            return List.of();
        }
        List<Entry> found = unsorted(folder);
        found.sort(Comparator.comparingInt(Entry::rank));
        return found;
    }

    private static List<Entry> unsorted(Path folder) throws IOException {
        check(folder);
        List<Entry> found = new ArrayList<>();
        try (Stream<Path> all = Files.list(folder)) {
            for (Path socket : all.toList()) {
                Matcher name = NAME.matcher(socket.getFileName().toString());
                if (!name.matches()) {
                    continue;
                }
                long pid = Long.parseLong(name.group(1));
                if (ProcessHandle.of(pid).isEmpty()) {
                    Files.deleteIfExists(socket);
                } else {
                    found.add(new Entry(pid, Integer.parseInt(name.group(2)), Integer.parseInt(name.group(3)), socket));
                }
            }
        }
        return found;
    }
}
