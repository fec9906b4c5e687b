package io.madeleine.tm.via.remote;

import io.madeleine.pmm.spi.RemoteCompletion;
import io.madeleine.pmm.spi.RemoteMemoryException;
import io.madeleine.tm.via.port.RegionUses;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * One operation on attached memory, which leaves in pieces. The objects are reused.
 *
 * <p>Threading: guarded by the lock of {@link Transfers}.
 */
final class Transfer {
    static final int PUT = 0;
    static final int GET = 1;
    static final int ADD = 2;
    static final int SET = 3;

    int kind;
    MemorySegment memory = MemorySegment.NULL;
    long memoryOffset;
    long at;
    long bytes;

    /** The addend, or the expected value. */
    long first;

    /** The value to set. */
    long second;

    @Nullable
    Target target;

    @Nullable
    RemoteCompletion completion;

    /** The use of the session's memory, if the caller's memory is that. */
    RegionUses.@Nullable Use use;

    @Nullable
    RemoteMemoryException failure;

    /** How many bytes have left, from the start. */
    long issued;

    /** How many pieces are under way. */
    int outstanding;

    /** The word's old value. */
    long value;

    /** Whether the completion is about to be called, or has been. */
    boolean told;

    @Nullable
    Transfer next;

    boolean isWord() {
        return kind >= ADD;
    }

    boolean isIssued() {
        return issued >= bytes;
    }

    /** Nothing more of it leaves. */
    void fail(RemoteMemoryException why) {
        if (failure == null) {
            failure = why;
        }
        issued = bytes;
    }

    void clear() {
        memory = MemorySegment.NULL;
        target = null;
        completion = null;
        use = null;
        failure = null;
        issued = 0;
        outstanding = 0;
        value = 0;
        told = false;
        next = null;
    }
}
