package io.madeleine.bench.mpi;

import io.madeleine.bench.measure.Pattern;
import java.util.List;
import java.util.stream.Stream;

/**
 * All benchmarks. A new one is a class, and a line in the list of its file.
 *
 * <p>Threading: stateless.
 */
public final class MpiBenchmarks {
    private static final List<MpiBenchmark> ALL =
            Stream.concat(PointToPoint.ALL.stream(), Collectives.ALL.stream()).toList();

    private MpiBenchmarks() {}

    /** What they measure. */
    public static List<Pattern> patterns() {
        return ALL.stream().map(MpiBenchmark::pattern).toList();
    }

    /** Whether there is this pattern with messages of this size, this many processes, and these buffers. */
    public static boolean has(Pattern pattern, long bytes, int ranks, MpiBuffers buffers) {
        return ALL.stream()
                .anyMatch(each -> each.pattern().equals(pattern)
                        && bytes <= Integer.MAX_VALUE - Long.BYTES
                        && each.has(bytes, ranks, buffers));
    }

    static MpiBenchmark of(Pattern pattern) {
        return ALL.stream()
                .filter(each -> each.pattern().equals(pattern))
                .findFirst()
                .orElseThrow();
    }
}
