package io.madeleine.tm.sci;

import io.madeleine.api.SessionException;
import io.madeleine.pmm.spi.ProcessIdentity;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.security.SecureRandom;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The directory in which the processes of a session keep their files, {@code madeleine-SESSION}: mode 0700, all files
 * 0600. Each process has
 *
 * <pre>
 *   STEM.owner                who it is, see OwnerRecord
 *   STEM.inbox                its arrival flags, see Inbox
 *   STEM.bell                 the socket at which peers wake it
 *   STEM_NUMBER.block            memory of the process that its peers may map
 *   STEM_PEERSTEM_CHANNEL.pair   a pair segment that it has made and its peer not yet mapped
 * </pre>
 *
 * A directory of that name that another user has made is passed by. The last process to leave removes the directory; what a session leaves that was killed, the next start of any session
 * of the same user removes. Only names of our own pattern are ever deleted.
 *
 * <p>Threading: control path, confined to the caller.
 */
final class SessionDirectory implements AutoCloseable {
    static final String OWNER = ".owner";
    static final String INBOX = ".inbox";
    static final String BELL = ".bell";
    static final String PAIR = ".pair";
    static final String BLOCK = ".block";

    /** Of a file that is being made and has not got its name yet. */
    static final String NEW = ".new";

    static final FileAttribute<Set<PosixFilePermission>> FILE_MODE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    /** Connections of full size leave this share of the file system to others, smaller ones share it. */
    private static final double RESERVE = 0.3;

    private static final int PARTS = 8;
    private static final int PARTS_OF_RESERVE = 64;

    private static final String PREFIX = "madeleine-";
    private static final Set<PosixFilePermission> DIRECTORY_MODE = PosixFilePermissions.fromString("rwx------");
    private static final int ATTEMPTS = 100;

    private final Path path;
    private final FileStem stem;
    private volatile @Nullable FileStore store;

    /** For programs that end without closing their session. */
    private final Thread exitHook =
            Thread.ofPlatform().name("madeleine-sci-exit").unstarted(this::removeFiles);

    private SessionDirectory(Path path, FileStem stem) {
        this.path = path;
        this.stem = stem;
    }

    /**
     * Makes the session's directory in {@code parent}, or joins it, and sweeps what dead sessions left there.
     *
     * @throws SessionException if it cannot be made or is not ours alone
     */
    static SessionDirectory join(Path parent, String sessionId, ProcessIdentity self) {
        Path path = place(parent, PREFIX + sessionId);
        SessionDirectory joined = new SessionDirectory(path, new FileStem(self, new SecureRandom().nextInt()));
        try {
            Runtime.getRuntime().addShutdownHook(joined.exitHook);
            joined.enter();
            DirectorySweep.removeDead(path);
            DirectorySweep.sweepSiblings(path, PREFIX);
            return joined;
        } catch (IOException | UnsupportedOperationException e) {
            joined.close();
            throw new SessionException(
                    "cannot make or join the session directory " + path + " for shared memory: " + e
                            + "; give a writable directory of a local file system with " + SciConfig.ROOT
                            + ".directory",
                    e);
        }
    }

    /**
     * The first place of that name, or that name with a number, that is free or our own: in a directory for all, others may
     * take names. All processes of the session pass by the same ones.
     */
    private static Path place(Path parent, String name) {
        Path first = parent.resolve(name);
        if (Files.notExists(first, LinkOption.NOFOLLOW_LINKS)) {
            return first;
        }
        try {
            UserPrincipal self = currentUser(parent);
            for (int number = 1; number <= ATTEMPTS; number++) {
                Path path = number == 1 ? first : parent.resolve(name + "." + number);
                if (!isAnothers(path, self)) {
                    return path;
                }
            }
        } catch (IOException | UnsupportedOperationException _) {
            // whoever tries to enter finds out what is wrong
        }
        return first;
    }

    private static boolean isAnothers(Path path, UserPrincipal self) {
        try {
            return !Files.getOwner(path, LinkOption.NOFOLLOW_LINKS).equals(self);
        } catch (IOException _) {
            return false; // it is free
        }
    }

    private static UserPrincipal currentUser(Path parent) throws IOException {
        Path probe = Files.createTempFile(parent, PREFIX, NEW, FILE_MODE);
        try {
            return Files.getOwner(probe, LinkOption.NOFOLLOW_LINKS);
        } finally {
            Files.deleteIfExists(probe);
        }
    }

    /** Removes what dead sessions of this user left in {@code parent}, without being in a session. */
    static void sweep(Path parent) {
        try {
            Path probe = Files.createTempFile(parent, PREFIX, NEW, FILE_MODE); // says who this user is
            try {
                DirectorySweep.sweepSiblings(probe, PREFIX);
            } finally {
                Files.deleteIfExists(probe);
            }
        } catch (IOException | UnsupportedOperationException _) {
            // what is left, the next start removes
        }
    }

