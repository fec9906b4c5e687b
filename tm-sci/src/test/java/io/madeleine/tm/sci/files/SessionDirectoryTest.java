package io.madeleine.tm.sci.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.api.SessionException;
import io.madeleine.pmm.spi.ProcessIdentity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileOwnerAttributeView;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SessionDirectoryTest {
    private static final ProcessIdentity SELF = new ProcessIdentity(0xfeedL, 3);

    private final OwnerRecord alive = OwnerRecord.current();
    private OwnerRecord dead;

    @TempDir
    Path parent;

    @BeforeEach
    void makeADeadProcess() throws Exception {
        Process process = new ProcessBuilder("true").start();
        process.waitFor();
        dead = recordOf(process.pid(), alive.start());
    }

    /** The record of another process in the place of this one. */
    private OwnerRecord recordOf(long pid, String start) {
        return new OwnerRecord(pid, start, alive.host(), alive.bootId(), alive.pidNamespace());
    }

    private Path leave(String session, String stem, OwnerRecord owner, String... others) throws IOException {
        Path directory = Files.createDirectories(parent.resolve("madeleine-" + session));
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx------"));
        Files.write(directory.resolve(stem + ".owner"), owner.toLines());
        for (String other : others) {
            Files.createFile(directory.resolve(other));
        }
        return directory;
    }

    private void joinAndLeave() {
        SessionDirectory.join(parent, "now", SELF).close();
        assertFalse(Files.exists(parent.resolve("madeleine-now")));
    }

    @Test
    void shouldRemoveWhatADeadSessionLeft() throws Exception {
        String stem = "a1.0-00c0ffee";
        Path left = leave(
                "dead",
                stem,
                dead,
                stem + ".inbox",
                stem + ".bell",
                stem + ".new",
                stem + "_b2.0-00c0ffee_0123456789abcdef.new",
                stem + "_b2.0-00c0ffee_0123456789abcdef.pair");
        joinAndLeave();
        assertFalse(Files.exists(left));
    }

    @Test
    void shouldKeepASessionOfWhichOneProcessLives() throws Exception {
        Path left = leave("half", "a1.0-00c0ffee", dead, "a1.0-00c0ffee.inbox");
        leave("half", "a2.0-00c0ffee", alive, "a2.0-00c0ffee.inbox");
        joinAndLeave();
        assertTrue(Files.exists(left.resolve("a2.0-00c0ffee.owner")));
        assertTrue(Files.exists(left.resolve("a2.0-00c0ffee.inbox")));
        assertFalse(Files.exists(left.resolve("a1.0-00c0ffee.inbox")), "what belongs to a dead process may go");
    }

    @Test
    void shouldJudgeByBootAndStartAndOnlyWhereThePidCounts() {
        assertFalse(alive.isDead());
        assertTrue(dead.isDead());
        assertTrue(recordOf(alive.pid(), "ticks 1").isDead());
        assertFalse(
                new OwnerRecord(dead.pid(), dead.start(), dead.host(), dead.bootId(), "pid:[1]").isDead(),
                "another container");
        assertFalse(recordOf(alive.pid(), "unknown").isDead());
    }

    private OwnerRecord ofAnotherBoot(String host, String pidNamespace) {
        return new OwnerRecord(alive.pid(), alive.start(), host, "another-boot", pidNamespace);
    }

    @Test
    void shouldTakeAProcessOfAnotherBootForDeadOnlyIfItRanOnThisHost() {
        assumeTrue(!alive.host().equals("unknown"), "this host has no name or no machine id");
        assertTrue(ofAnotherBoot(alive.host(), alive.pidNamespace()).isDead());
        assertFalse(ofAnotherBoot("another 1234", alive.pidNamespace()).isDead(), "a directory that hosts share");
        assertFalse(ofAnotherBoot("unknown", alive.pidNamespace()).isDead());
        assertFalse(ofAnotherBoot(alive.host(), "pid:[1]").isDead(), "a container, perhaps with a boot id of its own");
    }

    @Test
    void shouldKeepTheFilesOfAnotherHost() throws Exception {
        String stem = "a1.0-00c0ffee";
        Path left = leave("other", stem, ofAnotherBoot("another 1234", alive.pidNamespace()), stem + ".inbox");
        joinAndLeave();
        assertTrue(Files.exists(left.resolve(stem + ".owner")));
        assertTrue(Files.exists(left.resolve(stem + ".inbox")));
    }

    @Test
    void shouldTakeAZombieForDead() throws Exception {
        Process parentOfZombie = new ProcessBuilder("sh", "-c", "sleep 0.01 & exec sleep 60").start();
        try {
            long deadlineNs = System.nanoTime() + Duration.ofSeconds(30).toNanos();
            ProcessHandle child = null;
            while (child == null && System.nanoTime() < deadlineNs) {
                child = parentOfZombie.children().findFirst().orElse(null);
            }
            assertTrue(child != null, "the child did not start");
            OwnerRecord record = recordOf(child.pid(), "ticks 0");
            while (!record.isDead() && System.nanoTime() < deadlineNs) {
                Thread.onSpinWait();
            }
            assertTrue(record.isDead());
        } finally {
            parentOfZombie.destroyForcibly().waitFor();
        }
    }

    @Test
    void shouldDeleteOnlyNamesOfItsOwnPattern() throws Exception {
        Path left = leave("dead", "a1.0-00c0ffee", dead, "a1.0-00c0ffee.inbox", "a1.0-00c0ffee.txt", "precious");
        joinAndLeave();
        assertTrue(Files.exists(left.resolve("precious")));
        assertTrue(Files.exists(left.resolve("a1.0-00c0ffee.txt")));
        assertFalse(Files.exists(left.resolve("a1.0-00c0ffee.inbox")));
    }

    @Test
    void shouldNotFollowLinks() throws Exception {
        Path elsewhere = leave("dead", "a1.0-00c0ffee", dead, "a1.0-00c0ffee.inbox");
        Path moved = Files.move(elsewhere, parent.resolve("elsewhere"));
        Files.createSymbolicLink(elsewhere, moved);
        joinAndLeave();
        assertTrue(Files.exists(moved.resolve("a1.0-00c0ffee.inbox")));
    }

    @Test
    void shouldRemoveOrphansOnlyWhenTheyAreOld() throws Exception {
        Path young = Files.createDirectory(parent.resolve("madeleine-young"));
        Path old = Files.createDirectory(parent.resolve("madeleine-old"));
        makeOld(Files.createFile(old.resolve("a1.0-00c0ffee.new")));
        makeOld(old);
        joinAndLeave();
        assertTrue(Files.exists(young));
        assertFalse(Files.exists(old));
    }

    @Test
    void shouldRemoveOldOrphansAmongTheFilesOfTheLiving() throws Exception {
        Path session = leave("live", "a1.0-00c0ffee", alive, "a1.0-00c0ffee.inbox", "b2.0-00c0ffee.new");
        makeOld(Files.createFile(session.resolve("c3.0-00c0ffee.new")));
        makeOld(session.resolve("a1.0-00c0ffee.inbox"));
        joinAndLeave();
        assertTrue(Files.exists(session.resolve("a1.0-00c0ffee.inbox")), "its owner lives");
        assertTrue(Files.exists(session.resolve("b2.0-00c0ffee.new")), "it is young");
        assertFalse(Files.exists(session.resolve("c3.0-00c0ffee.new")));
    }

    @Test
    void shouldRemoveOldProbesOfProcessesThatWereKilled() throws Exception {
        Path young = SessionDirectory.probe(parent);
        Path old = SessionDirectory.probe(parent);
        Path precious = Files.createFile(parent.resolve("madeleine-mine.new"));
        Path trap = Files.createFile(parent.resolve("trap"));
        Path link = Files.createSymbolicLink(parent.resolve("madeleine-12345.new"), trap);
        makeOld(old);
        makeOld(precious);
        makeOld(trap);
        joinAndLeave();
        assertTrue(Files.exists(young));
        assertFalse(Files.exists(old));
        assertTrue(Files.exists(precious), "it is no probe");
        assertTrue(Files.exists(link));
    }

    private static void makeOld(Path file) throws IOException {
        Files.setLastModifiedTime(file, FileTime.from(Instant.now().minusSeconds(3600)));
    }

    @Test
    void shouldRefuseADirectoryThatOthersMayEnter() throws Exception {
        Path open = Files.createDirectory(parent.resolve("madeleine-now"));
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
        String message = assertThrows(SessionException.class, () -> SessionDirectory.join(parent, "now", SELF))
                .getMessage();
        assertTrue(message.contains("expected") || message.contains("rwxrwxrwx"), message);
        assertTrue(message.contains("madeleine.tm.sci.directory"), message);
    }

    @Test
    void shouldRefuseALinkInTheDirectorysPlace() throws Exception {
        Path trap = Files.createDirectory(parent.resolve("trap"));
        Files.setPosixFilePermissions(trap, PosixFilePermissions.fromString("rwx------"));
        Files.createSymbolicLink(parent.resolve("madeleine-now"), trap);
        assertThrows(SessionException.class, () -> SessionDirectory.join(parent, "now", SELF));
    }

    @Test
    void shouldPassByWhatAnotherUserHasMade() throws Exception {
        UserPrincipal other;
        Path first = Files.createDirectory(parent.resolve("madeleine-now"));
        Path link = Files.createSymbolicLink(parent.resolve("madeleine-now.2"), parent);
        try {
            other = parent.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("nobody");
            Files.setOwner(first, other);
            Files.getFileAttributeView(link, FileOwnerAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                    .setOwner(other);
        } catch (IOException e) {
            assumeTrue(false, "this user may not give files away: " + e);
        }
        try (SessionDirectory one = SessionDirectory.join(parent, "now", SELF);
                SessionDirectory two = SessionDirectory.join(parent, "now", SELF)) {
            assertEquals(parent.resolve("madeleine-now.3"), one.path());
            assertEquals(one.address().directoryId(), two.address().directoryId());
        }
        assertTrue(Files.exists(first), "it is not ours to remove");
        assertFalse(Files.exists(parent.resolve("madeleine-now.3")));
    }

    @Test
    void shouldStayUntilTheLastOneLeaves() {
        SessionDirectory first = SessionDirectory.join(parent, "now", SELF);
        SessionDirectory second = SessionDirectory.join(parent, "now", SELF);
        assertNotEquals(first.stem(), second.stem(), "a process that comes back finds nothing in its way");
        assertEquals(first.address().directoryId(), second.address().directoryId());
        first.close();
        assertTrue(Files.exists(second.file(SessionDirectory.OWNER)));
        second.close();
        assertFalse(Files.exists(second.path()));
    }

    @Test
    void shouldCarryIdentitiesThroughNames() {
        FileStem stem = new FileStem(new ProcessIdentity(-1L, Integer.MAX_VALUE), -1);
        assertEquals("ffffffffffffffff.2147483647-ffffffff", stem.toString());
        assertEquals(FileStem.MAX_LENGTH, stem.toString().length());
        assertEquals(stem, FileStem.parse(stem.toString()).orElseThrow());
        assertTrue(FileStem.parse("../../etc.0-00000000").isEmpty());
        assertTrue(FileStem.parse("1.99999999999-00000000").isEmpty());
        assertTrue(FileStem.isOurs(stem + ".bell"));
        assertFalse(FileStem.isOurs(stem + ".bell.txt"));
    }

    @Test
    void shouldTellWhyAPeerCannotBeReached() {
        FileStem stem = new FileStem(SELF, 7);
        SciAddress here = new SciAddress("boot", "1:2", stem, "/dev/shm/madeleine-x");
        assertEquals(here, SciAddress.parse(here.toString()).orElseThrow());
        assertTrue(here.unreachable(here).isEmpty());
        assertEquals(
                "it runs on another host",
                here.unreachable(new SciAddress("other", "1:2", stem, "/dev/shm/madeleine-x"))
                        .orElseThrow());
        String reason = here.unreachable(new SciAddress("boot", "1:3", stem, "/tmp/madeleine-x"))
                .orElseThrow();
        assertTrue(reason.contains("/tmp/madeleine-x") && reason.contains("madeleine.tm.sci.directory"), reason);
        assertTrue(SciAddress.parse("tcp://somewhere").isEmpty());
    }
}
