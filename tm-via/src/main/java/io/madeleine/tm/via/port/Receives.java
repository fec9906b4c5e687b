package io.madeleine.tm.via.port;

import io.madeleine.pmm.SpinLock;
import io.madeleine.tm.via.ffi.Flags;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The posted receives of an endpoint, which all peers share. A connection reserves one for each message that its peer
 * may have under way, and returns them when it ends.
 *
 * <p>Threading: {@link #reserve} and {@link #release} are guarded; any thread may call {@link #post}; {@link
 * #postLate} belongs to the thread that polls.
 */
public final class Receives implements Completion {
    /** Receives messages. */
    public interface Receiver {
        /**
         * A message has arrived in a slot. The receiver {@linkplain Receives#post posts} the slot again when it has
         * read the message. Called by the thread that polls.
         */
        void onMessage(int slot, MemorySegment memory, long at, int bytes);

        /** A receive has failed for good: the endpoint is broken. */
        void onBroken(String reason);
    }

    private final ViaPort port;
    private final int slotBytes;
    private final Receiver receiver;
    private final List<Slab> slabs = new ArrayList<>();
    private final SpinLock lock = new SpinLock();
    private volatile MemorySegment[] memories = new MemorySegment[0];
    private volatile long[] offsets = new long[0];
    private volatile long[] descriptors = new long[0];
    private volatile int[] operations = new int[0];
    private int[] late = new int[64];
    private volatile int lateCount;
    private int spare;

    Receives(ViaPort port, int slotBytes, Receiver receiver) {
        this.port = port;
        this.slotBytes = slotBytes;
        this.receiver = receiver;
    }

    /** Reserves receives, and posts more if there are not enough. */
    public synchronized void reserve(int count) {
        int more = count - spare;
        if (more > 0) {
            grow(more);
            spare += more;
        }
        spare -= count;
    }

    /** Returns reserved receives to the others. */
    public synchronized void release(int count) {
        spare += count;
    }

    /** How many receives there are. */
    public int count() {
        return offsets.length;
    }

    /** The memory of all receives in bytes. */
    public long bytes() {
        return (long) count() * slotBytes;
    }

    private void grow(int more) {
        int from = offsets.length;
        Slab slab = port.newSlab((long) more * slotBytes, Flags.FI_RECV);
        slabs.add(slab);
        MemorySegment[] newMemories = Arrays.copyOf(memories, from + more);
        long[] newOffsets = Arrays.copyOf(offsets, from + more);
        long[] newDescriptors = Arrays.copyOf(descriptors, from + more);
        int[] newOperations = Arrays.copyOf(operations, from + more);
        for (int i = 0; i < more; i++) {
            newMemories[from + i] = slab.memory();
            newOffsets[from + i] = (long) i * slotBytes;
            newDescriptors[from + i] = slab.descriptor();
            newOperations[from + i] = port.operationOf(this, from + i);
        }
        memories = newMemories;
        descriptors = newDescriptors;
        operations = newOperations;
        offsets = newOffsets;
        for (int i = 0; i < more; i++) {
            post(from + i);
        }
    }

    /** The memory of a slot. */
    public MemorySegment memory(int slot) {
        return memories[slot];
    }

    /** The offset of a slot in its memory. */
    public long offset(int slot) {
        return offsets[slot];
    }

    /** Posts a slot; its message has been read. */
    public void post(int slot) {
        if (!isPosted(slot)) {
            later(slot);
        }
    }

    /** Posts a slot; false if the provider has no room for it now. */
    private boolean isPosted(int slot) {
        long result =
                port.receive(memories[slot].address() + offsets[slot], slotBytes, descriptors[slot], operations[slot]);
        if (result < 0 && !port.mayWait(result)) {
            receiver.onBroken("a receive cannot be posted: " + port.errorText(result));
        }
        return !port.mayWait(result);
    }

    private void later(int slot) {
        lock.lock();
        try {
            if (lateCount == late.length) {
                late = Arrays.copyOf(late, 2 * late.length);
            }
            late[lateCount] = slot;
            lateCount++;
        } finally {
            lock.unlock();
        }
    }

    /** Posts what could not be posted before, as long as there is room. */
    void postLate() {
        for (int tries = lateCount; tries > 0; tries--) {
            lock.lock();
            int slot;
            try {
                slot = late[--lateCount];
            } finally {
                lock.unlock();
            }
            if (!isPosted(slot)) {
                later(slot);
                return;
            }
        }
    }

    @Override
    public void completed(int tag, long bytes) {
        receiver.onMessage(tag, memories[tag], offsets[tag], (int) bytes);
    }

    @Override
    public void failed(int tag, int code, String reason) {
        if (port.isOpen() && code != Flags.FI_ECANCELED) {
            post(tag); // a message that is too long, for instance, is dropped; its sender broke the protocol
        }
    }

    /** Ends the registrations, before the domain is closed. */
    void closeRegistrations() {
        slabs.forEach(Slab::closeRegistration);
    }

    void close() {
        slabs.forEach(Slab::close);
    }
}
