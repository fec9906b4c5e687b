package io.madeleine.tm.tcp;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import javax.net.ServerSocketFactory;
import javax.net.SocketFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import org.jspecify.annotations.Nullable;

/** Somebody between two processes who passes bytes on, keeps them, changes them, or ends the connection. */
final class Relay implements AutoCloseable {
    private final ServerSocket listener;
    private final SocketFactory calls;
    private final List<Socket> sockets = new ArrayList<>();
    private final ByteArrayOutputStream seen = new ByteArrayOutputStream();
    private final int port;
    private final ByteArrayOutputStream held = new ByteArrayOutputStream();
    private @Nullable OutputStream heldFor;

    /** Whether answers are gathered until {@link #release}, which passes them on at once. */
    volatile boolean holding;

    /** Whether the last byte of what comes from the caller is changed. */
    volatile boolean corrupt;

    /** Listens, and passes on to a local port. */
    Relay(int port) throws IOException {
        this(port, ServerSocketFactory.getDefault(), SocketFactory.getDefault());
    }

    /** One that speaks TLS with both, as somebody else, and sees what they say. */
    Relay(int port, SSLContext identity) throws IOException {
        this(port, identity.getServerSocketFactory(), identity.getSocketFactory());
    }

    private Relay(int port, ServerSocketFactory listeners, SocketFactory calls) throws IOException {
        this.port = port;
        this.listener = listeners.createServerSocket(0, 5, InetAddress.getLoopbackAddress());
        this.calls = calls;
        if (listener instanceof SSLServerSocket secured) {
            secured.setNeedClientAuth(true);
        }
        Thread.ofVirtual().start(this::acceptAll);
    }

    /** The address of a process, with this relay's port instead of its own. */
    String address(String direct) {
        return direct.replace(String.valueOf(port), String.valueOf(listener.getLocalPort()));
    }

    /** What the caller has sent. */
    byte[] seen() {
        synchronized (seen) {
            return seen.toByteArray();
        }
    }

    /** How much has been gathered. */
    int heldBytes() {
        synchronized (held) {
            return held.size();
        }
    }

    void release() throws IOException {
        synchronized (held) {
            holding = false;
            Objects.requireNonNull(heldFor, "nothing has been held").write(held.toByteArray());
        }
    }

    /** Says something to the called as if it were the caller. */
    void say(byte[] bytes) throws IOException {
        synchronized (sockets) {
            sockets.getLast().getOutputStream().write(bytes);
        }
    }

    private void acceptAll() {
        try {
            while (true) {
                Socket caller = listener.accept();
                Socket called = calls.createSocket(InetAddress.getLoopbackAddress(), port);
                synchronized (sockets) {
                    sockets.addAll(List.of(caller, called));
                }
                Thread.ofVirtual().start(() -> pass(caller, called, true));
                Thread.ofVirtual().start(() -> pass(called, caller, false));
            }
        } catch (IOException _) {
            // closed
        }
    }

    private void pass(Socket from, Socket to, boolean fromCaller) {
        byte[] buffer = new byte[64 * 1024];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int count; (count = in.read(buffer)) > 0; ) {
                if (fromCaller) {
                    synchronized (seen) {
                        seen.write(buffer, 0, count);
                    }
                    if (corrupt) {
                        buffer[count - 1] ^= 1;
                    }
                }
                if (fromCaller || !hold(buffer, count, out)) {
                    out.write(buffer, 0, count);
                }
            }
            to.shutdownOutput();
        } catch (IOException _) {
            // closed
        }
    }

    private boolean hold(byte[] buffer, int count, OutputStream out) {
        synchronized (held) {
            if (holding) {
                heldFor = out;
                held.write(buffer, 0, count);
            }
            return holding;
        }
    }

    /** Ends the connections as anybody on the way can: both ends see an orderly end. */
    void cut() throws IOException {
        synchronized (sockets) {
            for (Socket socket : sockets) {
                try {
                    socket.shutdownOutput();
                } catch (SocketException _) {
                    // it has been already, by the thread that passes bytes on, perhaps just now
                }
            }
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        cut();
    }
}
