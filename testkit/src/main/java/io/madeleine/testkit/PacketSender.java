package io.madeleine.testkit;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.OneStepLink;
import io.madeleine.pmm.spi.StaticLink;
import io.madeleine.pmm.spi.TransmissionLink;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.function.LongFunction;

/**
 * Sends a series of packets over one link, never waiting; every third packet in one step, if the link supports that.
 *
 * <p>Threading: confined.
 */
final class PacketSender {
    /**
     * Smaller blocks are not allocated from the session's memory: registering each with all modules would cost too
     * much.
     */
    private static final long LEAST_LENT_BYTES = 1024;

    private final TransmissionLink link;
    private final PacketSeries series;
    private final LongFunction<MemorySegment> memory;
    private final BufferGroup group = new BufferGroup();
    private int next;
    private boolean underWay;
    private boolean waited;

    PacketSender(TransmissionLink link, PacketSeries series) {
        this(link, series, PacketSender::ordinary);
    }

    /**
     * @param memory allocates blocks that a module may know, such as the session's memory
     */
    PacketSender(TransmissionLink link, PacketSeries series, LongFunction<MemorySegment> memory) {
        this.link = link;
        this.series = series;
        this.memory = memory;
    }

    private static MemorySegment ordinary(long bytes) {
        return Arena.ofAuto().allocate(bytes, 8);
    }

    /**
     * Sends as many packets as possible now.
     *
     * @return whether the whole series has been sent
     */
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

    /** Whether the link was full at least once. */
    boolean hasWaited() {
        return waited;
    }

    int sentCount() {
        return next;
    }

    private int sendFrom(StaticLink fixed) {
        if (next % 3 == 2 && fixed instanceof OneStepLink able && sendInOneStep(able)) {
            able.announce();
            return LinkStatus.COMPLETE;
        }
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

    private boolean sendInOneStep(OneStepLink able) {
        long bytes = series.bytes(next);
        MemorySegment block = ordinary(bytes + 1);
        Pattern.fill(next, 0, block, 1, bytes);
        return able.sendPacket(series.header(next), block, 1);
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
                throw new ContractViolation(
                        "send returned COMPLETE with " + group.remainingBytes() + " bytes left in the group");
            }
        }
        return status;
    }

    /**
     * Adds the payload in up to three blocks: from the given memory if it is large, on the heap, and in native memory.
     */
    private void addBlocks(long bytes) {
        group.clear();
        long third = bytes / 3;
        add(third >= LEAST_LENT_BYTES ? memory.apply(third) : ordinary(Math.max(1, third)), 0, third);
        add(MemorySegment.ofArray(new byte[(int) third]), third, third);
        long rest = bytes - 2 * third;
        add(ordinary(Math.max(1, rest)), 2 * third, rest);
    }

    private void add(MemorySegment block, long position, long bytes) {
        Pattern.fill(next, position, block, 0, bytes);
        group.add(block, 0, bytes);
    }
}
