package io.madeleine.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/**
 * The hot paths allocate nothing: JMH's own measure of bytes per operation, of the best iteration. What an operation
 * allocates shows in each of them; what happens once, such as linking a rare branch, or closing the session in the last
 * one, does not. The harness itself allocates a little per iteration, which is why the limit is not 0; the smallest
 * object there is has 16 B.
 */
@Tag("measures")
class AllocationGateTest {
    private static final double LIMIT_BYTES = 0.1;
    private static final String KEY = "gc.alloc.rate.norm";
    private static final TimeValue WARM_UP = TimeValue.milliseconds(300);
    private static final TimeValue MEASURED = TimeValue.milliseconds(200);

    /** Bytes per operation do not suffer from another JMH on the machine, unlike times. */
    @BeforeAll
    static void runBesideOthers() {
        System.setProperty("jmh.ignoreLock", "true");
    }

    private static Map<String, Double> bytesPerOperation(String benchmarks, String... parameter) throws Exception {
        var options = new OptionsBuilder()
                .include(benchmarks)
                .addProfiler(GCProfiler.class)
                .forks(1)
                .warmupIterations(3)
                .warmupTime(WARM_UP)
                .measurementIterations(3)
                .measurementTime(MEASURED)
                .jvmArgsPrepend("-Djmh.ignoreLock=true");
        for (int i = 0; i < parameter.length; i += 2) {
            options.param(parameter[i], parameter[i + 1]);
        }
        Collection<RunResult> results = new Runner(options.build()).run();
        Map<String, Double> found = new TreeMap<>();
        for (RunResult result : results) {
            found.put(
                    result.getParams().getBenchmark() + " " + parameters(result.getParams()),
                    result.getSecondaryResults().get(KEY).getStatistics().getMin());
        }
        return found;
    }

    private static String parameters(BenchmarkParams of) {
        return of.getParamsKeys().stream()
                .map(key -> key + "=" + of.getParam(key))
                .collect(Collectors.joining(" "));
    }

    private static void check(int expected, Map<String, Double> bytes) {
        assertEquals(expected, bytes.size(), bytes.toString());
        bytes.forEach((name, perOperation) ->
                assertTrue(perOperation <= LIMIT_BYTES, name + " allocates " + perOperation + " B per operation"));
    }

    @Test
    void shouldSelectAndCopyWithoutAllocating() throws Exception {
        check(1, bytesPerOperation("SelectionBenchmark.select", "bytes", "8"));
        check(1, bytesPerOperation("CopyBenchmark.blocksCopy", "bytes", "13"));
    }

    @Test
    void shouldQueueUpWithoutAllocating() throws Exception {
        check(1, bytesPerOperation("QueueBenchmark.addAndPoll"));
    }

    @Test
    void shouldDriveTheEngineWithoutAllocating() throws Exception {
        check(2, bytesPerOperation("EngineBenchmark"));
    }

    @Test
    void shouldSendAndReceiveSmallBlocksWithoutAllocating() throws Exception {
        int blocks = 8;
        Map<String, Double> perMessage = bytesPerOperation("PackBenchmark", "blocks", Integer.toString(blocks));
        perMessage.replaceAll((_, bytes) -> bytes / blocks);
        check(2, perMessage);
    }
}
