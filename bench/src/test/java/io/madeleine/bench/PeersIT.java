package io.madeleine.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.typesafe.config.Config;
import io.madeleine.bench.peer.Peers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code mad perf --peers} with real processes; the figures themselves are not judged. */
class PeersIT {
    private static final boolean THOROUGH = Boolean.getBoolean("thorough");

    /** How many rows there are for who has messages: two sizes in each pattern. */
    private static final int ROWS = THOROUGH ? 6 : 4;

    private static final List<String> PROVIDERS = List.of("shm", "tcp;ofi_rxm", "net");

    private static PerfCall fabrics = new PerfCall(1, List.of(), "it has not run");

    /** libfabric in C, and its own program, by provider; one of them is not here. Two tests look at these rows. */
    @BeforeAll
    static void measureLibfabric() {
        fabrics = PerfCall.of("--protocol sci --peers fabric:"
                + String.join(",fabric:", PROVIDERS)
                + ",fabric:efa,fi_pingpong:shm --sizes 8,70001 --rounds 1"
                + " --seconds 0.05 --pattern latency,bandwidth --json -");
    }

    /**
     * All peers at once: those whose compiler or launcher is not installed say so, the others have their rows.
     * Bandwidth and rate are the same loop, and gRPC, of which one is enough here, has none of these patterns; so the
     * rest waits for the thorough run.
     */
    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldGiveEachPeerItsRowsOrTheReasonWhyItHasNone() throws Exception {
        List<String> plain = Peers.words().stream()
                .filter(peer -> !peer.equals("fabric") && !peer.equals("fi_pingpong"))
                .filter(peer -> THOROUGH || !peer.startsWith("grpc-") || peer.equals("grpc-tcp"))
                .toList();
        PerfCall run = PerfCall.of("--protocol sci --sizes 8,70001 --rounds 2 --seconds 0.05 --usage --machine --json -"
                + " --pattern " + (THOROUGH ? "latency,bandwidth,rate" : "latency,rate") + " --peers "
                + String.join(",", plain));
        assertEquals(0, run.code(), run.err());
        assertEquals("machine", run.rows().getFirst().getString("kind"));
        assertEquals(2, run.rows().getFirst().getInt("rounds"));
        assertEquals(ROWS, run.of("protocol", "sci").size());
        for (String peer : plain) {
            List<Config> absent = run.of("absent", peer);
            List<Config> rows = run.of("peer", peer);
            if (absent.isEmpty()) {
                assertEquals(rowsOf(peer), rows.size(), peer + "\n" + run.err());
            } else {
                assertEquals(List.of(), rows);
                assertTrue(absent.getFirst().getString("reason").contains("apt-get install"), peer);
            }
            rows.forEach(PeersIT::check);
        }
        for (String peer : List.of("aeron-ipc", "aeron-udp", "nio", "nio-udp", "netty")) {
            assertEquals(ROWS, run.of("peer", peer).size(), peer + "\n" + run.err());
        }
        awaitRemoval(folders());
    }

    /** How many rows a peer has: gRPC has requests only, one has round trips of short messages only. */
    private static int rowsOf(String peer) {
        return switch (peer) {
            case "c-shm-handler" -> 1;
            default -> peer.startsWith("grpc") ? 0 : ROWS;
        };
    }

    /** Here via is off, for want of native access. */
    @Test
    void shouldMeasureLibfabricBesideTheNetworkOverIt() {
        PerfCall run = fabrics;
        assertEquals(0, run.code(), run.err());
        Assumptions.assumeTrue(run.of("absent", "fabric:shm").isEmpty(), run.err());
        for (String provider : PROVIDERS) {
            List<Config> rows = run.of("peer", "fabric:" + provider);
            assertEquals(4, rows.size(), run.err());
            for (Config row : rows) { // the program checks the contents of its messages
                assertTrue(0 < row.getDouble("min"), row.toString());
                assertTrue(row.getDouble("median") <= row.getDouble("max"), row.toString());
            }
        }
        int expected = run.of("absent", "fi_pingpong:shm").isEmpty() ? 2 : 0;
        assertEquals(expected, run.of("peer", "fi_pingpong:shm").size(), run.err());
    }

