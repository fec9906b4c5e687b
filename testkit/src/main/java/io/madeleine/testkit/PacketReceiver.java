package io.madeleine.testkit;

import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.OneStepLink;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.TransmissionLink;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.BooleanSupplier;
import java.util.function.LongFunction;

/**
 * Receives a series of packets from one link, never waiting, and checks every byte. Packets are taken in parts of a
 * given size if the module allows that; parts may be skipped. Every fourth packet is taken in one step, if the link
 * supports that.
 *
 * <p>Threading: confined.
 */
final class PacketReceiver {
    /** Chooses the parts of packets that are skipped instead of received. */
    @FunctionalInterface
    interface Skipping {
        /** Whether to skip the part of the packet that begins at this position. */
        boolean isSkipped(int packet, long position);
    }

    private final TransmissionLink link;
    private final PacketSeries series;
    private final long partBytes;
    private final Skipping skipping;
    private final MemorySegment target;
    private final BufferGroup group = new BufferGroup();
    private int next;
    private long position;

    PacketReceiver(TransmissionLink link, PacketSeries series) {
        this(link, series, Long.MAX_VALUE, (_, _) -> false);
    }

    PacketReceiver(TransmissionLink link, PacketSeries series, long partBytes, Skipping skipping) {
        this(link, series, partBytes, skipping, bytes -> Arena.ofAuto().allocate(bytes, 8));
    }

    /**
     * @param memory allocates the memory into which packets are received
     */
    PacketReceiver(
            TransmissionLink link,
            PacketSeries series,
            long partBytes,
            Skipping skipping,
            LongFunction<MemorySegment> memory) {
        this.link = link;
        this.series = series;
        this.partBytes = link.capabilities().aggregation() == AggregationMode.SYMMETRIC ? Long.MAX_VALUE : partBytes;
        this.skipping = skipping;
        long largest = 1;
        for (int i = 0; i < series.count(); i++) {
            largest = Math.max(largest, series.bytes(i));
        }
        target = memory.apply(largest);
    }

    /** Sends a series and receives it, a step of each at a time; true once all of it has been received. */
    static BooleanSupplier transfer(PacketSender sender, PacketReceiver receiver) {
        return () -> {
            boolean sent = sender.step();
            receiver.step();
            return sent && receiver.isDone();
        };
    }

    /** Takes what has arrived; returns how many bytes and packets that was. */
    int step() {
        long moved = 0;
        while (next < series.count()) {
            if (next % 4 == 1 && position == 0 && link instanceof OneStepLink able && takeInOneStep(able)) {
                moved += series.bytes(next++) + 1L;
                continue;
            }
            long header = link.front();
            if (header == 0) {
                break;
            }
            check(header);
            long now = payload();
            moved += now;
            if (position < series.bytes(next)) {
                if (now == 0) {
                    break;
                }
                continue;
            }
            link.release();
            next++;
            position = 0;
            moved++;
        }
        return (int) Math.min(moved, Integer.MAX_VALUE);
    }

    private boolean takeInOneStep(OneStepLink able) {
        if (skipping.isSkipped(next, 0) || !able.receivePacket(series.header(next), target, 0)) {
            return false;
        }
        Pattern.check(next, 0, target, 0, series.bytes(next));
        return true;
    }

    boolean isDone() {
        return next == series.count();
    }

    private void check(long header) {
        if (header == LinkStatus.CLOSED) {
            throw new ContractViolation("the link closed before packet " + next + " of " + series.count());
        }
        if (header != series.header(next)) {
            throw new ContractViolation("packet " + next + " arrived as \"" + PacketHeader.describe(header)
                    + "\"; it was sent as \"" + PacketHeader.describe(series.header(next)) + '"');
        }
    }

    private long payload() {
        long left = series.bytes(next) - position;
        if (left == 0) {
            return 0;
        }
        long wanted = Math.min(left, partBytes);
        if (skipping.isSkipped(next, position)) {
            return account(link.skip(wanted), wanted);
        }
        group.clear();
        long half = wanted / 2; // two blocks, to test the seam between them
        group.add(target, position, half);
        group.add(target, position + half, wanted - half);
        long received = account(link.receive(group, wanted), wanted);
        if (group.remainingBytes() != wanted - received) {
            throw new ContractViolation("receive returned " + received + " but filled "
                    + (wanted - group.remainingBytes()) + " bytes of the group");
        }
        Pattern.check(next, position - received, target, position - received, received);
        return received;
    }

    private long account(long moved, long wanted) {
        if (moved < 0 || moved > wanted) {
            throw new ContractViolation(
                    "the link moved " + moved + " bytes; expected 0 to the " + wanted + " that were asked for");
        }
        position += moved;
        return moved;
    }
}
