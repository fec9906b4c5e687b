package io.madeleine.mpi.device;

import io.madeleine.api.Completion;
import io.madeleine.api.IncomingMessage;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The body of one message while it arrives: into the memory of a receive, as a whole or as a fragment, or into kept
 * memory. Pooled by {@link Arrivals}.
 *
 * <p>Threading: the handler begins it; the thread that ends the message runs it.
 */
final class Intake implements Runnable {
    private final Delivery delivery;
    private final MemoryShortage shortage;
    private final Consumer<Intake> pool;

    private @Nullable IncomingMessage message;
    private @Nullable Completion completion;
    private @Nullable ReceiveOperation receive;
    private @Nullable Arrived arrived;
    private int source;
    private boolean isFragment;
    private long bytes;

    /** The next free one in the pool. */
    @Nullable
    Intake nextFree;

    Intake(Delivery delivery, MemoryShortage shortage, Consumer<Intake> pool) {
        this.delivery = delivery;
        this.shortage = shortage;
        this.pool = pool;
    }

    /** Takes the body, or a fragment of it, to its place. If memory is short, the receive fails. */
    void into(ReceiveOperation target, IncomingMessage from, long offset, long length, boolean fragment) {
        receive = target;
        isFragment = fragment;
        bytes = length;
        try {
            target.payload().unpack(from, offset, length);
            end(from);
        } catch (RuntimeException e) {
            from.close();
            over(e);
        } catch (OutOfMemoryError e) { // not thrown on: nobody waits for more
            from.close();
            over(new IllegalStateException("a message could not be unpacked: " + e, e));
        } catch (Error e) { // the stack is exhausted
            from.close();
            over(new IllegalStateException("a message could not be unpacked: " + e, e));
            throw e;
        }
    }

    /** Takes the body to kept memory. */
    void into(Arrived target, MemorySegment block, IncomingMessage from, long length) {
        arrived = target;
        bytes = length;
        try {
            from.unpack(block, 0, length, io.madeleine.api.SendMode.CHEAPER, io.madeleine.api.ReceiveMode.CHEAPER);
            end(from);
        } catch (RuntimeException e) {
            from.close();
            over(e);
        } catch (Error e) { // the stack or the heap is exhausted
            from.close();
            over(new IllegalStateException("a message could not be unpacked: " + e, e));
            throw e;
        }
    }

    private void end(IncomingMessage from) {
        source = from.remote();
        Completion end = from.endUnpackingAsync();
        message = from;
        completion = end;
        end.onDone(this);
    }

    @Override
    public void run() {
        RuntimeException failure = null;
        try {
            if (completion != null) {
                completion.await(); // does not wait: it is done; throws if it failed
            }
        } catch (RuntimeException e) {
            failure = e;
        }
        int from = source;
        try {
            if (message != null) {
                message.close();
            }
            over(failure);
        } catch (OutOfMemoryError e) {
            shortage.lost(from, e);
            throw e;
        }
    }

    private void over(@Nullable RuntimeException failure) {
        ReceiveOperation target = receive;
        Arrived kept = arrived;
        boolean fragment = isFragment;
        long length = bytes;
        message = null;
        completion = null;
        receive = null;
        arrived = null;
        pool.accept(this);
        if (target != null) {
            delivery.bodyArrived(target, fragment, length, failure);
        } else if (kept != null) {
            delivery.bodyKept(kept, failure);
        }
    }
}
