package io.madeleine.testkit;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.PostingLink;
import io.madeleine.pmm.spi.TransmissionCapabilities;

/**
 * A loop link that posts memory, as the link of a NIC does.
 *
 * <p>Threading: as {@link PostingLink}.
 */
final class LoopPostingLink extends LoopDynamicLink implements PostingLink {
    private final LoopPosts out;
    private final LoopPosts in;

    LoopPostingLink(
            LoopConnection connection,
            TransmissionCapabilities capabilities,
            LoopPosts out,
            LoopPosts in,
            long acceptBytes) {
        super(connection, capabilities, out, in, acceptBytes);
        this.out = out;
        this.in = in;
    }

    @Override
    public void expect(BufferGroup blocks) {
        connection.receiving().enter();
        try {
            if (!connection.isClosed()) {
                in.expect(blocks);
            }
        } finally {
            connection.receiving().leave();
        }
    }

    @Override
    public int retract() {
        connection.receiving().enter();
        try {
            return in.retract();
        } finally {
            connection.receiving().leave();
        }
    }

    @Override
    public boolean holdsMemory() {
        return out.holdsMemory();
    }
}
