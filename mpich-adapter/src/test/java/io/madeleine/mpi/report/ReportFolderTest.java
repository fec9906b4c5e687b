package io.madeleine.mpi.report;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.mpi.report.ReportFolder.Entry;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which programs {@code mad report} finds by the number of a process. */
@Timeout(60)
class ReportFolderTest {
    @Test
    void shouldFindAProcessByAnyOfThoseAboveIt() throws IOException, InterruptedException {
        Process shell = new ProcessBuilder("sh", "-c", "sleep 60; true").start();
        try {
            Optional<ProcessHandle> below = Optional.empty();
            while (below.isEmpty()) {
                Thread.sleep(1);
                below = shell.children().findAny();
            }
            Entry entry = new Entry(below.get().pid(), 0, 1, Path.of("socket"));
            for (long pid : new long[] {
                below.get().pid(), shell.pid(), ProcessHandle.current().pid()
            }) {
                assertTrue(entry.isBelow(Set.of(pid, -1L)), "process " + pid);
            }
            assertFalse(entry.isBelow(Set.of(-1L)));
            Entry own = new Entry(ProcessHandle.current().pid(), 0, 1, Path.of("socket"));
            assertFalse(own.isBelow(Set.of(shell.pid())));
        } finally {
            shell.descendants().forEach(ProcessHandle::destroyForcibly);
            shell.destroyForcibly();
        }
    }
}
