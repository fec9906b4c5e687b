package io.madeleine.testkit;

import io.madeleine.pmm.SpinLock;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * A pipe that behaves like a NIC. It reads the sender's blocks some time after it has taken them, reports their
 * completion later still, and writes directly into the receiver's expected blocks if these were known when the data was
 * taken. It posts heap memory only, which nobody can free, and not even all of that, as if some registrations had
 * failed; the rest is copied. The module's seed decides when what happens, so a test with one thread repeats exactly.
 *
 * <p>Threading: guarded by its own spin lock, at which no thread parks: a virtual thread that parked might get no
 * carrier to continue.
 */
final class LoopPosts extends LoopDynamicPipe {
    /** A header, or bytes of payload. */
    private static final class Item {
        final long header;
        long bytes;
        MemorySegment source = MemorySegment.NULL;
        long sourceOffset;

        /** Whether the source is the sender's memory. */
        boolean held;

        /** The expected block of the receiver, or null. */
        @Nullable
        MemorySegment target;

        long targetOffset;

        Item(long header) {
            this.header = header;
        }

        void copyAside() {
            source = copy(source, sourceOffset, bytes);
            sourceOffset = 0;
        }
    }

    /** A posted block. */
    private record Expected(MemorySegment block, long offset, long position, long bytes) {}

    private final SpinLock lock = new SpinLock();
    private final LoopFabric fabric;
    private final long windowBytes;
    private final Random random;
    private final Random registrations;
    private final Queue<Item> underWay = new ArrayDeque<>();
    private final Queue<Item> landed = new ArrayDeque<>();
    private final ArrayDeque<Expected> expected = new ArrayDeque<>();
    private long openHeader;
    private long sentPosition;
    private long takenPosition;
    private long expectedPosition;
    private long heldBytes;
    private long landedHeldBytes;
    private boolean retracting;
    private boolean revoked;

    LoopPosts(LoopTm sender, LoopTm receiver, LoopFabric fabric) {
        super(receiver);
        this.fabric = fabric;
        this.windowBytes = sender.ringBytes();
        this.random = new Random(sender.postingSeed());
        this.registrations = new Random(sender.postingSeed());
        fabric.add(this);
    }

    private static MemorySegment copy(MemorySegment from, long offset, long bytes) {
        MemorySegment aside = MemorySegment.ofArray(new byte[Math.toIntExact(bytes)]);
        MemorySegment.copy(from, offset, aside, 0, bytes);
        return aside;
    }

    // ---- the sender

    @Override
    boolean hasRoom() {
        lock.lock();
        try {
            return isRoomLeft();
        } finally {
            lock.unlock();
        }
    }

    private boolean isRoomLeft() {
        return sentPosition - takenPosition < windowBytes && underWay.size() < 64;
    }

    @Override
    boolean putHeader(long header) {
        lock.lock();
        try {
            if (!isRoomLeft()) {
                return false;
            }
            underWay.add(new Item(header));
            return true;
        } finally {
            lock.unlock();
        }
    }

    @Override
    void putPayload(BufferGroup group, long maxBytes) {
        lock.lock();
        try {
            long left = Math.min(maxBytes, windowBytes - (sentPosition - takenPosition));
            while (left > 0 && !group.isEmpty() && underWay.size() < 64) {
                long here = Math.min(Math.min(left, group.bytes(0)), 1 + random.nextLong(windowBytes));
                while (!expected.isEmpty() && expected.element().position + expected.element().bytes <= sentPosition) {
                    expected.remove();
                }
                Item item = new Item(0);
                Expected next = expected.peek();
                if (next != null && next.position > sentPosition) {
                    here = Math.min(here, next.position - sentPosition);
                } else if (next != null) {
                    long past = sentPosition - next.position;
                    here = Math.min(here, next.bytes - past);
                    item.target = next.block;
                    item.targetOffset = next.offset + past;
                }
                item.bytes = here;
                item.source = group.segment(0);
                item.sourceOffset = group.offset(0);
                item.held = !item.source.isNative() && !revoked;
                if (item.held) {
                    heldBytes += here;
                } else {
                    item.copyAside();
                }
                underWay.add(item);
                group.advance(here);
                sentPosition += here;
                left -= here;
            }
        } finally {
            lock.unlock();
        }
    }

    boolean holdsMemory() {
        lock.lock();
        try {
            return heldBytes > 0;
        } finally {
            lock.unlock();
        }
    }

    boolean mayWrite() {
        lock.lock();
        try {
            return !expected.isEmpty() || isExpectedUnderWay();
        } finally {
            lock.unlock();
        }
    }

    @Override
    boolean passToSender(boolean isDue) {
        lock.lock();
        try {
            land(isDue ? underWay.size() : random.nextInt(16)); // polls of either side move data
            if (landedHeldBytes == 0 || (!isDue && random.nextBoolean())) {
                return false;
            }
            heldBytes -= landedHeldBytes;
            landedHeldBytes = 0;
            return true;
        } finally {
            lock.unlock();
        }
    }

