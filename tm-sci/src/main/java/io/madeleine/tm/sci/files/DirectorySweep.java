package io.madeleine.tm.sci.files;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Removes the files of processes that were killed. It lists a directory first, then decides, and deletes only names of
 * that list. So a process that enters meanwhile loses no file; if its directory is removed, it creates the directory
 * again. No method fails: what cannot be removed stays.
 *
 * <p>Threading: stateless; several processes may sweep at once.
 */
final class DirectorySweep {
    /**
     * The age from which a file without an owner's record is an orphan; a process takes less time from its first file
     * to its record.
     */
    private static final Duration ORPHAN_AGE = Duration.ofMinutes(1);

    /** What follows the prefix in the name of a probe. */
    private static final Pattern PROBE_NUMBER = Pattern.compile("[0-9]+\\" + SessionDirectory.NEW);

    private DirectorySweep() {}

    /**
     * Sweeps the directories beside {@code own} that belong to the same user, and removes those that are empty then.
     * Also removes old {@linkplain SessionDirectory#probe probes} of this user, which a process leaves that is killed
     * in that moment.
     */
    static void sweepSiblings(Path own, String prefix) {
        try (DirectoryStream<Path> siblings = Files.newDirectoryStream(own.getParent(), prefix + "*")) {
            UserPrincipal self = Files.getOwner(own, LinkOption.NOFOLLOW_LINKS);
            for (Path sibling : siblings) {
                if (sibling.equals(own) || !isOf(self, sibling)) {
                    continue;
                }
                if (Files.isDirectory(sibling, LinkOption.NOFOLLOW_LINKS)) {
                    if (removeDead(sibling) || isOld(sibling)) {
                        removeIfEmpty(sibling);
                    }
                } else if (isProbe(sibling, prefix) && isOld(sibling)) {
                    delete(sibling);
                }
            }
        } catch (IOException | DirectoryIteratorException _) {
            // The directory is gone, or cannot be listed.
        }
    }

    private static boolean isProbe(Path file, String prefix) {
        String number = name(file).substring(prefix.length());
        return Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
                && PROBE_NUMBER.matcher(number).matches();
    }

    private static boolean isOf(UserPrincipal user, Path path) {
        try {
            return Files.getOwner(path, LinkOption.NOFOLLOW_LINKS).equals(user);
        } catch (IOException _) {
            return false; // gone
        }
    }

    /**
     * Removes the files of dead processes, and old files whose process died before it wrote its record.
     *
     * @return whether there were any
     */
    static boolean removeDead(Path directory) {
        List<Path> files = ownFiles(directory);
        boolean removed = removeOrphans(files);
        for (Path record : files) {
            Optional<FileStem> dead = deadOwner(record);
            if (dead.isPresent()) {
                removed = true;
                removeFilesOf(dead.get(), record, files);
            }
        }
        return removed;
    }

    private static void removeFilesOf(FileStem process, Path record, List<Path> files) {
        for (Path file : files) {
            if (!file.equals(record) && process.owns(name(file))) {
                delete(file);
            }
        }
        delete(record); // Last, so that the next sweep continues one that was interrupted.
    }

    /**
     * Removes the files of one process if it is dead.
     *
     * @return whether the process has no record now
     */
    static boolean removeIfDead(Path directory, FileStem process) {
        Path record = directory.resolve(process + SessionDirectory.OWNER);
        if (deadOwner(record).isPresent()) {
            removeFilesOf(process, record, ownFiles(directory));
        }
        return Files.notExists(record, LinkOption.NOFOLLOW_LINKS);
    }

    /** Removes old files of processes that died before they wrote their record. */
    private static boolean removeOrphans(List<Path> files) {
        Set<String> recorded = files.stream()
                .map(DirectorySweep::name)
                .filter(name -> name.endsWith(SessionDirectory.OWNER))
                .map(FileStem::leading)
                .collect(Collectors.toSet());
        boolean removed = false;
        for (Path file : files) {
            if (!recorded.contains(FileStem.leading(name(file))) && isOld(file)) {
                delete(file);
                removed = true;
            }
        }
        return removed;
    }

    private static boolean isOld(Path file) {
        try {
            Instant changed =
                    Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS).toInstant();
            return changed.isBefore(Instant.now().minus(ORPHAN_AGE));
        } catch (IOException _) {
            return false; // gone
        }
    }

    private static List<Path> ownFiles(Path directory) {
        List<Path> files = new ArrayList<>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory, file -> FileStem.isOurs(name(file)))) {
            stream.forEach(files::add);
        } catch (IOException | DirectoryIteratorException _) {
            return List.of();
        }
        return files;
    }

    private static Optional<FileStem> deadOwner(Path file) {
        String name = name(file);
        if (!name.endsWith(SessionDirectory.OWNER) || !Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            return Optional.empty();
        }
        Optional<FileStem> stem = FileStem.parse(name.substring(0, name.length() - SessionDirectory.OWNER.length()));
        return stem.isPresent()
                        && OwnerRecord.read(file).filter(OwnerRecord::isDead).isPresent()
                ? stem
                : Optional.empty();
    }

    private static String name(Path file) {
        return file.getFileName().toString();
    }

    private static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException _) {
            // Another process has deleted it, or its owner has changed the mode: it stays.
        }
    }

    static void removeIfEmpty(Path directory) {
        try {
            if (Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
                Files.deleteIfExists(directory);
            }
        } catch (IOException _) {
            // A process is in it.
        }
    }
}
