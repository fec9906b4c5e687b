package io.madeleine.testkit;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.StaticLink;
import io.madeleine.pmm.spi.TransmissionLink;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * Sends a series of packets over one link, never waiting.
 *
 * <p>Threading: confined.
 */
final class PacketSender {
    private final TransmissionLink link;
    private final PacketSeries series;
    private final BufferGroup group = new BufferGroup();
    private int next;
    private boolean underWay;
    private boolean waited;

    PacketSender(TransmissionLink link, PacketSeries series) {
        this.link = link;
        this.series = series;
    }

    /** Sends what can be sent now; true when the series is out. */
    boolean step() {
        while (next < series.count()) {
            int status = switch (link) {
                case StaticLink fixed -> sendFrom(fixed);
                case DynamicLink dynamic -> sendOver(dynamic);
            };
            if (status == LinkStatus.CLOSED) {
                throw new ContractViolation("the link closed before packet " + next);
            }
            if (status == LinkStatus.PENDING) {
                waited = true;
                return false;
            }
            next++;
        }
        return true;
    }

    /** Whether there was no room once. */
    boolean hasWaited() {
        return waited;
    }

    int sentCount() {
        return next;
    }

    private int sendFrom(StaticLink fixed) {
        long offset = fixed.claim();
        if (offset < 0) {
            return (int) offset;
        }
        Pattern.fill(next, 0, fixed.memory(), offset, series.bytes(next));
        fixed.commit(series.header(next));
        VarHandle.fullFence();
        fixed.announce();
        return LinkStatus.COMPLETE;
    }

    private int sendOver(DynamicLink dynamic) {
        if (!underWay) {
            addBlocks(series.bytes(next));
            underWay = true;
        }
        int status = dynamic.send(series.header(next), group, 0);
        if (status == LinkStatus.COMPLETE) {
            underWay = false;
            if (!group.isEmpty()) {
                throw new ContractViolation("complete with " + group.remainingBytes() + " bytes left");
            }
        }
        return status;
    }

    /** The payload in up to three blocks, native and heap. */
    private void addBlocks(long bytes) {
        group.clear();
        long third = bytes / 3;
        add(Arena.ofAuto().allocate(Math.max(1, third), 8), 0, third);
        add(MemorySegment.ofArray(new byte[(int) third]), third, third);
        long rest = bytes - 2 * third;
        add(Arena.ofAuto().allocate(Math.max(1, rest), 8), 2 * third, rest);
    }

    private void add(MemorySegment block, long position, long bytes) {
        Pattern.fill(next, position, block, 0, bytes);
        group.add(block, 0, bytes);
    }
}
