package io.madeleine.tm.tcp.io;

import io.madeleine.pmm.spi.Reactor;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * An established socket as a link sees it. No call blocks.
 *
 * <p>Threading: one thread at a time reads, one at a time writes; {@link #interest} and {@link #close} are
 * thread-safe. A read or write during {@code close} or after it fails, and touches no other socket.
 */
public interface Wire {
    /**
     * Whether the wire can read into and write from user memory in place, even if that memory is freed during the
     * call.
     */
    boolean reachesUserMemory();

    /** Whether the kernel copies to and from user memory, so that its alignment matters ({@link SlowCopy}). */
    default boolean isCopiedByKernel() {
        return true;
    }

    /**
     * Reads into the buffer.
     *
     * <p>Ownership: the buffer is the caller's again when the call returns.
     *
     * @return the number of bytes read; 0 if none has arrived, -1 at the end of the stream
     */
    int read(ByteBuffer target) throws IOException;

    /**
     * Writes as much of the buffer as the wire accepts.
     *
     * <p>Ownership: the buffer is the caller's again when the call returns.
     *
     * @return the number of bytes accepted
     */
    int write(ByteBuffer source) throws IOException;

    /**
     * Passes on the bytes that {@link #write} accepted and kept. Called by the writing thread.
     *
     * @return whether none is left
     */
    default boolean flush() throws IOException {
        return true;
    }

    /**
     * Registers the handler of readiness events, with no interest yet. Called once, in the event loop, before {@link
     * #interest}.
     */
    void register(Reactor.ReadyHandler handler) throws IOException;

    /**
     * Sets the events to report from now on: {@code OP_READ} and {@code OP_WRITE} of {@link
     * java.nio.channels.SelectionKey}.
     */
    void interest(int operations);

    /** Whether bytes or the end of the stream have already been read, so that no event will report them. */
    default boolean hasArrived() {
        return false;
    }

    /** Whether there is room to write of which no event will tell. */
    default boolean hasRoom() {
        return false;
    }

    /** Whether accepted bytes have not reached the kernel. */
    default boolean hasUnsent() {
        return false;
    }

    /**
     * Shuts down the sending direction (FIN) once everything is sent. As long as {@link #hasUnsent}, the caller calls
     * again when there is room.
     */
    void shutdownOutput() throws IOException;

    /** Closes the socket. Idempotent. */
    void close();
}
