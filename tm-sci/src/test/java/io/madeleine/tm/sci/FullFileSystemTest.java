package io.madeleine.tm.sci;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.SessionException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** On a file system of a few pages; making one takes a superuser. */
class FullFileSystemTest {
    @TempDir
    Path directory;

    private SmallFileSystem fileSystem;

    @BeforeEach
    void mount() throws Exception {
        fileSystem = SmallFileSystem.mount(directory, "size=128k");
    }

    @AfterEach
    void unmount() throws Exception {
        if (fileSystem != null) {
            fileSystem.close();
        }
    }

    @Test
    void shouldSayWhatDoesNotFitAndWhichKeysMendIt() throws Exception {
        try (Side a = Side.open(directory, 1);
                Side b = Side.open(directory, 2)) {
            var end = a.connect("main", b, true);
            String message = assertThrows(CompletionException.class, end::join)
                    .getCause()
                    .getMessage();
            for (String part : new String[] {
                "No space left on device",
                "cannot reserve",
                directory.toString(),
                "bytes are free there",
                "madeleine.tm.sci.directory",
                "madeleine.tm.sci.short.ring"
            }) {
                assertTrue(message.contains(part), part + " is missing in: " + message);
            }
            try (var files = Files.list(directory.resolve("madeleine-" + Side.SESSION))) {
                assertEquals(6, files.count(), "nothing is left of what did not fit");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {124, 128})
    void shouldSayThatNotEvenAnInboxOrARecordFits(int usedKiB) throws Exception {
        Files.write(directory.resolve("filler"), new byte[usedKiB * 1024]);
        SessionException failure = assertThrows(SessionException.class, () -> Side.open(directory, 1));
        assertTrue(failure.getMessage().contains("No space left on device"), failure.getMessage());
        assertTrue(failure.getMessage().contains("madeleine.tm.sci.directory"), failure.getMessage());
        assertTrue(Files.notExists(directory.resolve("madeleine-" + Side.SESSION)));
    }

    @Test
    void shouldSayThatInodesAreUsedUpWhereThereIsRoom() throws Exception {
        StringBuilder failures = new StringBuilder();
        for (int inodes = 2; inodes <= 12; inodes++) {
            fileSystem.remount("size=4m,nr_inodes=" + inodes);
            try (Side _ = Side.open(directory, 1)) {
                break; // these are enough
            } catch (SessionException e) {
                failures.append(e.getMessage()).append('\n');
            }
        }
        assertTrue(
                failures.toString().matches("(?s).*bytes are free there, but perhaps no inodes.*"), failures::toString);
    }

    @Test
    void shouldSayThatAFileSystemIsReadOnly() throws Exception {
        fileSystem.remount("ro");
        SciPmm pmm = new SciPmm(SciConfig.from(Side.config(directory, "")));
        String reason = pmm.availability().text();
        assertFalse(pmm.availability().on());
        assertTrue(reason.contains("is not a writable directory"), reason);
        assertTrue(reason.contains("madeleine.tm.sci.directory"), reason);
        SessionException failure = assertThrows(SessionException.class, () -> Side.open(directory, 1));
        assertTrue(failure.getMessage().contains("Read-only file system"), failure.getMessage());
        assertTrue(failure.getMessage().contains("madeleine.tm.sci.directory"), failure.getMessage());
    }

    @Test
    void shouldSayThatNoMoreFilesFit() throws Exception {
        fileSystem.remount("nr_inodes=4"); // its root, the session's directory, a record; the inbox; no bell
        SessionException failure = assertThrows(SessionException.class, () -> Side.open(directory, 1));
        assertTrue(failure.getMessage().contains(SciConfig.ROOT + ".directory"), failure.getMessage());
        assertTrue(Files.notExists(directory.resolve("madeleine-" + Side.SESSION)));
    }
}
