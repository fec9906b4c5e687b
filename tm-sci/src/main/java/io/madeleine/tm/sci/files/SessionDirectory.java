package io.madeleine.tm.sci.files;

import io.madeleine.api.SessionException;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.tm.sci.memory.SciKeys;
import io.madeleine.tm.sci.memory.SegmentFile;
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
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.security.SecureRandom;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The directory of a session, {@code madeleine-SESSION}, with mode 0700; all its files have mode 0600. Each process has
 *
 * <pre>
 *   STEM.owner                   its identity, see OwnerRecord
 *   STEM.inbox                   its arrival flags, see Inbox
 *   STEM.bell                    the socket at which peers dial its doorbell
 *   STEM_NUMBER.block            memory of the process that its peers may map
 *   STEM_PEERSTEM_CHANNEL.pair   a pair segment that it has created and its peer has not mapped yet
 * </pre>
 *
 * If another user has created a directory of this name, all processes of the session take the next name. The last
 * process to leave removes the directory. The next start of any session of the same user removes what a killed session
 * left. Only files whose names have the patterns above are ever deleted.
 *
 * <p>Threading: control path, confined to the caller.
 */
public final class SessionDirectory implements AutoCloseable {
    public static final String OWNER = ".owner";
    public static final String INBOX = ".inbox";
    public static final String BELL = ".bell";
    public static final String PAIR = ".pair";
    public static final String BLOCK = ".block";

    /** The ending of a file that is being created and does not have its final name yet. */
    public static final String NEW = ".new";

    /** The share of the file system that connections of full size leave free for smaller ones. */
    private static final double RESERVE = 0.3;

    private static final int PARTS = 8;
    private static final int PARTS_OF_RESERVE = 64;

    private static final String PREFIX = "madeleine-";
    private static final Set<PosixFilePermission> DIRECTORY_MODE = PosixFilePermissions.fromString("rwx------");
    private static final int ATTEMPTS = 100;

    private final Path path;
    private final FileStem stem;
    private volatile @Nullable FileStore store;

    /** Removes the files if the program ends without closing its session. */
    private final Thread exitHook =
            Thread.ofPlatform().name("madeleine-sci-exit").unstarted(this::removeFiles);

    private SessionDirectory(Path path, FileStem stem) {
        this.path = path;
        this.stem = stem;
    }

    /**
     * Creates or joins the session's directory in {@code parent}, and removes what dead sessions left there.
     *
     * @throws SessionException if the directory cannot be created, other users have access to it, or this JVM is
     *     shutting down
     */
    public static SessionDirectory join(Path parent, String sessionId, ProcessIdentity self) {
        Path path = place(parent, PREFIX + sessionId);
        SessionDirectory joined = new SessionDirectory(path, new FileStem(self, new SecureRandom().nextInt()));
        joined.rememberExitHook();
        try {
            joined.enter();
            DirectorySweep.removeDead(path);
            DirectorySweep.sweepSiblings(path, PREFIX);
            return joined;
        } catch (IOException | UnsupportedOperationException e) {
            joined.close();
            throw new SessionException(
                    "cannot create or join the session directory " + path + " for shared memory: " + e
                            + "; give a writable directory of a local file system with " + SciKeys.ROOT
                            + ".directory",
                    e);
        }
    }

    /**
     * The first path of that name, or of that name with a number, that is free or belongs to this user. In a directory
     * for all users, others may have taken names; all processes of the session skip the same ones.
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
            // The attempt to enter the directory reports the error.
        }
        return first;
    }

    private static boolean isAnothers(Path path, UserPrincipal self) {
        try {
            return !Files.getOwner(path, LinkOption.NOFOLLOW_LINKS).equals(self);
        } catch (IOException _) {
            return false; // It does not exist.
        }
    }

    /** Creates a file whose owner is the current user. {@link DirectorySweep} knows its name. */
    static Path probe(Path parent) throws IOException {
        return Files.createTempFile(parent, PREFIX, NEW, SegmentFile.FILE_MODE);
    }

    private static UserPrincipal currentUser(Path parent) throws IOException {
        Path probe = probe(parent);
        try {
            return Files.getOwner(probe, LinkOption.NOFOLLOW_LINKS);
        } finally {
            Files.deleteIfExists(probe);
        }
    }

    /** Removes what dead sessions of this user left in {@code parent}, without joining a session. */
    public static void sweep(Path parent) {
        try {
            Path probe = probe(parent);
            try {
                DirectorySweep.sweepSiblings(probe, PREFIX);
            } finally {
                Files.deleteIfExists(probe);
            }
        } catch (IOException | UnsupportedOperationException _) {
            // The next start removes what is left.
        }
    }

