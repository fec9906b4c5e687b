package io.madeleine.testkit;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.StaticLink;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import java.lang.foreign.MemorySegment;

/**
 * A loop link with static buffers.
 *
 * <p>Threading: as {@link LoopReceiver}.
 */
final class LoopStaticLink extends LoopReceiver implements StaticLink {
    private final LoopSlots outgoing;
    private final MemorySegment memory;
    private final BufferGroup alone = new BufferGroup();
    private final LoopPipe incoming;
    private boolean claimed;

    LoopStaticLink(LoopConnection connection, TransmissionCapabilities capabilities, LoopSlots out, LoopPipe in) {
        super(connection, capabilities, in);
        this.outgoing = out;
        this.incoming = in;
        this.memory = out.memory();
    }

    @Override
    public long claim() {
        connection.sending().enter();
        try {
            if (claimed) {
                throw violation("claim while a buffer is claimed");
            }
            if (connection.isOverForSender()) {
                return LinkStatus.CLOSED;
            }
            long offset = outgoing.claim();
            outgoing.starving = offset < 0;
            claimed = offset >= 0;
            return claimed ? offset : LinkStatus.PENDING;
        } finally {
            connection.sending().leave();
        }
    }

    @Override
    public MemorySegment memory() {
        return memory;
    }

    @Override
    public void commit(long header) {
        connection.sending().enter();
        try {
            if (!claimed) {
                throw violation("commit without a claimed buffer");
            }
            connection.checkHeader(this, header);
            if (PacketHeader.payloadBytes(header) > capabilities().bufferBytes()) {
                throw violation("commit of " + PacketHeader.payloadBytes(header) + " bytes in a buffer of "
                        + capabilities().bufferBytes());
            }
            claimed = false;
            if (!connection.isOverForSender()) {
                outgoing.commit(header);
            }
        } finally {
            connection.sending().leave();
        }
    }

    @Override
    public boolean receiveWhole(MemorySegment block, long offset, long bytes) {
        if (bytes > incoming.deliverBytes) {
            return false;
        }
        alone.clear();
        alone.add(block, offset, bytes);
        return receive(alone, bytes) == bytes;
    }

    @Override
    public void announce() {
        connection.sent();
    }

    @Override
    public void abandon() {
        connection.sending().enter();
        try {
            if (!claimed) {
                throw violation("abandon without a claimed buffer");
            }
            claimed = false;
        } finally {
            connection.sending().leave();
        }
    }
}
