package io.madeleine.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.madeleine.bench.peer.Peers;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** {@code mad perf --peers} with real processes; the figures themselves are not judged. */
class PeersIT {
    private record Run(int code, List<Config> rows, String err) {
        static Run of(String line) {
            StringWriter out = new StringWriter();
            StringWriter err = new StringWriter();
            int code = new PerfTool().run(new PrintWriter(out), new PrintWriter(err, true), line.split(" "));
            return new Run(
                    code, out.toString().lines().map(ConfigFactory::parseString).toList(), err.toString());
        }

        List<Config> of(String kind, String name) {
            return rows.stream()
                    .filter(row -> row.getString("kind").equals(kind))
                    .filter(row -> row.getString("name").equals(name))
                    .toList();
        }
    }

    @Test
    void shouldMeasureRemoteServiceRequestsBesideGrpc() throws IOException {
        String[] peers = {"grpc-tcp", "grpc-uds", "grpc-tcp-bidi", "grpc-uds-bidi"};
        Run run =
                Run.of("--protocol sci,tcp --pattern rsr,rsr-vthread,rsr-typed,rsr-typed-rate --sizes 8,5000 --rounds 2"
                        + " --seconds 0.05 --json - --peers " + String.join(",", peers));
        assertEquals(0, run.code(), run.err());
        assertEquals(8, run.of("protocol", "sci").size(), run.err());
        assertEquals(8, run.of("protocol", "tcp").size(), run.err());
        for (String peer : peers) {
            assertFalse(run.of("peer", peer).isEmpty(), peer + "\n" + run.err());
        }
    }

    /** All peers at once: those whose compiler or launcher is not installed say so, the others have their rows. */
    @Test
    void shouldGiveEachPeerItsRowsOrTheReasonWhyItHasNone() throws IOException {
        List<String> plain = Peers.words().stream()
                .filter(peer -> !peer.equals("fabric") && !peer.equals("fi_pingpong"))
                .toList();
        Run run = Run.of("--protocol sci --sizes 8,70001 --rounds 2 --seconds 0.05 --usage --machine --json - --peers "
                + String.join(",", plain));
        assertEquals(0, run.code(), run.err());
        assertEquals("machine", run.rows().getFirst().getString("kind"));
        assertEquals(2, run.rows().getFirst().getInt("rounds"));
        assertEquals(6, run.of("protocol", "sci").size());
        for (String peer : plain) {
            List<Config> absent = run.of("absent", peer);
            List<Config> rows = run.of("peer", peer);
            if (absent.isEmpty()) {
                int expected = peer.startsWith("grpc") ? 0 : peer.equals("c-udp") ? 1 : 6; // gRPC has requests only
                assertEquals(expected, rows.size(), peer + "\n" + run.err());
            } else {
                assertEquals(List.of(), rows);
                assertTrue(absent.getFirst().getString("reason").contains("apt-get install"), peer);
            }
            rows.forEach(PeersIT::check);
        }
        for (String peer : List.of("aeron-ipc", "aeron-udp", "nio", "netty")) {
            assertEquals(6, run.of("peer", peer).size(), peer + "\n" + run.err());
        }
        try (Stream<Path> left = Files.list(Path.of("/dev/shm"))) {
            assertEquals(
                    List.of(),
                    left.filter(path -> path.toString().contains("madeleine-perf-"))
                            .toList());
        }
    }

