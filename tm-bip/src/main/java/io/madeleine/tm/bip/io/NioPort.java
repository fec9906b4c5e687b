package io.madeleine.tm.bip.io;

import io.madeleine.api.ConfigurationException;
import io.madeleine.tm.bip.protocol.Datagram;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectableChannel;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A socket of the JDK. Sending allocates nothing. Receiving allocates an address, about 100 bytes, whenever a datagram
 * comes from another peer than the one before it.
 *
 * <p>Threading: as {@link DatagramPort}.
 */
public final class NioPort implements DatagramPort {
    private final DatagramChannel channel;
    private final InetSocketAddress address;
    private final int receiveBufferBytes;
    private final int sendBufferBytes;
    private volatile boolean closed;
    private volatile long failedSends;

    /**
     * Opens a socket.
     *
     * @param place where to bind it
     * @param sendBytes the send buffer to ask for, 0 for that of the system
     * @param receiveBytes the receive buffer to ask for, 0 for that of the system
     * @param keys the configuration path of the keys {@code bind} and {@code port}, for the error text
     */
    public NioPort(InetSocketAddress place, int sendBytes, int receiveBytes, String keys) {
        if (place.isUnresolved()) {
            throw new ConfigurationException("bip cannot listen on " + place.getHostString()
                    + ": the host name is unknown; see " + keys + ".bind");
        }
        DatagramChannel opened = null;
        try {
            boolean isIpv6 = place.getAddress() instanceof java.net.Inet6Address;
            opened = DatagramChannel.open(isIpv6 ? StandardProtocolFamily.INET6 : StandardProtocolFamily.INET);
            opened.configureBlocking(false);
            if (sendBytes > 0) {
                opened.setOption(StandardSocketOptions.SO_SNDBUF, sendBytes);
            }
            if (receiveBytes > 0) {
                opened.setOption(StandardSocketOptions.SO_RCVBUF, receiveBytes);
            }
            forbidFragments(opened);
            opened.bind(place);
            channel = opened;
            address = (InetSocketAddress) opened.getLocalAddress();
            receiveBufferBytes = opened.getOption(StandardSocketOptions.SO_RCVBUF);
            sendBufferBytes = opened.getOption(StandardSocketOptions.SO_SNDBUF);
        } catch (IOException e) {
            closeQuietly(opened);
            throw new ConfigurationException(
                    "bip cannot listen on " + place.getAddress().getHostAddress() + " port " + place.getPort() + ": "
                            + e.getMessage() + "; see " + keys + ".bind and .port (0 for any free port)",
                    e);
        }
    }

    private static void closeQuietly(@Nullable DatagramChannel opened) {
        try {
            if (opened != null) {
                opened.close();
            }
        } catch (IOException _) {
            // the first failure is reported
        }
    }

    /** Where the JDK can, forbids routers to cut datagrams: a probe of the path's size then fails as it should. */
    private static void forbidFragments(DatagramChannel opened) throws IOException {
        for (SocketOption<?> option : opened.supportedOptions()) {
            if (option.name().equals("IP_DONTFRAGMENT") && option.type() == Boolean.class) {
                @SuppressWarnings("unchecked") // its type says so
                SocketOption<Boolean> flag = (SocketOption<Boolean>) option;
                opened.setOption(flag, true);
            }
        }
    }

    @Override
    public int send(Datagram datagram, InetSocketAddress to) {
        try {
            return channel.send(datagram.toSend(), to) > 0 ? SENT : FULL;
        } catch (ClosedChannelException _) {
            return SENT; // nobody is interested any more
        } catch (UnsupportedAddressTypeException _) {
            failedSends++; // no such address can be reached from here
            return SENT;
        } catch (IOException e) {
            if (isTooLong(e)) {
                return TOO_LARGE;
            }
            failedSends++; // the network is down, or a firewall forbids it: a datagram that is lost
            return SENT;
        } finally {
            datagram.restoreRing();
        }
    }

    private static boolean isTooLong(IOException e) {
        return String.valueOf(e.getMessage()).toLowerCase(Locale.ROOT).contains("too long");
    }

    /** How many datagrams the system refused to send. */
    public long failedSends() {
        return failedSends;
    }

    @Override
    public @Nullable InetSocketAddress receive(Datagram into) {
        into.clear();
        try {
            SocketAddress from = channel.receive(into.bytes());
            into.arrived();
            return (InetSocketAddress) from;
        } catch (ClosedChannelException _) {
            return null;
        } catch (IOException e) {
            if (closed) {
                return null;
            }
            throw new UncheckedIOException("bip cannot read from its socket at " + address, e);
        }
    }

    @Override
    public InetSocketAddress address() {
        return address;
    }

    @Override
    public SelectableChannel channel() {
        return channel;
    }

    @Override
    public int receiveBufferBytes() {
        return receiveBufferBytes;
    }

    @Override
    public int sendBufferBytes() {
        return sendBufferBytes;
    }

    @Override
    public void close() {
        closed = true;
        closeQuietly(channel);
    }
}
