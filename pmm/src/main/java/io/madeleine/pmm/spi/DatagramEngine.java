package io.madeleine.pmm.spi;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Sends and receives many datagrams by one system call, on sockets of the JDK. A network finds an engine at run time
 * with {@link java.util.ServiceLoader} and works without one.
 *
 * <p>Threading: thread-safe.
 */
public interface DatagramEngine {
    /** Whether this process can use the engine; never throws. */
    Availability availability();

    /** The Java modules that need native access for this engine, whether they have it or not. */
    List<String> nativeModules();

    /**
     * Prepares to send and receive through the socket that a {@link java.nio.channels.DatagramChannel} of this process
     * has bound to the address. The channel goes on to own the socket, its options and its selection keys.
     *
     * <p>Ownership: close the result before the channel: afterwards its descriptor may be another's.
     *
     * @throws IllegalStateException if the engine is not available, or the system cannot send or receive this way; the
     *     text says why
     */
    Batches open(InetSocketAddress local);

    /**
     * The datagrams of one socket. No call waits, and none allocates once the peers are known.
     *
     * <p>Threading: one thread at a time sends, and one receives; {@link #close} when none does either.
     */
    interface Batches extends AutoCloseable {
        /** A result: what was given is on its way, lost, or kept for {@link #flush}. */
        int SENT = 0;

        /** A result: the system takes nothing more at the moment. */
        int FULL = -1;

        /** A result: a datagram of this or an earlier call was larger than the network permits, and is lost. */
        int TOO_LARGE = -2;

        /**
         * Sends a datagram, or keeps it to be sent together with others. Datagrams leave in their order.
         *
         * @param memory native memory that begins with the datagram; may be used again when the call returns
         * @return {@link #FULL} if the datagram was not taken
         */
        int send(MemorySegment memory, int bytes, InetSocketAddress to);

        /** Sends what is kept; returns {@link #FULL} if something is still kept. */
        int flush();

        /**
         * Takes the next datagram that has arrived; {@link #receivedBytes} tells its length.
         *
         * @param into native memory with room for the longest datagram
         * @return its sender, or null if none has arrived
         * @throws java.io.UncheckedIOException if the socket cannot be read
         */
        @Nullable
        InetSocketAddress receive(MemorySegment into);

        /** The length of the datagram that was received last. */
        int receivedBytes();

        @Override
        void close();
    }
}
