package io.madeleine.switching;

import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * The receiver's side of {@link BlockDescriptor}: what it expects and what it finds.
 *
 * <p>Threading: confined to whoever unpacks.
 */
final class SelfDescription {
    private final List<TransmissionCapabilities> modules;
    private final MemorySegment expected = MemorySegment.ofArray(new byte[BlockDescriptor.BYTES]);
    private final MemorySegment found = MemorySegment.ofArray(new byte[BlockDescriptor.BYTES]);

    SelfDescription(List<TransmissionCapabilities> modules) {
        this.modules = modules;
    }

    void expect(long bytes, int number, SendMode send, ReceiveMode receive, int link) {
        BlockDescriptor.put(expected, bytes, number, send, receive, link);
    }

    MemorySegment found() {
        return found;
    }

    boolean isAsExpected() {
        return BlockDescriptor.equal(expected, found);
    }

    String difference() {
        return "unpacked is " + wanted() + ", packed was " + packed();
    }

    /** The block that is unpacked, in words. */
    String wanted() {
        return BlockDescriptor.describe(expected, modules);
    }

    /** The block that was packed, in words. */
    String packed() {
        return BlockDescriptor.describe(found, modules);
    }
}
