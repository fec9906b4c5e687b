package io.madeleine.mpi.device;

import io.madeleine.api.Signal;
import io.madeleine.mpi.MpiFault;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Something that has been started and will be done: a send, a receive, a collective operation. An object may be started
 * again once it is done.
 *
 * <p>Threading: one thread prepares and starts it; any thread may complete it, once; the results may be read by any
 * thread that has seen {@link #isDone}.
 */
public abstract class Operation implements BooleanSupplier {
    private static final VarHandle DONE = handle();

    private final Signal waiting;
    private volatile boolean done = true;

    private @Nullable Listener listener;
    private @Nullable MpiFault fault;

    /** Keeps buffers reachable whose memory the operation uses. */
    @SuppressWarnings("UnusedVariable") // it is enough that the field refers to them
    private @Nullable Object buffers;

    private boolean cancelled;

    /** Hears of the end of an operation. */
    @FunctionalInterface
    public interface Listener {
        /** The operation is done. Must not wait; any thread may call it, a handler of the channel too. */
        void ended(Operation operation);
    }

    /**
     * An operation that is not started.
     *
     * @param waiting wakes the threads that wait for the operation
     */
    protected Operation(Signal waiting) {
        this.waiting = waiting;
    }

    private static VarHandle handle() {
        try {
            return MethodHandles.lookup().findVarHandle(Operation.class, "done", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Sets the listener of the next end; null for none. */
    public final void tell(@Nullable Listener wanted) {
        listener = wanted;
    }

    /** Keeps the buffers reachable in which the operation moves bytes, as long as the operation is; null for none. */
    public final void keep(@Nullable Object used) {
        buffers = used;
    }

    /** Whether the operation has ended, well or not, or is not started. */
    public final boolean isDone() {
        return done;
    }

    @Override
    public final boolean getAsBoolean() {
        return done;
    }

    /** Why the operation failed; null if it ended well. */
    public final @Nullable MpiFault fault() {
        return fault;
    }

    /** Whether the operation was cancelled. */
    public final boolean isCancelled() {
        return cancelled;
    }

    /** The session rank of the process whose message will end the operation, or -1. */
    public abstract int expected();

    /** What the operation is, for people to read. */
    public abstract String describe();

    /** The context of its messages. */
    protected abstract long context();

    /** Describes the operation, with the one of which it is a part. */
    final Pending pending() {
        String whole = listener instanceof Operation other ? other.describe() + ": " : "";
        return new Pending(expected(), context(), whole + describe());
    }

    /** Called when the operation starts. */
    protected final void started() {
        fault = null;
        cancelled = false;
        DONE.setOpaque(this, false); // no other thread knows that it has started
    }

    /** Ends the operation as cancelled. */
    protected final void cancelled() {
        cancelled = true;
        complete();
    }

    /** Ends the operation with an error. */
    protected final void fail(MpiFault why) {
        fault = why;
        complete();
    }

    /** Notes an error; {@link #complete} follows. */
    protected final void note(MpiFault why) {
        fault = why;
    }

    /** Ends the operation. The object may be started again from then on. */
    protected final void complete() {
        Listener told = listener;
        done = true;
        if (told != null) {
            told.ended(this);
        } else {
            waiting.signal();
        }
    }
}
