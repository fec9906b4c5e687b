package io.madeleine.pmm.faults;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PostingLink;

/**
 * A link whose network may hold memory that was sent, with faults. It posts nothing to receive, since what arrives is
 * held back.
 *
 * <p>Threading: as the link that it decorates.
 */
final class FaultyPostingLink extends FaultyDynamicLink implements PostingLink {
    private final PostingLink posting;

    FaultyPostingLink(FaultyConnection connection, DynamicLink inner, DelayedStream stream) {
        super(connection, inner, stream);
        this.posting = (PostingLink) inner;
    }

    @Override
    public void expect(BufferGroup blocks) {
        // it may ignore what will be received
    }

    @Override
    public int retract() {
        return LinkStatus.COMPLETE;
    }

    @Override
    public boolean holdsMemory() {
        return posting.holdsMemory();
    }
}
