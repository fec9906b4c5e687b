package io.madeleine.am;

import io.madeleine.api.OutgoingMessage;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A message that has failed before its end and is still to be closed. Where the stack or memory has come to its end, there may be no
 * room for that either: then who sends next closes it.
 *
 * <p>Threading: thread-safe; one message at a time.
 */
public final class FailedMessage {
    private static final VarHandle MESSAGE = messageHandle();

    /** To be assigned by who has failed with it, without a call, for which there may be no room; {@link #close} follows. */
    public volatile @Nullable OutgoingMessage message;

    /** No message has failed. */
    public FailedMessage() {
        OutgoingMessage _ = take(); // what is linked at its first call needs memory
    }

    private static VarHandle messageHandle() {
        try {
            return MethodHandles.lookup().findVarHandle(FailedMessage.class, "message", OutgoingMessage.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Closes the message, if there is one. What it throws leaves it to the next call. */
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
