package io.madeleine.mpi.device;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Memory for the headers of messages that leave at once, with room for a short body behind each. The first platform
 * thread that asks has a header of its own for good, all others share one. So a thread that sends message after message
 * needs no atomic instruction here: such an instruction would wait until the previous message's cache line has come
 * from the receiver's processor.
 *
 * <p>Threading: thread-safe.
 */
final class NowHeaders {
    private static final VarHandle OWNER = owner();

    /** The longest body that is copied behind its header: two copies cost less than the steps of a message. */
    static final int BODY_BYTES = 6 << 10;

    /** Allocated on first use, like {@link #shared}: a process has such memory for each peer. */
    private @Nullable MemorySegment own;

    /** Only the thread that has set {@link #sharedTaken} accesses it. */
    private @Nullable MemorySegment shared;

    private final AtomicBoolean sharedTaken = new AtomicBoolean();

    private volatile @Nullable Thread owner;

    /** Only the owner accesses it; needed because a handler that the owner calls while it sends may send, too. */
    private boolean ownTaken;

    private static VarHandle owner() {
        try {
            return MethodHandles.lookup().findVarHandle(NowHeaders.class, "owner", Thread.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Takes memory, which the calling thread must give back; null if there is none now. */
    @Nullable
    MemorySegment take() {
        Thread self = Thread.currentThread();
        Thread first = owner;
        if (first == self || first == null && !self.isVirtual() && OWNER.compareAndSet(this, null, self)) {
            if (!ownTaken) {
                MemorySegment header = own == null ? allocate() : own;
                own = header;
                ownTaken = true;
                return header;
            }
        }
        return sharedTaken.compareAndSet(false, true) ? takeShared() : null;
    }

    private MemorySegment takeShared() {
        try {
            MemorySegment header = shared == null ? allocate() : shared;
            shared = header;
            return header;
        } catch (OutOfMemoryError e) {
            sharedTaken.setRelease(false);
            throw e;
        }
    }

    private static MemorySegment allocate() {
        return Arena.ofAuto().allocate(Header.BYTES + BODY_BYTES, 64);
    }

    /** Gives memory back that the calling thread has taken. */
    void give(MemorySegment header) {
        if (isOwn(header)) {
            ownTaken = false;
        } else {
            sharedTaken.setRelease(false);
        }
    }

    /** Whether the memory is the owner's; the calling thread is then the owner. */
    boolean isOwn(MemorySegment header) {
        MemorySegment mine = own;
        return mine != null && header.address() == mine.address();
    }
}
