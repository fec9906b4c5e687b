package io.madeleine.bench;

import java.util.List;
import java.util.stream.LongStream;

/** A way for blocks through shared memory as {@code mad tune} measures it: by settings that send all of them that way. */
enum Mechanism {
    /** The ring. */
    SHORT("sci/short", 9, 15),

    /** The cells. */
    REGULAR("sci/regular", 9, 24),

    /** The single copy. */
    DMA("sci/dma", 13, 24);

    private final String id;
    private final int fromPower;
    private final int toPower;

    Mechanism(String id, int fromPower, int toPower) {
        this.id = id;
        this.fromPower = fromPower;
        this.toPower = toPower;
    }

    /** The transmission module. */
    String id() {
        return id;
    }

    /** What makes it take every block of the sizes below. */
    List<String> settings() {
        String longest = "tm.sci.short.max-block=";
        return switch (this) {
            case SHORT -> List.of(longest + "1 MiB", "tm.sci.dma.single-copy=off");
            case REGULAR -> List.of(longest + "0", "tm.sci.dma.single-copy=off");
            case DMA ->
                List.of(
                        longest + "0",
                        "tm.sci.dma.single-copy=on",
                        "tm.sci.dma.from=4 KiB",
                        "tm.sci.dma.to=unlimited",
                        "tm.sci.dma.shared-blocks=false");
        };
    }

    /** Whether messages of this size are measured. */
    boolean has(long bytes) {
        return bytes >= 1L << fromPower && bytes <= 1L << toPower;
    }

    /** All sizes that some mechanism is measured at: powers of two, of large ones every other. */
    static List<Long> sizes() {
        return LongStream.rangeClosed(SHORT.fromPower, DMA.toPower)
                .filter(power -> power <= SHORT.toPower || power % 2 == 0)
                .map(power -> 1L << power)
                .boxed()
                .toList();
    }
}
