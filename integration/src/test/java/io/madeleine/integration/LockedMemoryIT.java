package io.madeleine.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.api.Session;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Processes whose limit of locked memory is real, and smaller than their blocks; each registration locks its pages. */
class LockedMemoryIT {
    private static final Path LIMIT = Path.of("/usr/bin/prlimit");
    private static final Path PRIVILEGES = Path.of("/usr/bin/setpriv");
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @BeforeEach
    void theLimitCanBeSet() {
        assumeTrue(
                "root".equals(System.getProperty("user.name")), "the limit may be below these: setting it needs root");
        assumeTrue(
                Files.isExecutable(LIMIT) && Files.isExecutable(PRIVILEGES), "prlimit, setpriv: util-linux is missing");
    }

    private static Ranks limited(String provider, int kib) throws IOException {
        List<String> command = List.of(
                LIMIT.toString(),
                "--memlock=" + kib * 1024 + ":" + kib * 1024,
                PRIVILEGES.toString(),
                "--bounding-set=-ipc_lock", // root has no limit
                "--inh-caps=-ipc_lock");
        return Fabric.over(provider, 2, Program.class).with("tm.via.pin=mlock").prefixed(_ -> command);
    }

    @ParameterizedTest
    @CsvSource({"shm, 1024", "tcp;ofi_rxm, 2048", "net, 4096"})
    void shouldExchangeBlocksThatCannotBeLocked(String provider, int kib) throws Exception {
        try (Processes processes = limited(provider, kib).start()) {
            processes.assertSuccess(PATIENCE);
            for (int rank = 0; rank < 2; rank++) {
                long locked = Long.parseLong(
                        processes.out(rank).linesAfter("locked KiB ").getFirst());
                assertTrue(locked > 0 && locked <= kib, processes::toString);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("providers")
    void shouldSayWhatTheLimitIsWhereNoConnectionFits(String provider) throws Exception {
        try (Processes processes = limited(provider, 64).start()) {
            processes.awaitAll(PATIENCE);
            for (int rank = 0; rank < 2; rank++) {
                String said = processes.err(rank).toString();
                assertTrue(
                        said.contains("cannot be locked in memory: the limit of locked memory is 64 KiB; raise it with"
                                + " ulimit -l"),
                        processes::toString);
            }
        }
    }

    /** What via/registered needs beyond what a connection takes when it opens. */
    @ParameterizedTest
    @MethodSource("limitsOfMediumBlocks")
    void shouldSayWhatTheLimitIsWhereBuffersOfMediumBlocksDoNotFit(String provider, int kib) throws Exception {
        Ranks ranks = limited(provider, kib)
                .with("tm.via.registered.from=2KiB")
                .with("tm.via.registered.message=1MiB")
                .with("tm.via.rdma.from=off");
        try (Processes processes = ranks.start()) {
            processes.awaitAll(PATIENCE);
            String said = processes.err(0).toString() + processes.err(1);
            assertTrue(
                    said.contains("cannot be registered: 1048576 bytes cannot be locked in memory: the limit of locked"
                            + " memory is " + kib + " KiB; raise it with ulimit -l"),
                    processes::toString);
        }
    }

    private static Stream<Arguments> providers() {
        return Stream.concat(Cases.always("shm", "net"), Cases.thoroughly("tcp;ofi_rxm"));
    }

    private static Stream<Arguments> limitsOfMediumBlocks() {
        return Stream.concat(Cases.always("tcp;ofi_rxm, 2048"), Cases.thoroughly("shm, 1024", "net, 4096"));
    }

    static final class Program {
        private static final List<Integer> SIZES = List.of(8, 4_096, 65_536, 1 << 20, 16 << 20, 100, (9 << 20) + 1);

        public static void main(String[] args) throws Exception {
            try (Session session = Session.open()) {
                for (boolean isHeap : List.of(false, true)) {
                    for (int bytes : SIZES) {
                        exchange(session, bytes, isHeap);
                    }
                }
                System.out.println("locked KiB " + lockedKib());
            }
        }

        private static void exchange(Session session, int bytes, boolean isHeap) {
            MemorySegment[] blocks = IntStream.range(0, 2)
                    .mapToObj(_ -> isHeap ? MemorySegment.ofArray(new byte[bytes]) : session.allocate(bytes))
                    .toArray(MemorySegment[]::new);
            Channel channel = session.channel();
            int other = 1 - session.rank();
            Contents.fill(blocks[0], session.rank() + bytes);
            if (session.rank() == 0) {
                channel.send(other, blocks[0], SendMode.CHEAPER, ReceiveMode.CHEAPER);
                assertEquals(other, channel.receive(blocks[1], SendMode.CHEAPER, ReceiveMode.CHEAPER));
            } else {
                assertEquals(other, channel.receive(blocks[1], SendMode.CHEAPER, ReceiveMode.CHEAPER));
                channel.send(other, blocks[0], SendMode.CHEAPER, ReceiveMode.CHEAPER);
            }
            Contents.check(blocks[1], other + bytes, bytes + " bytes of rank " + other);
        }

        private static String lockedKib() throws Exception {
            return Files.readAllLines(Path.of("/proc/self/status")).stream()
                    .filter(line -> line.startsWith("VmLck:"))
                    .map(line -> line.replaceAll("[^0-9]", ""))
                    .findFirst()
                    .orElse("0");
        }
    }
}
