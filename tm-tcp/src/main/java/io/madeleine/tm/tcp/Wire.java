package io.madeleine.tm.tcp;

import io.madeleine.pmm.spi.Reactor;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * An established socket, as a link sees it: bytes in, bytes out, nothing waits.
 *
 * <p>Threading: one thread at a time reads, one at a time writes; {@link #interest} and {@link #close} are thread-safe,
 * but nobody may read or write when {@code close} is called.
 */
interface Wire {
    /** Whether the wire reads and writes user memory safely in place, even if that is freed meanwhile. */
    boolean reachesUserMemory();

    /** Whether it is the kernel that copies to and from user memory, so that it matters where that lies ({@link SlowCopy}). */
    default boolean isCopiedByKernel() {
        return true;
    }

    /** Reads into the buffer; returns how many bytes, 0 if there are none, -1 at the end of the stream. */
    int read(ByteBuffer target) throws IOException;

    /** Writes what it can of the buffer; returns how many bytes. */
    int write(ByteBuffer source) throws IOException;

    /** Passes on what {@link #write} has taken and kept; returns whether nothing is left. By whoever writes. */
    default boolean flush() throws IOException {
        return true;
    }

    /** Has events reported, none at first. Called once, in the event loop, before {@link #interest}. */
    void register(Reactor.ReadyHandler handler) throws IOException;

    /** Which events to report from now on, of {@link java.nio.channels.SelectionKey}: {@code OP_READ}, {@code OP_WRITE}. */
    void interest(int operations);

    /** Whether bytes or the end of the stream have come in, of which no event will tell any more. */
    default boolean hasArrived() {
        return false;
    }

    /** Whether there is room to write again, of which no event will tell any more. */
    default boolean hasRoom() {
        return false;
    }

    /** Whether bytes that were written have not reached the kernel. */
    default boolean hasUnsent() {
        return false;
    }

    /** Tells the peer's kernel that nothing more will come, once all is sent. */
    void shutdownOutput() throws IOException;

    /** Closes the socket. Idempotent. */
    void close();
}
