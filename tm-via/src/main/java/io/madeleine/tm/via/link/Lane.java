package io.madeleine.tm.via.link;

import io.madeleine.pmm.SpinLock;
import io.madeleine.tm.via.ffi.Flags;
import io.madeleine.tm.via.port.Completion;
import io.madeleine.tm.via.port.Slab;
import io.madeleine.tm.via.port.ViaPort;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The sending side of a connection: slots of registered memory, each for one message. Messages leave in the order in
 * which they are sent; what the provider does not take at once leaves in later polls.
 *
 * <p>Threading: the owner of a free slot fills and sends it; any thread may call {@link #flush}; completions come from
 * the thread that polls.
 */
final class Lane implements Completion {
    private static final int FREE = 0;
    private static final int BUSY = 1;

    private final ViaPort port;
    private final long peer;
    private final Runnable whenBehind;
    private final Runnable whenFree;
    private final BooleanSupplier peerIsDead;
    private final SpinLock lock = new SpinLock();
    private final int count;
    private final int firstOperation;
    private final AtomicIntegerArray states;
    private final MemorySegment[] memories;
    private final long[] addresses;
    private final long[] descriptors;
    private final int[] lengths;
    private final int[] queue;
    private int added;
    private int removed;
    private int slots;
    private volatile boolean behind;
    private volatile boolean dropped;
    private volatile int begun;
    private volatile int ended;
    private volatile @Nullable String failure;
    private Slab[] slabs = new Slab[0];

    /**
     * A lane without slots.
     *
     * @param count how many slots it will have
     * @param whenBehind called when {@link #flush} is needed
     * @param whenFree called when a slot is free again
     * @param peerIsDead whether the peer's process has ended
     */
    Lane(ViaPort port, long peer, int count, Runnable whenBehind, Runnable whenFree, BooleanSupplier peerIsDead) {
        this.port = port;
        this.peer = peer;
        this.whenBehind = whenBehind;
        this.whenFree = whenFree;
        this.peerIsDead = peerIsDead;
        this.count = count;
        this.states = new AtomicIntegerArray(count);
        this.memories = new MemorySegment[count];
        this.addresses = new long[count];
        this.descriptors = new long[count];
        this.lengths = new int[count];
        this.queue = new int[count];
        this.firstOperation = port.newOperations(this, count);
    }

    /** How many slots it has now: the number of the next one. */
    int slotCount() {
        return slots;
    }

    /** Adds slots, all in one slab; returns the slab. */
    Slab addSlots(int number, int slotBytes) {
        Slab slab = port.newSlab((long) number * slotBytes, Flags.FI_SEND);
        for (int i = 0; i < number; i++) {
            memories[slots + i] = slab.memory();
            addresses[slots + i] = slab.address() + (long) i * slotBytes;
            descriptors[slots + i] = slab.descriptor();
        }
        slots += number;
        slabs = Arrays.copyOf(slabs, slabs.length + 1);
        slabs[slabs.length - 1] = slab;
        return slab;
    }

    MemorySegment memory(int slot) {
        return memories[slot];
    }

    long offset(int slot) {
        return addresses[slot] - memories[slot].address();
    }

    boolean isFree(int slot) {
        return states.getAcquire(slot) == FREE;
    }

    /** Sends the message in a slot, which was free. */
    void send(int slot, int bytes) {
        lock.lock();
        try {
            sendLocked(slot, bytes);
        } finally {
            lock.unlock();
        }
        if (behind) {
            whenBehind.run();
        }
    }

    private void sendLocked(int slot, int bytes) {
        lengths[slot] = bytes;
        states.setRelease(slot, BUSY);
        if (dropped) {
            states.setRelease(slot, FREE);
        } else if (added != removed || !post(slot)) {
            queue[added++ % count] = slot;
            behind = true;
        }
    }

    /** Hands a slot to the provider; false if it has to be tried again. */
    private boolean post(int slot) {
        int before = begun;
        begun = before + 1;
        int result = port.send(addresses[slot], lengths[slot], descriptors[slot], peer, firstOperation + slot);
        if (result == ViaPort.BEGUN) {
            return true;
        }
        begun = before;
        if (result == ViaPort.AGAIN) {
            return false;
        }
        states.setRelease(slot, FREE);
        if (result < 0) {
            failure = port.errorText(result);
            whenBehind.run();
        }
        return true;
    }

    /** Whether a message has not left yet because the provider does not take it. */
    boolean isBehind() {
        return behind;
    }

    /** Sends what the provider did not take before; returns whether nothing is left. */
    boolean flush() {
        if (!behind) {
            return true;
        }
        lock.lock();
        try {
            while (added != removed && post(queue[removed % count])) {
                removed++;
            }
            behind = added != removed;
            return !behind;
        } finally {
            lock.unlock();
        }
    }

    /** Drops what the provider has not taken; nothing more is sent. */
    void drop() {
        lock.lock();
        try {
            dropped = true;
            while (added != removed) {
                states.setRelease(queue[removed++ % count], FREE);
            }
            behind = false;
        } finally {
            lock.unlock();
        }
    }

    /** Whether nothing is queued or outstanding. */
    boolean isIdle() {
        return !behind && begun == ended;
    }

    /** The provider's text for an operation that failed; null if none did. */
    @Nullable
    String failure() {
        return failure;
    }

    @Override
    public void completed(int tag, long bytes) {
        states.setRelease(tag, FREE);
        ended = ended + 1; // written by one thread at a time
        whenFree.run();
    }

    @Override
    public void failed(int tag, int code, String reason) {
        failure = reason;
        completed(tag, 0);
        whenBehind.run();
    }

    @Override
    public boolean isPeerDead() {
        return peerIsDead.getAsBoolean();
    }

    /** Frees the slots; the lane is idle, or the endpoint closed. */
    void free() {
        port.freeOperations(firstOperation, count);
        for (Slab slab : slabs) {
            slab.close();
        }
    }
}