    /** libfabric in C, and its own program, by provider. Here via is off, for want of native access. */
    @Test
    void shouldMeasureLibfabricBesideTheNetworkOverIt() {
        List<String> providers = List.of("shm", "tcp;ofi_rxm", "net");
        Run run = Run.of("--protocol sci --peers fabric:"
                + String.join(",fabric:", providers)
                + ",fi_pingpong:shm --sizes 8,70001 --rounds 1"
                + " --seconds 0.05 --pattern latency,bandwidth --json -");
        assertEquals(0, run.code(), run.err());
        Assumptions.assumeTrue(run.of("absent", "fabric:shm").isEmpty(), run.err());
        for (String provider : providers) {
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
        Run run = Run.of(
                "--protocol sci --peers fabric:efa --sizes 8 --rounds 1 --seconds 0.05 --pattern latency --json -");
        assertEquals(0, run.code(), run.err());
        List<Config> absent = run.of("absent", "fabric:efa");
        Assumptions.assumeFalse(absent.isEmpty(), "there is an efa device here");
        String reason = absent.getFirst().getString("reason");
        Assumptions.assumeFalse(reason.contains("apt-get install"), reason);
        assertTrue(all.containsAll(List.of("fabric:shm", "fabric:tcp;ofi_rxm", "fabric:net")), all.toString());
        assertTrue(reason.startsWith("libfabric has no provider efa") && reason.contains("tcp;ofi_rxm, net"), reason);
        assertEquals(List.of(), run.of("peer", "fabric:efa"));
    }

    /** Whoever has round trips has these patterns, too; of ours, each memory is a row of its own, and a handler another. */
    @Test
    void shouldMeasureUntouchedBlocksAndComputingProcessesForAllThatHaveRoundTrips() {
        String peers = "nio,c-udp,c-shm,openmpi";
        Run run = Run.of("--protocol sci --sizes 1000 --pattern osu-latency,compute-1ms --rounds 1 --seconds 0.05"
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
        Run run = Run.of("--peers nio,carrier-pigeon");
        assertEquals(2, run.code());
        assertTrue(
                run.err()
                        .contains(
                                "--peers carrier-pigeon: there is no such peer, expected some of aeron-ipc,aeron-udp"),
                run.err());
    }

    /** What stands behind a colon is carried to both processes, and is part of the row's name. */
    @Test
    void shouldMeasureNetworksAndPeersWithAnArgument() {
        Run run = Run.of("--protocol sci:two-copies,tcp:nio --peers c-shm:single-copy,netty:nio,openmpi:two-copies"
                + " --layers --sizes 100000 --pattern latency --rounds 1 --seconds 0.05 --json -");
        assertEquals(0, run.code(), run.err());
        List<Config> sci = run.of("protocol", "sci:two-copies");
        assertEquals(2, sci.size(), run.err());
        sci.forEach(row -> assertEquals("sci/regular", row.getString("transmissionModule")));
        assertEquals(2, run.of("protocol", "tcp:nio").size(), run.err());
        assertEquals(1, run.of("peer", "c-shm:single-copy").size(), run.err());
        assertEquals(1, run.of("peer", "netty:nio").size(), run.err());
        assertEquals(
                1,
                run.of("peer", "openmpi:two-copies").size()
                        + run.of("absent", "openmpi:two-copies").size(),
                run.err());
    }

    /** Also compares wait modes in one run. */
    @Test
    void shouldTakeMessagesFromMemoryThatNoCacheHolds() {
        Run run = Run.of("--protocol tcp --peers c-tcp --wait spin,block --sizes 100 --pattern latency --rounds 1"
                + " --seconds 0.05 --machine --json - --buffers rotate");
        assertEquals(0, run.code(), run.err());
        Set<String> found = new TreeSet<>();
        for (Config row : run.rows().subList(1, run.rows().size())) {
            if (!row.getString("kind").equals("absent")) {
                assertEquals("rotate", row.getString("buffers"));
                found.add(row.getString("name") + " " + row.getString("wait"));
            }
        }
        assertTrue(found.containsAll(Set.of("tcp spin", "tcp block")), found.toString());
        assertEquals("spin,block", run.rows().getFirst().getString("wait"));
    }

    @Test
    void shouldTakeMessagesFromNewMemory() {
        Run run = Run.of("--protocol sci --peers nio,c-tcp --sizes 100000 --rounds 1 --seconds 0.05"
                + " --pattern latency,rate --json - --buffers fresh");
        assertEquals(0, run.code(), run.err());
        assertEquals(2, run.of("protocol", "sci").size());
        assertEquals(2, run.of("peer", "nio").size());
        assertEquals("fresh", run.of("peer", "nio").getFirst().getString("buffers"));
    }

    @Test
    void shouldMeasureTheLinksBelowTheChannel() {
        Run run = Run.of("--protocol sci,tcp --layers --sizes 8,70001 --rounds 1 --seconds 0.05"
                + " --pattern latency,rate --json -");
        assertEquals(0, run.code(), run.err());
        for (String protocol : List.of("sci", "tcp")) {
            for (String layer : List.of("tm", "channel")) {
                List<Config> rows = run.of("protocol", protocol).stream()
                        .filter(row -> row.getString("layer").equals(layer))
                        .toList();
                assertEquals(4, rows.size(), protocol + " " + layer);
                rows.forEach(row -> assertTrue(row.getDouble("median") > 0));
            }
        }
    }
}
