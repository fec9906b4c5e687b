package io.madeleine.tm.bip.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.stream.LongStream;

/** Runs a simulation with many seeds. A failure names its seed. */
final class Seeds {
    static final int COUNT = Integer.getInteger("madeleine.test.bip.seeds", 20_000);

    private Seeds() {}

    static void run(int seeds, LongConsumer scenario) {
        List<String> failures = new ArrayList<>();
        LongStream.range(0, seeds).forEach(seed -> {
            try {
                scenario.accept(seed);
            } catch (RuntimeException | AssertionError e) {
                if (failures.size() < 5) {
                    StackTraceElement[] trace = e.getStackTrace();
                    failures.add("seed " + seed + ": " + e + (trace.length == 0 ? "" : " at " + trace[0]));
                }
            }
        });
        assertEquals(List.of(), failures);
    }
}
