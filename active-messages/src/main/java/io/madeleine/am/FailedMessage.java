package io.madeleine.am;

import io.madeleine.api.OutgoingMessage;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A message that has failed before its end and must still be closed. If the stack or heap memory is exhausted, closing
 * may fail too; the next sender then closes it.
 *
 * <p>Threading: thread-safe; one message at a time.
 */
public final class FailedMessage {
    private static final VarHandle MESSAGE = messageHandle();

    /**
     * The failed message. The thread that failed writes this field directly, since there may be no room for a call;
     * {@link #close} follows.
     */
    public volatile @Nullable OutgoingMessage message;

    /** Without a failed message. */
    public FailedMessage() {
        OutgoingMessage _ = take(); // links the call now, which needs memory
    }

    private static VarHandle messageHandle() {
        try {
            return MethodHandles.lookup().findVarHandle(FailedMessage.class, "message", OutgoingMessage.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Closes the message, if there is one. If that throws, the message is left to the next call. */
    public void close() {
        OutgoingMessage left = message == null ? null : take();
        if (left == null) {
            return;
        }
        try {
            left.close();
        } catch (Throwable e) {
            message = left;
            throw e;
        }
    }

    private @Nullable OutgoingMessage take() {
        return (OutgoingMessage) MESSAGE.getAndSet(this, null);
    }
}