    /** The bare name stands for all providers that are here; one that is not is told beside what there is. */
    @Test
    void shouldNameTheProvidersOfLibfabric() {
        List<String> all = Peers.expand("fabric");
        assertEquals(List.of("nio"), Peers.expand("nio"));
        PerfCall run = fabrics;
        assertEquals(0, run.code(), run.err());
        List<Config> absent = run.of("absent", "fabric:efa");
        Assumptions.assumeFalse(absent.isEmpty(), "there is an efa device here");
        String reason = absent.getFirst().getString("reason");
        Assumptions.assumeFalse(reason.contains("apt-get install"), reason);
        assertTrue(all.containsAll(List.of("fabric:shm", "fabric:tcp;ofi_rxm", "fabric:net")), all.toString());
        assertTrue(reason.startsWith("libfabric has no provider efa") && reason.contains("tcp;ofi_rxm, net"), reason);
        assertEquals(List.of(), run.of("peer", "fabric:efa"));
    }

    /**
     * Whoever has round trips has these patterns, too; of ours, each memory is a row of its own, and a handler another.
     */
    @Test
    void shouldMeasureUntouchedBlocksAndComputingProcessesForAllThatHaveRoundTrips() {
        String peers = "nio,c-udp,c-shm,c-shm-handler,openmpi";
        PerfCall run =
                PerfCall.of("--protocol sci --sizes 1000 --pattern osu-latency,compute-1ms --rounds 1 --seconds 0.05"
                        + " --json - --peers " + peers);
        assertEquals(0, run.code(), run.err());
        assertEquals(
                List.of(
                        "osu-latency of ",
                        "compute-1ms of ",
                        "osu-latency of native memory",
                        "osu-latency of heap arrays",
                        "compute-1ms of handler and wait"),
                run.of("protocol", "sci").stream()
                        .map(row -> row.getString("pattern") + " of "
                                + (row.hasPath("setup") ? row.getString("setup") : ""))
                        .toList());
        for (String peer : peers.split(",")) {
            int expected = run.of("absent", peer).isEmpty() ? 2 : 0;
            assertEquals(expected, run.of("peer", peer).size(), peer + "\n" + run.err());
        }
    }

    /** The folders of all measurements in shared memory; others may run at the same time. */
    private static List<Path> folders() throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/dev/shm"))) {
            return all.filter(path -> path.toString().contains("madeleine-perf-"))
                    .toList();
        }
    }

    /** A measurement that ends removes its folder; a folder that was left would stay. */
    private static void awaitRemoval(List<Path> seen) throws InterruptedException {
        long endNs = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
        for (Path folder : seen) {
            while (Files.exists(folder)) {
                assertTrue(System.nanoTime() - endNs < 0, folder + " was left");
                Thread.sleep(50);
            }
        }
    }

    private static void check(Config row) {
        assertTrue(0 < row.getDouble("min"), row.toString());
        assertTrue(row.getDouble("min") <= row.getDouble("median"), row.toString());
        assertTrue(row.getDouble("median") <= row.getDouble("max"), row.toString());
        assertTrue(row.getDouble("p99") <= row.getDouble("max"), row.toString());
        assertEquals(2, row.getDoubleList("rounds").size());
        assertEquals(2, row.getDoubleList("cpuPercent").size());
        assertFalse(row.hasPath("transmissionModule"));
    }

    @Test
    void shouldNameThePeersThereAreWhenOneIsUnknown() {
        PerfCall run = PerfCall.of("--peers nio,carrier-pigeon");
        assertEquals(2, run.code());
        assertTrue(
                run.err()
                        .contains(
                                "--peers carrier-pigeon: there is no such peer, expected some of aeron-ipc,aeron-udp"),
                run.err());
    }
}