    private void enter() throws IOException {
        for (int attempt = 1; ; attempt++) {
            try {
                Files.createDirectory(path, PosixFilePermissions.asFileAttribute(DIRECTORY_MODE));
            } catch (FileAlreadyExistsException _) {
                checkMode(); // made by another process of the session
            }
            try {
                Path record = Files.createFile(file(NEW), FILE_MODE);
                checkOwner(record);
                Files.write(record, OwnerRecord.current().toLines());
                Files.move(record, file(OWNER), StandardCopyOption.ATOMIC_MOVE);
                return;
            } catch (NoSuchFileException e) {
                if (attempt == ATTEMPTS) {
                    throw e;
                }
                // the last of the others left just now and removed it
            }
        }
    }

    private void checkMode() throws IOException {
        try {
            PosixFileAttributes found =
                    Files.readAttributes(path, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            if (!found.isDirectory() || !found.permissions().equals(DIRECTORY_MODE)) {
                throw new IOException("it exists and is not a directory of mode rwx------, but "
                        + (found.isDirectory() ? PosixFilePermissions.toString(found.permissions()) : "something else")
                        + " of " + found.owner());
            }
        } catch (NoSuchFileException _) {
            // removed meanwhile: the next attempt makes it
        }
    }

    private void checkOwner(Path ownFile) throws IOException {
        var self = Files.getOwner(ownFile, LinkOption.NOFOLLOW_LINKS);
        var owner = Files.getOwner(path, LinkOption.NOFOLLOW_LINKS);
        if (!self.equals(owner)) {
            Files.delete(ownFile);
            throw new IOException("it belongs to " + owner + ", expected " + self);
        }
    }

    Path path() {
        return path;
    }

    FileStem stem() {
        return stem;
    }

    /** The file of this process with the given ending. */
    Path file(String ending) {
        return path.resolve(stem + ending);
    }

    /** The file of a peer with the given ending. */
    Path file(FileStem peer, String ending) {
        return path.resolve(peer + ending);
    }

    /** The file of a shared block of a process. */
    Path blockFile(FileStem owner, int number) {
        return path.resolve("%s_%x%s".formatted(owner, number, BLOCK));
    }

    /** The file of the segment that {@code initiator} makes for {@code acceptor}, with the given ending. */
    Path pairFile(FileStem initiator, FileStem acceptor, long channelHash, String ending) {
        return path.resolve("%s_%s_%016x%s".formatted(initiator, acceptor, channelHash, ending));
    }

    /** This process's address. */
    SciAddress address() {
        try {
            String id = Files.getAttribute(path, "unix:dev") + ":" + Files.getAttribute(path, "unix:ino");
            return new SciAddress(OwnerRecord.currentBootId(), id, stem, path.toString());
        } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
            throw new SessionException("cannot identify the session directory " + path + ": " + e, e);
        }
    }

    /** How much room the file system has; the largest number if it has no bounds or does not say. */
    long freeBytes() {
        try {
            FileStore found = store();
            return found.getTotalSpace() == 0 ? Long.MAX_VALUE : found.getUsableSpace();
        } catch (IOException _) {
            return Long.MAX_VALUE;
        }
    }

    private long totalBytes() {
        try {
            return store().getTotalSpace();
        } catch (IOException _) {
            return 0;
        }
    }

    /** To find it takes a look through all mounts. */
    private FileStore store() throws IOException {
        FileStore known = store;
        if (known == null) {
            known = Files.getFileStore(path);
            store = known;
        }
        return known;
    }

    /**
     * How much a connection may take: a part of what is free, a small one once only the reserve of the file system is left,
     * so that there is something for the connections to come.
     */
    long bytesToSpare() {
        long free = freeBytes();
        return free / (free > RESERVE * totalBytes() ? PARTS : PARTS_OF_RESERVE);
    }

    /** How much room the file system has, in words. */
    String room() {
        long bytes = freeBytes();
        return bytes == Long.MAX_VALUE ? "how much is free there is not known" : bytes + " bytes are free there";
    }

    /** The same for who could not make a file of so many bytes: where they would fit, it is files that are too many. */
    String room(IOException failure, long bytes) {
        long free = freeBytes();
        boolean full = String.valueOf(failure.getMessage()).contains("No space left");
        return room() + (full && free != Long.MAX_VALUE && free >= bytes ? ", but no inodes, perhaps: see df -i" : "");
    }

    /**
     * Removes the files of a process that was killed.
     *
     * @return false if it is still there: it lives, or its end is under way
     */
    boolean removeIfDead(FileStem process) {
        return DirectorySweep.removeIfDead(path, process);
    }

    /** Deletes this process's files, and the directory if nobody is left in it. */
    @Override
    public void close() {
        forgetExitHook();
        removeFiles();
    }

    private void forgetExitHook() {
        try {
            Runtime.getRuntime().removeShutdownHook(exitHook);
        } catch (IllegalStateException _) {
            // this JVM is ending already, and the hook is at work
        }
    }

    private void removeFiles() {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(
                path, file -> stem.owns(file.getFileName().toString()))) {
            for (Path file : files) {
                Files.deleteIfExists(file);
            }
        } catch (IOException | DirectoryIteratorException _) {
            // what is left, the next start removes
        }
        DirectorySweep.removeDead(path);
        DirectorySweep.removeIfEmpty(path);
    }
}
