package io.madeleine.mpi.device;

import io.madeleine.api.Completion;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.mpi.FreedMemory;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A message of the device on its way to one peer. The object may be used for another message once {@link #ended} has
 * been called.
 *
 * <p>Threading: one thread at a time; the thread that ends the message may be another than the one that began it.
 */
abstract class Outgoing implements Runnable {
    /** The length behind its header of a message that does not leave by one call. */
    static final long LONG = -1;

    /** The next one in the peer's queue. */
    @Nullable
    Outgoing behind;

    private @Nullable OutgoingMessage message;
    private @Nullable Completion completion;

    /**
     * Packs all blocks. The header is free memory of {@link Header#BYTES} bytes for the length of the call.
     *
     * @param credits what the header returns to the peer
     */
    abstract void pack(OutgoingMessage begun, MemorySegment header, int credits);

    /** The kind of the message, of {@link Header}. */
    abstract byte kind();

    /**
     * The length of the body behind the header, if {@link #write} can write all of the message: 0 if it consists of its
     * header; {@link #LONG} if it is longer than that. Only an eager message has a body there.
     */
    abstract long bytesBehind();

    /** Writes a message that is not {@link #LONG} into memory of {@link NowHeaders}. */
    abstract void write(MemorySegment header, int credits);

    /** The message has left, or failed. Never waits. */
    abstract void ended(@Nullable RuntimeException failure);

    /** The most credits that the header can return. */
    final int mostCredits() {
        return kind() == Header.EAGER ? Header.MOST_EAGER_CREDITS : Integer.MAX_VALUE;
    }

    /** Packs a header of this kind. */
    static void packHeader(OutgoingMessage begun, MemorySegment header, byte kind) {
        for (int at = 0; at < Header.bytesOf(kind); at += Header.EAGER_BYTES) {
            begun.pack(header, at, Header.EAGER_BYTES, SendMode.SAFER, ReceiveMode.EXPRESS);
        }
    }

    /** Sends the message without waiting. */
    final void send(OutgoingMessage begun, MemorySegment header, int credits) {
        Completion end;
        try {
            pack(begun, header, credits);
            end = begun.endPackingAsync();
        } catch (RuntimeException e) { // the peer is lost, or the memory of the body was freed
            FreedMemory.clearInterrupt(e);
            begun.close();
            ended(e);
            return;
        } catch (Error e) { // the stack or the heap is exhausted
            begun.close();
            ended(new IllegalStateException("a message could not be packed: " + e, e));
            throw e;
        }
        message = begun;
        completion = end;
        end.onDone(this);
    }

    /** Called by the channel when the message has ended. */
    @Override
    public final void run() {
        RuntimeException failure = null;
        try {
            if (completion != null) {
                completion.await(); // does not wait: it is done; throws if it failed
            }
        } catch (RuntimeException e) {
            failure = e;
        }
        OutgoingMessage over = message;
        message = null;
        completion = null;
        if (over != null) {
            over.close();
        }
        ended(failure);
    }
}
