package io.madeleine.bench;

import io.madeleine.pmm.spi.Blocks;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;

/** Whether a copy of our own pays: {@link Blocks#copy} against {@link MemorySegment#copy}. */
public class CopyBenchmark extends AbstractBenchmark {
    private static final long LARGEST_BYTES = 8 << 10;

    private final MemorySegment source = Arena.ofAuto().allocate(LARGEST_BYTES, 64);
    private final MemorySegment target = Arena.ofAuto().allocate(LARGEST_BYTES, 64);

    /** The size of the block. */
    @Param({"8", "13", "16", "32", "64", "65", "128", "1024", "8192"})
    public long bytes;

    /** Madeleine's copy. */
    @Benchmark
    public MemorySegment blocksCopy() {
        Blocks.copy(source, 0, target, 0, bytes);
        return target;
    }

    /** The JDK's copy. */
    @Benchmark
    public MemorySegment segmentCopy() {
        MemorySegment.copy(source, 0, target, 0, bytes);
        return target;
    }
}
