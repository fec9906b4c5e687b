package io.madeleine.tm.via.remote;

import io.madeleine.tm.via.ffi.Flags;
import io.madeleine.tm.via.ffi.WriteMessage;
import io.madeleine.tm.via.port.Completion;
import io.madeleine.tm.via.port.KeptRegistration;
import io.madeleine.tm.via.port.Slab;
import io.madeleine.tm.via.port.ViaPort;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * One piece of an operation under way, with registered memory for what cannot be read or written where it lies.
 *
 * <p>Threading: guarded by the lock of {@link Transfers}; the completions come from the thread that polls.
 */
final class Slot implements Completion {
    /** How much of an operation fits into the slot's memory. */
    static final int STAGE_BYTES = 1 << 16;

    private static final long RESULT = 64;
    private static final long COMPARED = 128;

    private final Transfers owner;
    private final Slab slab;
    final int operation;

    @Nullable
    Transfer transfer;

    @Nullable
    KeptRegistration kept;

    /** Where the piece lies in the operation. */
    long offset;

    long bytes;

    /** Whether the piece lies in the slot's memory. */
    boolean staged;

    @Nullable
    Slot next;

    Slot(Transfers owner, ViaPort port) {
        this.owner = owner;
        this.slab = port.newSlab(STAGE_BYTES + WriteMessage.BYTES, Flags.FI_WRITE | Flags.FI_READ);
        this.operation = port.newOperations(this, 1);
    }

    MemorySegment memory() {
        return slab.memory();
    }

    long address() {
        return slab.address();
    }

    long descriptor() {
        return slab.descriptor();
    }

    /** The memory for the arguments of a call. */
    long scratch() {
        return slab.address() + STAGE_BYTES;
    }

    long compared() {
        return slab.address() + COMPARED;
    }

    long result() {
        return slab.address() + RESULT;
    }

    static long comparedOffset() {
        return COMPARED;
    }

    static long resultOffset() {
        return RESULT;
    }

    @Override
    public void completed(int tag, long ignored) {
        owner.completed(this, null);
    }

    @Override
    public void failed(int tag, int code, String reason) {
        owner.completed(this, reason);
    }

    @Override
    public boolean isPeerDead() {
        return owner.isOwnerDead(this);
    }

    /** Ends the registration of its memory; the endpoint is closed. */
    void closeRegistration() {
        slab.close();
    }
}
