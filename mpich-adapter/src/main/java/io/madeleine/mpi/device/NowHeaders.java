package io.madeleine.mpi.device;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Memory for the headers of messages that leave at once, with room for a short body behind each. The first platform
 * thread that asks has a header of its own for good, all others share one. So a thread that sends one message after the
 * other executes no atomic instruction for this: such an instruction waits until the line of the message before has
 * come from the receiver's processor.
 *
 * <p>Threading: thread-safe.
 */
final class NowHeaders {
    private static final VarHandle OWNER = owner();

    /** The longest body that is copied behind its header: to copy it twice takes less than the steps of a message. */
    static final int BODY_BYTES = 6 << 10;

    /** Made when it is first needed, as {@link #shared} is: a process has such memory for each peer. */
    private @Nullable MemorySegment own;

    /** Only the thread accesses it that has set {@link #sharedTaken}. */
    private @Nullable MemorySegment shared;

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

    /** Whether the memory is the owner's, which is the calling thread then. */
    boolean isOwn(MemorySegment header) {
        MemorySegment mine = own;
        return mine != null && header.address() == mine.address();
    }
}