    @Override
    boolean isUnderWay() {
        lock.lock();
        try {
            return landedHeldBytes > 0 || !underWay.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    @Override
    boolean calls() {
        lock.lock();
        try {
            return retracting && !isExpectedUnderWay();
        } finally {
            lock.unlock();
        }
    }

    private boolean isExpectedUnderWay() {
        return underWay.stream().anyMatch(item -> item.target != null);
    }

    @Override
    void giveMemoryBack(boolean toSender) {
        lock.lock();
        try {
            if (toSender) {
                revoked = true;
                for (Item item : underWay) {
                    if (item.held) {
                        item.held = false;
                        item.copyAside();
                    }
                }
                heldBytes = 0;
                landedHeldBytes = 0;
            } else {
                expected.clear();
                underWay.forEach(item -> item.target = null);
                keepLanded();
                retracting = false;
            }
        } finally {
            lock.unlock();
        }
    }

    // ---- on the way

    @Override
    void pass() {
        lock.lock();
        try {
            land(random.nextInt(16));
        } finally {
            lock.unlock();
        }
    }

    private void land(int most) {
        for (int i = most; i > 0 && moves(); i--) {
            Item item = underWay.remove();
            if (item.target != null) {
                MemorySegment.copy(item.source, item.sourceOffset, item.target, item.targetOffset, item.bytes);
                item.source = MemorySegment.NULL;
            } else if (item.held) {
                item.copyAside();
            }
            if (item.held) {
                item.held = false;
                landedHeldBytes += item.bytes;
            }
            landed.add(item);
        }
    }

    @Override
    boolean hidesSomething() {
        lock.lock();
        try {
            return moves();
        } finally {
            lock.unlock();
        }
    }

    /** The sender's adapter moves hidden data. */
    @Override
    boolean showsByPolling() {
        return false;
    }

    private boolean moves() {
        return !underWay.isEmpty() && !fabric.isStalled();
    }

    // ---- the receiver

    void expect(BufferGroup blocks) {
        lock.lock();
        try {
            check("expect");
            expectedPosition = Math.max(expectedPosition, takenPosition);
            while (!blocks.isEmpty()) {
                long bytes = blocks.bytes(0);
                if (!blocks.segment(0).isNative() && registrations.nextInt(8) != 0) {
                    expected.add(new Expected(blocks.segment(0), blocks.offset(0), expectedPosition, bytes));
                }
                expectedPosition += bytes;
                blocks.advance(bytes);
            }
        } finally {
            lock.unlock();
        }
    }

    int retract() {
        lock.lock();
        try {
            expected.clear();
            expectedPosition = takenPosition;
            retracting = isExpectedUnderWay();
            if (retracting) {
                return LinkStatus.PENDING;
            }
            keepLanded();
            return LinkStatus.COMPLETE;
        } finally {
            lock.unlock();
        }
    }

    /** Copies data that has landed in the receiver's blocks into other memory. */
    private void keepLanded() {
        for (Item item : landed) {
            if (item.target != null) {
                item.source = copy(item.target, item.targetOffset, item.bytes);
                item.sourceOffset = 0;
                item.target = null;
            }
        }
    }

    private void check(String call) {
        if (retracting) {
            throw fabric.violation(call + " while a retraction is pending");
        }
    }

    @Override
    boolean hasWork() {
        lock.lock();
        try {
            return !landed.isEmpty() || (openHeader != 0 && PacketHeader.payloadBytes(openHeader) == 0);
        } finally {
            lock.unlock();
        }
    }

    @Override
    long front() {
        lock.lock();
        try {
            check("front");
            Item first = landed.peek();
            if (openHeader == 0 && first != null) {
                openHeader = first.header;
                landed.remove();
            }
            return openHeader;
        } finally {
            lock.unlock();
        }
    }

    @Override
    long receive(BufferGroup group, long maxBytes) {
        lock.lock();
        try {
            check("receive");
            long before = group.remainingBytes();
            long limit = Math.min(maxBytes, deliverBytes);
            while (before - group.remainingBytes() < limit) {
                Item item = landed.peek();
                if (item == null || item.header != 0) {
                    break;
                }
                long here = Math.min(item.bytes, limit - (before - group.remainingBytes()));
                long now = group.remainingBytes();
                if (item.target == null) {
                    try {
                        group.fillFrom(item.source, item.sourceOffset, here);
                    } finally {
                        take(item, now - group.remainingBytes());
                    }
                } else if (item.target.equals(group.segment(0)) && item.targetOffset == group.offset(0)) {
                    group.advance(here);
                    take(item, here);
                } else {
                    throw fabric.violation("receive into another block than the one that was expected for this data");
                }
            }
            return before - group.remainingBytes();
        } finally {
            lock.unlock();
        }
    }

    @Override
    long skip(long maxBytes) {
        lock.lock();
        try {
            check("skip");
            Item item = landed.peek();
            if (item == null || item.header != 0) {
                return 0;
            }
            if (item.target != null) {
                throw fabric.violation("skip of bytes for which a block is expected; expected retract first");
            }
            long here = Math.min(Math.min(item.bytes, maxBytes), deliverBytes);
            take(item, here);
            return here;
        } finally {
            lock.unlock();
        }
    }

    private void take(Item item, long bytes) {
        takenPosition += bytes;
        item.bytes -= bytes;
        item.sourceOffset += bytes;
        item.targetOffset += bytes;
        if (item.bytes == 0) {
            landed.remove();
        }
    }

    @Override
    void release() {
        lock.lock();
        try {
            check("release");
            openHeader = 0;
        } finally {
            lock.unlock();
        }
    }
}