    private void enter() throws IOException {
        for (int attempt = 1; ; attempt++) {
            try {
                Files.createDirectory(path, PosixFilePermissions.asFileAttribute(DIRECTORY_MODE));
            } catch (FileAlreadyExistsException _) {
                checkMode(); // Another process of the session created it.
            }
            try {
                Path record = Files.createFile(file(NEW), SegmentFile.FILE_MODE);
                checkOwner(record);
                Files.write(record, OwnerRecord.current().toLines());
                Files.move(record, file(OWNER), StandardCopyOption.ATOMIC_MOVE);
                return;
            } catch (NoSuchFileException e) {
                if (attempt == ATTEMPTS) {
                    throw e;
                }
                // The last other process has just left and removed the directory.
            }
        }
    }

    private void checkMode() throws IOException {
        try {
            PosixFileAttributes found =
                    Files.readAttributes(path, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            if (!found.isDirectory() || !found.permissions().equals(DIRECTORY_MODE)) {
                throw new IOException("it exists: expected a directory of mode rwx------, found "
                        + (found.isDirectory()
                                ? "mode " + PosixFilePermissions.toString(found.permissions())
                                : "something else")
                        + ", owned by " + found.owner());
            }
        } catch (NoSuchFileException _) {
            // Another process removed it: the next attempt creates it.
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

    public Path path() {
        return path;
    }

    public FileStem stem() {
        return stem;
    }

    /** This process's file with the given ending. */
    public Path file(String ending) {
        return path.resolve(stem + ending);
    }

    /** A peer's file with the given ending. */
    public Path file(FileStem peer, String ending) {
        return path.resolve(peer + ending);
    }

    /** The file of shared blocks with that number of a process. */
    public Path blockFile(FileStem owner, int number) {
        return path.resolve("%s_%x%s".formatted(owner, number, BLOCK));
    }

    /** The file of the pair segment that {@code initiator} creates for {@code acceptor}, with the given ending. */
    public Path pairFile(FileStem initiator, FileStem acceptor, long channelHash, String ending) {
        return path.resolve("%s_%s_%016x%s".formatted(initiator, acceptor, channelHash, ending));
    }

    /** This process's address. */
    public SciAddress address() {
        try {
            String id = Files.getAttribute(path, "unix:dev") + ":" + Files.getAttribute(path, "unix:ino");
            return new SciAddress(OwnerRecord.currentBootId(), id, stem, path.toString());
        } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
            throw new SessionException("cannot identify the session directory " + path + ": " + e, e);
        }
    }

    /** The free bytes of the file system; {@link Long#MAX_VALUE} if it has no limit or does not tell. */
    public long freeBytes() {
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

    /** Caches the file store: to find it, the JDK reads all mounts. */
    private FileStore store() throws IOException {
        FileStore known = store;
        if (known == null) {
            known = Files.getFileStore(path);
            store = known;
        }
        return known;
    }

    /**
     * The bytes that one connection may take: a share of the free bytes, and a smaller share once only the reserve of
     * the file system is left, so that later connections get some memory, too.
     */
    public long bytesToSpare() {
        long free = freeBytes();
        return free / (free > RESERVE * totalBytes() ? PARTS : PARTS_OF_RESERVE);
    }

    /** The free bytes of the file system, as a clause. */
    public String room() {
        long bytes = freeBytes();
        return bytes == Long.MAX_VALUE ? "it is not known how much is free there" : bytes + " bytes are free there";
    }

    /**
     * As {@link #room()}, after a failure to create a file of that size; adds a hint at inodes if the bytes would
     * suffice.
     */
    public String room(IOException failure, long bytes) {
        long free = freeBytes();
        boolean full = String.valueOf(failure.getMessage()).contains("No space left");
        return room() + (full && free != Long.MAX_VALUE && free >= bytes ? ", but perhaps no inodes: see df -i" : "");
    }

    /**
     * Removes the files of a process that was killed.
     *
     * @return false if its files are still there, because it lives or has not ended completely
     */
    public boolean removeIfDead(FileStem process) {
        return DirectorySweep.removeIfDead(path, process);
    }

    /** Deletes this process's files, and the directory if no other process is in it. */
    @Override
    public void close() {
        forgetExitHook();
        removeFiles();
    }

    private void rememberExitHook() {
        try {
            Runtime.getRuntime().addShutdownHook(exitHook);
        } catch (IllegalStateException e) {
            throw new SessionException("cannot join the session directory " + path + ": this JVM is shutting down", e);
        }
    }

    private void forgetExitHook() {
        try {
            Runtime.getRuntime().removeShutdownHook(exitHook);
        } catch (IllegalStateException _) {
            // This JVM is shutting down, and runs the hook.
        }
    }

    private void removeFiles() {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(
                path, file -> stem.owns(file.getFileName().toString()))) {
            for (Path file : files) {
                Files.deleteIfExists(file);
            }
        } catch (IOException | DirectoryIteratorException _) {
            // The next start removes what is left.
        }
        DirectorySweep.removeDead(path);
        DirectorySweep.removeIfEmpty(path);
    }
}
