package io.madeleine.tm.bip.io;

import io.madeleine.tm.bip.protocol.Datagram;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SelectableChannel;
import org.jspecify.annotations.Nullable;

/**
 * Sends and receives datagrams. No call waits.
 *
 * <p>Threading: one thread at a time sends, and one receives.
 */
public interface DatagramPort extends AutoCloseable {
    /** A result of {@link #send}: the datagram is on its way, lost, or kept until the next {@link #flush}. */
    int SENT = 0;

    /** A result of {@link #send}: the system takes nothing more at the moment, and the datagram was not taken. */
    int FULL = -1;

    /** A result of {@link #send}: the network does not carry datagrams of this size, or of one that was kept. */
    int TOO_LARGE = -2;

    /** Sends a sealed datagram. */
    int send(Datagram datagram, InetSocketAddress to);

    /** Sends the datagrams that this port has kept; {@link #FULL} if it still keeps some. */
    default int flush() {
        return SENT; // most ports keep none
    }

    /** Takes the next datagram that has arrived; returns its sender, or null if none has arrived. */
    @Nullable
    InetSocketAddress receive(Datagram into);

    /** The address of the socket. */
    InetSocketAddress address();

    /** Whether the socket can send to an address, and receive at one: a socket of IPv4 knows no address of IPv6. */
    default boolean knows(InetAddress other) {
        return other instanceof Inet4Address || address().getAddress() instanceof Inet6Address;
    }

    /** What becomes ready when a datagram arrives, or when there is room to send. */
    SelectableChannel channel();

    /** How many bytes of arrived datagrams the system keeps. */
    int receiveBufferBytes();

    /** How many bytes of datagrams that have not left the system keeps. */
    int sendBufferBytes();

    /**
     * When {@link #pump} and {@link #receive} have to be called although nothing became ready; else the greatest long.
     */
    default long nextDeadlineNs() {
        return Long.MAX_VALUE;
    }

    /** Sends what this port has delayed; called in the place of {@link #send}, with memory to use for it. */
    default void pump(Datagram scratch, long nowNs) {
        // most ports delay nothing
    }

    @Override
    void close();
}
