package io.madeleine.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.typesafe.config.Config;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * What {@code mad perf} can be told of networks, peers and buffers, with real processes; the figures are not judged.
 */
class PeerOptionsIT {
    @Test
    void shouldMeasureRemoteServiceRequestsBesideGrpc() throws IOException {
        String[] peers = {"grpc-tcp", "grpc-uds", "grpc-tcp-bidi", "grpc-uds-bidi"};
        PerfCall run = PerfCall.of(
                "--protocol sci,tcp --pattern rsr,rsr-vthread,rsr-typed,rsr-typed-rate --sizes 8,5000 --rounds 2"
                        + " --seconds 0.05 --json - --peers " + String.join(",", peers));
        assertEquals(0, run.code(), run.err());
        assertEquals(8, run.of("protocol", "sci").size(), run.err());
        assertEquals(8, run.of("protocol", "tcp").size(), run.err());
        for (String peer : peers) {
            assertFalse(run.of("peer", peer).isEmpty(), peer + "\n" + run.err());
        }
    }

    /** What stands behind a colon is carried to both processes, and is part of the row's name. */
    @Test
    void shouldMeasureNetworksAndPeersWithAnArgument() {
        PerfCall run =
                PerfCall.of("--protocol sci:two-copies,tcp:nio --peers c-shm:single-copy,netty:nio,openmpi:two-copies"
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
        PerfCall run =
                PerfCall.of("--protocol tcp --peers c-tcp --wait spin,block --sizes 100 --pattern latency --rounds 1"
                        + " --seconds 0.05 --machine --json - --buffers rotate --set tm.tcp.no-delay=true --no-native");
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
        assertEquals("tm.tcp.no-delay=true --no-native", run.rows().getFirst().getString("settings"));
    }

    @Test
    void shouldTakeMessagesFromNewMemory() {
        PerfCall run = PerfCall.of("--protocol sci --peers nio,c-tcp --sizes 100000 --rounds 1 --seconds 0.05"
                + " --pattern latency,rate --json - --buffers fresh");
        assertEquals(0, run.code(), run.err());
        assertEquals(2, run.of("protocol", "sci").size());
        assertEquals(2, run.of("peer", "nio").size());
        assertEquals("fresh", run.of("peer", "nio").getFirst().getString("buffers"));
    }

    @Test
    void shouldMeasureTheLinksBelowTheChannel() {
        PerfCall run = PerfCall.of("--protocol sci,tcp --layers --sizes 8,70001 --rounds 1 --seconds 0.05"
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
