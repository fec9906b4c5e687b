package io.madeleine.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * The running processes of a test. Every wait is bounded; a wait in vain fails with all output and the stacks of all
 * threads. {@link #close} fails if something is left behind: a process, or a file of shared memory.
 *
 * <p>The files of shared memory go to a directory of the test's own, in memory where there is {@code /dev/shm}; nothing
 * may appear where they go by default.
 *
 * <p>Threading: confined to the test.
 */
abstract class Processes implements AutoCloseable {
    /** More than any program needs, on a busy machine. */
    static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final Path SHARED_MEMORY = Path.of("/dev/shm");
    private static final Duration STREAM_PATIENCE = Duration.ofSeconds(20);

    final Ranks ranks;
    final Path memory;
    private final List<Member> members = new ArrayList<>();

    /** A process and what it says. */
    record Member(ProcessHandle process, Output out, Output err) {}

    Processes(Ranks ranks) {
        this.ranks = ranks;
        try {
            this.memory = Files.isWritable(SHARED_MEMORY)
                    ? Files.createTempDirectory(SHARED_MEMORY, "mit-")
                    : Files.createTempDirectory("mit-");
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** The settings of the session, with the directory of shared memory. */
    List<String> settings() {
        List<String> all = new ArrayList<>(List.of("tm.sci.directory=" + memory));
        all.addAll(ranks.settings());
        return all;
    }

    void add(Member member) {
        members.add(member);
    }

    Output out(int rank) {
        return members.get(rank).out;
    }

    Output err(int rank) {
        return members.get(rank).err;
    }

    long pid(int rank) {
        return members.get(rank).process.pid();
    }

    /** Waits until a rank prints a line that starts so, and answers the rest of the line. */
    String awaitLine(int rank, String start) throws InterruptedException {
        Optional<String> line = out(rank).await(start, PATIENCE);
        if (line.isEmpty()) {
            giveUp("rank " + rank + " has not said \"" + start + "\"");
        }
        return line.orElseThrow().substring(start.length());
    }

    /** These processes, once each of the ranks has printed a line that starts so; all are ended if one does not. */
    Processes onceSaid(String start, int... saying) throws Exception {
        try {
            for (int rank : saying) {
                awaitLine(rank, start);
            }
            return this;
        } catch (InterruptedException | RuntimeException | AssertionError e) {
            try {
                close();
            } catch (IOException | RuntimeException | AssertionError alsoWrong) {
                e.addSuppressed(alsoWrong);
            }
            throw e;
        }
    }

    /** Kills a process as the system would; answers when that was, in milliseconds since the epoch. */
    long kill(int rank) {
        long nowMs = System.currentTimeMillis();
        members.get(rank).process.destroyForcibly();
        return nowMs;
    }

    /** Sends a signal, by name. */
    void signal(int rank, String name) throws IOException, InterruptedException {
        signal(members.get(rank).process, name);
    }

    private static void signal(ProcessHandle process, String name) throws IOException, InterruptedException {
        Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start();
        assertTrue(kill.waitFor(30, TimeUnit.SECONDS), "kill does not end");
    }

    /** Waits until all have ended. */
    Processes awaitAll() throws InterruptedException {
        return awaitAll(PATIENCE);
    }

    /** Waits until all have ended, no longer than that. */
    Processes awaitAll(Duration patience) throws InterruptedException {
        long deadlineNs = System.nanoTime() + patience.toNanos();
        for (int rank = 0; rank < members.size(); rank++) {
            if (!awaitEnd(members.get(rank).process, deadlineNs)) {
                giveUp("rank " + rank + " has not ended within " + patience.toSeconds() + " s");
            }
        }
        for (Member member : members) {
            if (!member.out.awaitEnd(STREAM_PATIENCE) || !member.err.awaitEnd(STREAM_PATIENCE)) {
                giveUp("process " + member.process.pid() + " has ended, but somebody holds its output open");
            }
        }
        return this;
    }

    private static boolean awaitEnd(ProcessHandle process, long deadlineNs) {
        while (process.isAlive()) {
            if (deadlineNs - System.nanoTime() <= 0) {
                return false;
            }
            LockSupport.parkNanos(5_000_000);
        }
        return true;
    }

    /** Whether a process runs. One that has ended may be listed for as long as nobody asks for its exit code. */
    static boolean isRunning(long pid) {
        try {
            return !Files.readString(Path.of("/proc/" + pid + "/stat")).contains(") Z ");
        } catch (IOException _) {
            return false; // gone
        }
    }

    /** The exit code of the whole: 0 only if that of all processes is. */
    abstract int exitCode() throws InterruptedException;

    /** Waits for the end, which has to be a good one: exit code 0, nothing on standard error. */
    void assertSuccess() throws InterruptedException {
        assertSuccess(PATIENCE);
    }

    /** As {@link #assertSuccess()}, no later than that. */
    void assertSuccess(Duration patience) throws InterruptedException {
        awaitAll(patience);
        for (int rank = 0; rank < members.size(); rank++) {
            if (!err(rank).lines().isEmpty()) {
                fail("rank " + rank + " wrote to standard error\n" + this);
            }
        }
        assertEquals(0, exitCode(), this::toString);
    }

    /** Fails, with all that can be known. */
    private void giveUp(String why) throws InterruptedException {
        for (Member member : members) {
            try {
                signal(member.process, "CONT");
                signal(member.process, "QUIT"); // has the JVM print its threads
            } catch (IOException e) {
                member.err.add("no signal can be sent: " + e.getMessage());
            }
        }
        Thread.sleep(1_500);
        fail(why + "\n" + this);
    }

    /** Ends what still runs, and fails if something was left behind. */
    @Override
    public void close() throws IOException {
        long deadlineNs = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        for (Member member : members) {
            member.process.destroyForcibly();
        }
        for (Member member : members) {
            assertTrue(
                    awaitEnd(member.process, deadlineNs),
                    () -> "process " + member.process.pid() + " cannot be killed\n" + this);
        }
        List<Path> left = filesIn(memory);
        deleteAll(memory);
        assertEquals(List.of(), left, () -> "files are left behind\n" + this);
        assertEquals(List.of(), strayFiles(), () -> "files are where they should not be\n" + this);
    }

    private static List<Path> filesIn(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(file -> !file.equals(directory)).sorted().toList();
        }
    }

    private static void deleteAll(Path directory) throws IOException {
        for (Path file : filesIn(directory).reversed()) {
            Files.deleteIfExists(file);
        }
        Files.deleteIfExists(directory);
    }

    /** Records of our processes among the files that other sessions may have in the default place. */
    private List<Path> strayFiles() throws IOException {
        if (!Files.isDirectory(SHARED_MEMORY)) {
            return List.of();
        }
        List<Path> stray = new ArrayList<>();
        try (Stream<Path> sessions = Files.list(SHARED_MEMORY)) {
            for (Path session : sessions.filter(
                            path -> path.getFileName().toString().startsWith("madeleine-"))
                    .toList()) {
                stray.addAll(recordsIn(session));
            }
        }
        return stray;
    }

    private List<Path> recordsIn(Path session) {
        try (Stream<Path> files = Files.list(session)) {
            return files.filter(file -> file.getFileName().toString().endsWith(".owner"))
                    .filter(this::isOurs)
                    .toList();
        } catch (IOException _) {
            return List.of(); // another's, or gone
        }
    }

    private boolean isOurs(Path record) {
        try {
            List<String> lines = Files.readAllLines(record);
            return members.stream().anyMatch(member -> lines.contains(Long.toString(member.process.pid())));
        } catch (IOException _) {
            return false; // gone
        }
    }

    /** Everything that was said. */
    @Override
    public String toString() {
        StringBuilder all = new StringBuilder(ranks.toString());
        for (int rank = 0; rank < members.size(); rank++) {
            Member member = members.get(rank);
            all.append("\n--- rank ").append(rank).append(", process ").append(member.process.pid());
            all.append(member.process.isAlive() ? ", alive" : ", ended");
            all.append("\n").append(member.out);
            all.append("\n--- its standard error\n").append(member.err);
        }
        return all.toString();
    }
}
