package io.madeleine.tm.sci;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.TransmissionLink;
import io.madeleine.tm.sci.Mortal.Step;
import io.madeleine.tm.sci.link.SciConnection;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Process after process dies between two steps of the protocol; the one that survives them all keeps its connection to
 * another, hears of each death, and holds in the end what it held in the beginning.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class DeathsIT {
    private static final int ROUNDS = Boolean.getBoolean("thorough") ? 48 : 1;
    private static final long SURVIVOR = 1000;
    private static final long OTHER = 2000;
    private static final int MOST_SLOTS = 8;

    @TempDir
    Path directory;

    private final SplittableRandom random = new SplittableRandom(41);
    private final Map<Step, Integer> connected = new EnumMap<>(Step.class);
    private Side survivor;
    private Side other;
    private Side.Pair lasting;
    private int talks;

    /** What a process holds of the system. */
    private record Holdings(long mappings, long descriptors, int peers) {}

    @Test
    void shouldHoldNothingOfAThousandDeadAndServeTheLiving() throws Exception {
        try (Side one = Side.open(directory, SURVIVOR, Mortal.SETTINGS);
                Side two = Side.open(directory, OTHER, Mortal.SETTINGS)) {
            survivor = one;
            other = two;
            lasting = Side.Pair.of(survivor, other, "lasting");
            for (Step step : Step.values()) {
                outlive(step); // what is made once and kept is there after this
            }
            Holdings before = holdings();
            for (int round = 0; round < ROUNDS; round++) {
                for (Step step : Step.values()) {
                    outlive(step);
                    assertHolds(before, step);
                }
            }
            for (Step step : Step.values()) {
                if (!step.isBeforeTheConnection()) {
                    assertTrue(connected.getOrDefault(step, 0) > 0, "never connected: " + step);
                }
            }
            assertTrue(
                    files().size() <= 2 * 3 + 3 + ROUNDS + 1, files()::toString); // own, the last dead's, unnamed ones
            age();
        }
        assertFalse(Files.exists(session()), "the last one out removes what the dead have left");
    }

    private Path session() {
        return directory.resolve("madeleine-" + Side.SESSION);
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(session())) {
            return files.toList();
        }
    }

    /** Files that never got an owner are removed when they are old. */
    private void age() throws IOException {
        for (Path file : files()) {
            Files.setLastModifiedTime(file, FileTime.from(Instant.now().minusSeconds(3600)));
        }
    }

    private Holdings holdings() throws IOException {
        String path = directory.toString();
        try (Stream<String> mappings = Files.lines(Path.of("/proc/self/maps"));
                Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return new Holdings(
                    mappings.filter(line -> line.contains(path)).count(),
                    descriptors.count(),
                    ((SciAdapter) survivor.adapter).peers().count());
        }
    }

    private void assertHolds(Holdings expected, Step step) throws IOException {
        long deadlineNs = System.nanoTime() + Side.PATIENCE_NS;
        Holdings found = holdings();
        while (!found.equals(expected) && System.nanoTime() < deadlineNs) {
            survivor.round();
            other.round();
            found = holdings();
        }
        assertEquals(expected, found, "after a death " + step);
    }

    private void outlive(Step step) throws Exception {
        boolean initiator = switch (step) {
            case BEFORE_ITS_OFFER_HAS_A_NAME, AFTER_ITS_OFFER -> true;
            case BEFORE_IT_ANSWERS, AFTER_ITS_CHALLENGE -> false;
            default -> random.nextBoolean();
        };
        long id = random.nextBoolean() ? 1 : 3000; // who has the lower one dials
        Process process = start(step, initiator, id);
        try (BufferedReader output = process.inputReader()) {
            String address = output.readLine();
            assertEquals(step.isBeforeTheAddress(), address == null, step + " died too early, or too late");
            if (address != null) {
                meet(step, process, id, address, !initiator);
            }
        } finally {
            process.destroyForcibly().waitFor();
        }
        talk();
    }

    private Process start(Step step, boolean initiator, long id) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xmx32m",
                Mortal.class.getName(),
                directory.toString(),
                Long.toString(id),
                step.name(),
                Boolean.toString(initiator),
                Long.toString(SURVIVOR),
                survivor.adapter.address()));
        return new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private void meet(Step step, Process process, long id, String address, boolean initiator) throws Exception {
        var channel = survivor.adapter.openChannel(Mortal.CHANNEL);
        CompletableFuture<ProtocolConnection> future = channel.connect(survivor.request(id, address, initiator));
        if (step.isBeforeHello()) {
            process.waitFor();
            survivor.round();
            channel.close(); // as the session does, which hears of the death from the launcher
        }
        while (!future.isDone()) {
            if (survivor.round() == 0) {
                assertFalse(survivor.sleepIsLost(), "it did not hear of a death " + step);
            }
        }
        if (future.isCompletedExceptionally()) {
            assertRefused(step, future);
        } else {
            connected.merge(step, 1, Integer::sum);
            use(step, process, (SciConnection) future.join());
        }
        channel.close();
        survivor.round();
    }

    private static void assertRefused(Step step, CompletableFuture<?> future) {
        try {
            future.join();
            fail("refused and not refused");
        } catch (CompletionException e) {
            String reason = e.getCause().getMessage();
            assertTrue(
                    reason.contains("its process ended")
                            || reason.contains("has it ended?")
                            || step.isBeforeHello() && reason.contains("its channel was closed"),
                    step + ": " + reason);
        }
    }

    /** Sends and takes until the death is known. */
    private void use(Step step, Process process, SciConnection connection) throws Exception {
        assertTrue(connection.slot() < MOST_SLOTS, "slots are used up");
        Mortal.Taker taker = new Mortal.Taker(connection);
        Mortal.Feeder feeder = new Mortal.Feeder(connection);
        connection.start(taker);
        connection.receiveInterest(!step.needsADeafPeer());
        long killNs = System.nanoTime() + random.nextInt(20_000_000);
        while (taker.lost().isEmpty()) {
            boolean idle = !feeder.feed() && survivor.round() == 0;
            if (step == Step.ANYWHERE && System.nanoTime() > killNs) {
                process.destroyForcibly();
            } else if (idle && step != Step.ANYWHERE) {
                assertFalse(survivor.sleepIsLost(), "it did not hear of a death " + step);
            }
        }
        assertEquals(step.isOrderly() ? "true it closed the connection" : "false its process ended", taker.lost());
        taker.onReadable(); // what was sent to its end before
        for (TransmissionLink link : connection.links()) {
            assertTrue(link.front() == LinkStatus.CLOSED || link.skip(1) == 0, step + " " + link.front());
        }
        if (step == Step.AFTER_FINISH) {
            process.waitFor();
            while (!feeder.isClosed()) {
                survivor.round(); // it had finished sending; that it does not receive either is known from its end
            }
        }
        assertTrue(feeder.isClosed());
        connection.close();
    }

    /** The living still hear each other. */
    private void talk() {
        SciConnectionTest.sendLong(lasting.leftShort(), talks, talks);
        survivor.round();
        other.round();
        assertEquals(talks, SciConnectionTest.receiveLong(lasting.rightShort()));
        talks++;
    }
}
