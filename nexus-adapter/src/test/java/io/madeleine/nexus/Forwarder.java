package io.madeleine.nexus;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A gateway on loopback: passes bytes on until it is cut, or holds them back. */
final class Forwarder implements AutoCloseable {
    private final ServerSocket server;
    private final int target;
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    private volatile boolean holds;

    Forwarder(int target) throws IOException {
        this.target = target;
        this.server = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
        Thread.ofVirtual().start(this::accept);
    }

    int port() {
        return server.getLocalPort();
    }

    private void accept() {
        try {
            while (true) {
                Socket outer = server.accept();
                Socket inner = new Socket(InetAddress.getLoopbackAddress(), target);
                sockets.addAll(List.of(outer, inner));
                Thread.ofVirtual().start(() -> pass(outer, inner));
                Thread.ofVirtual().start(() -> pass(inner, outer));
            }
        } catch (IOException _) {
            // cut
        }
    }

    private void pass(Socket from, Socket to) {
        byte[] bytes = new byte[1 << 16];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int count = in.read(bytes); count >= 0; count = in.read(bytes)) {
                if (!holds) {
                    out.write(bytes, 0, count);
                }
            }
        } catch (IOException _) {
            // cut
        }
    }

    /** Loses everything from now on, without a word. */
    void hold() {
        holds = true;
    }

    /** Ends all connections, and takes no more. */
    void cut() throws IOException {
        server.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }

    @Override
    public void close() throws IOException {
        cut();
    }
}
