package io.madeleine.mpi.device;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Memory for the headers of messages that leave at once. The first platform thread that asks has a header of its own
 * for good, all others share one. So a thread that sends one message after the other executes no atomic instruction for
 * this: such an instruction waits until the line of the message before has come from the receiver's processor.
 *
 * <p>Threading: thread-safe.
 */
final class NowHeaders {
    private static final VarHandle OWNER = owner();

    private final MemorySegment own = Arena.ofAuto().allocate(Header.BYTES, 64);
    private final MemorySegment shared = Arena.ofAuto().allocate(Header.BYTES, 64);
    private final AtomicBoolean sharedTaken = new AtomicBoolean();

    private volatile @Nullable Thread owner;

    /** Only the owner accesses it: a handler that it calls while it sends may send, too. */
    private boolean ownTaken;

    private static VarHandle owner() {
        try {
            return MethodHandles.lookup().findVarHandle(NowHeaders.class, "owner", Thread.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Memory that the calling thread gives back; null if there is none now. */
    @Nullable
    MemorySegment take() {
        Thread self = Thread.currentThread();
        Thread first = owner;
        if (first == self || first == null && !self.isVirtual() && OWNER.compareAndSet(this, null, self)) {
            if (!ownTaken) {
                ownTaken = true;
                return own;
            }
        }
        return sharedTaken.compareAndSet(false, true) ? shared : null;
    }

    /** Gives memory back that the calling thread has taken. */
    void give(MemorySegment header) {
        if (isOwn(header)) {
            ownTaken = false;
        } else {
            sharedTaken.setRelease(false);
        }
    }

    /** Whether the memory is the owner's, which is the calling thread then. */
    boolean isOwn(MemorySegment header) {
        return header.address() == own.address();
    }
}
