package io.madeleine.tm.bip;

import io.madeleine.pmm.SpinLock;
import io.madeleine.tm.bip.io.DatagramPort;
import io.madeleine.tm.bip.protocol.Datagram;
import io.madeleine.tm.bip.protocol.Endpoint;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * Sends what the connections have to send through the one socket. A datagram that the system does not take waits here
 * until it does.
 *
 * <p>Threading: thread-safe; called under the lock of a connection, or under none.
 */
final class Output {
    private final SpinLock lock = new SpinLock();
    private final DatagramPort port;
    private final Datagram datagram;
    private @Nullable InetSocketAddress stuckTo;
    private boolean closed;
    private volatile long lastSentNs;

    Output(DatagramPort port, Arena arena) {
        this.port = port;
        this.datagram = new Datagram(arena);
    }

    /** When a datagram was sent last. */
    long lastSentNs() {
        return lastSentNs;
    }

    /** Sends all that the connection's end has to send now; returns false if the system does not take it all. */
    boolean flush(Endpoint end, BipConnection connection, long nowNs, boolean waits) {
        lock.lock();
        try {
            if (closed) {
                return true;
            }
            if (!sendStuck()) {
                return false;
            }
            while (end.produce(nowNs, datagram, waits) > 0) {
                lastSentNs = nowNs;
                InetSocketAddress to = connection.target();
                int status = port.send(datagram, to);
                if (status == DatagramPort.FULL) {
                    datagram.join();
                    stuckTo = to;
                    return false;
                }
                if (status == DatagramPort.TOO_LARGE) {
                    end.refusedAsTooLarge();
                }
            }
            int status = port.flush();
            if (status == DatagramPort.TOO_LARGE) {
                end.refusedAsTooLarge();
            }
            return status != DatagramPort.FULL;
        } finally {
            lock.unlock();
        }
    }

    private boolean sendStuck() {
        if (port.flush() == DatagramPort.FULL) {
            return false;
        }
        InetSocketAddress to = stuckTo;
        if (to != null && port.send(datagram, to) == DatagramPort.FULL) {
            return false;
        }
        stuckTo = null;
        return true;
    }

    /** Sends what the port has delayed. */
    void pump(long nowNs) {
        lock.lock();
        try {
            if (!closed && sendStuck()) {
                port.pump(datagram, nowNs);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Sends one datagram that belongs to no connection; it may get lost. */
    void sendAnswer(InetSocketAddress to, int kind, long destination, long number, byte[] body) {
        lock.lock();
        try {
            if (!closed && sendStuck()) {
                datagram.begin(kind, destination, number, 0);
                datagram.bytes().put(body);
                datagram.seal();
                int _ = port.send(datagram, to);
                int _ = port.flush();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Sends nothing more. When this returns, no thread uses the port to send. */
    void close() {
        lock.lock();
        try {
            closed = true;
        } finally {
            lock.unlock();
        }
    }
}
