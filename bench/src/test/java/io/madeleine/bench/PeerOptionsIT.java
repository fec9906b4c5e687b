package io.madeleine.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.typesafe.config.Config;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What {@code mad perf} can be told of networks, peers and buffers, with real processes; the figures are not judged.
 */
class PeerOptionsIT {
    private static final boolean THOROUGH = Boolean.getBoolean("thorough");

    /** Each with each pattern; networks and peers share the sizes between them, but in the thorough run. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            sci | grpc-tcp,grpc-uds-bidi | 8
            tcp | grpc-uds,grpc-tcp-bidi | 5000
            """)
    void shouldMeasureRemoteServiceRequestsBesideGrpc(String network, String peers, String size) {
        List<String> sizes = THOROUGH ? List.of("8", "5000") : List.of(size);
        PerfCall run =
                PerfCall.of("--protocol " + network + " --pattern rsr,rsr-vthread,rsr-typed,rsr-typed-rate --sizes "
                        + String.join(",", sizes) + " --rounds " + (THOROUGH ? 2 : 1)
                        + " --seconds 0.05 --json - --peers " + peers);
        assertEquals(0, run.code(), run.err());
        assertEquals(4 * sizes.size(), run.of("protocol", network).size(), run.err());
        for (String peer : peers.split(",")) {
            int patterns = peer.endsWith("-bidi") ? 3 : 4;
            assertEquals(patterns * sizes.size(), run.of("peer", peer).size(), peer + "\n" + run.err());
        }
    }

    /** What stands behind a colon is carried to both processes, and is part of the row's name. */
    @Test
    void shouldMeasureNetworksAndPeersWithAnArgument() {
        PerfCall run = PerfCall.of("--protocol sci:two-copies --peers c-shm:single-copy,netty:nio,openmpi:two-copies"
                + " --sizes 100000 --pattern latency --rounds 1 --seconds 0.05 --json -");
        assertEquals(0, run.code(), run.err());
        List<Config> sci = run.of("protocol", "sci:two-copies");
        assertEquals(1, sci.size(), run.err());
        assertEquals("sci/regular", sci.getFirst().getString("transmissionModule"));
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

    /** One of the networks with an argument, which processes without a session have to be told, too. */
    @Test
    void shouldMeasureTheLinksBelowTheChannel() {
        PerfCall run = PerfCall.of("--protocol sci,tcp:nio --layers --sizes 8,70001 --rounds 1 --seconds 0.05"
                + " --pattern latency,rate --json -");
        assertEquals(0, run.code(), run.err());
        for (String protocol : List.of("sci", "tcp:nio")) {
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
