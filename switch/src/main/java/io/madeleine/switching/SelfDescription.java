package io.madeleine.switching;

import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * The receiver's side of {@link BlockDescriptor}: the expected and the received descriptor.
 *
 * <p>Threading: confined to the thread that unpacks.
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
        return "the receiver unpacks " + wanted() + ", but the sender packed " + packed();
    }

    /** The expected block, as text. */
    String wanted() {
        return BlockDescriptor.describe(expected, modules);
    }

    /** The received block, as text. */
    String packed() {
        return BlockDescriptor.describe(found, modules);
    }
}
