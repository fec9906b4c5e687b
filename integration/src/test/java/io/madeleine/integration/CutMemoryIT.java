package io.madeleine.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.api.IncomingMessage;
import io.madeleine.api.Session;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Somebody of the same user cuts the files short by which processes at full speed share their memory. */
class CutMemoryIT {
    private Processes start() throws Exception {
        Processes processes = Ranks.of(2, Program.class)
                .over("sci")
                .with("session.close-timeout=1s")
                .optimizing()
                .start();
        return processes.onceSaid("warm", 0);
    }

    private static void cut(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(0);
        }
    }

    private static void assertLost(Processes processes) throws Exception {
        processes.awaitAll();
        for (int rank = 0; rank < 2; rank++) {
            List<String> ends = processes.out(rank).linesAfter("ended by ");
            assertEquals(1, ends.size(), processes::toString);
            assertTrue(ends.getFirst().startsWith("PeerFailedException"), processes::toString);
            assertFalse(processes.err(rank).toString().contains("InternalError"), processes::toString);
        }
        assertTrue(
                processes.toString().contains("cut short")
                        || processes.toString().contains("broke the"),
                processes::toString);
    }

    @Test
    void shouldLoseTheConnectionsOfAnInboxThatIsCutShort() throws Exception {
        try (Processes processes = start();
                Stream<Path> files = Files.walk(processes.memory)) {
            cut(files.filter(file -> file.toString().endsWith(".inbox"))
                    .findFirst()
                    .orElseThrow());
            assertLost(processes);
        }
    }

    @Test
    void shouldLoseTheConnectionWhoseFileIsCutShort() throws Exception {
        try (Processes processes = start()) {
            cut(mapped(processes.pid(0), ".pair"));
            assertLost(processes);
        }
    }

    /** A file that has lost its name, by the memory of a process that has mapped it. */
    private static Path mapped(long pid, String ending) throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc", Long.toString(pid), "map_files"))) {
            for (Path file : files.toList()) {
                if (Files.readSymbolicLink(file).toString().contains(ending)) {
                    return file;
                }
            }
        } catch (AccessDeniedException e) {
            assumeTrue(false, "this user may not look into /proc/PID/map_files: " + e);
        } catch (FileSystemException e) {
            assumeTrue(false, "this system does not show mapped files: " + e);
        }
        throw new AssertionError("process " + pid + " has mapped nothing that ends with " + ending);
    }

    /** Small and large messages to and fro until that fails. */
    static final class Program {
        private static final int WARM_ROUNDS = 8_000;

        public static void main(String[] args) {
            try (Session session = Session.open(args)) {
                MemorySegment small = MemorySegment.ofArray(new byte[8]);
                MemorySegment large = MemorySegment.ofArray(new byte[20_000]);
                try {
                    talk(session, small, large);
                } catch (InternalError e) {
                    e.printStackTrace(System.out); // of a call under way: what comes next says what has happened
                    session.channel().beginUnpacking();
                }
            } catch (Throwable e) {
                System.out.println("ended by " + e.getClass().getSimpleName() + " " + e.getMessage());
            }
        }

        private static void talk(Session session, MemorySegment small, MemorySegment large) {
            for (int round = 0; ; round++) {
                if (session.rank() == 0) {
                    send(session, small, large);
                    receive(session, small, large);
                } else {
                    receive(session, small, large);
                    send(session, small, large);
                }
                if (round == WARM_ROUNDS) {
                    System.out.println("warm");
                }
            }
        }

        private static void send(Session session, MemorySegment small, MemorySegment large) {
            session.channel()
                    .beginPacking(1 - session.rank())
                    .pack(small)
                    .pack(large)
                    .endPacking();
        }

        private static void receive(Session session, MemorySegment small, MemorySegment large) {
            IncomingMessage in = session.channel().beginUnpacking();
            in.unpack(small);
            in.unpack(large);
            in.endUnpacking();
        }
    }
}
