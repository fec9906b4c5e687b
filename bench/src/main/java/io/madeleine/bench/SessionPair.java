package io.madeleine.bench;

import io.madeleine.api.Channel;
import io.madeleine.api.Session;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.CompletableFuture;

/** Two processes of a session in this JVM, for benchmarks that send and receive with one thread. */
record SessionPair(Session sender, Session receiver, Channel out, Channel in) implements AutoCloseable {
    /** Over one network, spinning. */
    static SessionPair open(String network) throws IOException {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        CompletableFuture<Session> other = CompletableFuture.supplyAsync(() -> session(port, 1, network));
        Session sender = session(port, 0, network);
        Session receiver = other.join();
        return new SessionPair(sender, receiver, sender.channel("default"), receiver.channel("default"));
    }

    private static Session session(int port, int rank, String network) {
        return Session.open(
                "session.hosts=127.0.0.1:" + port + ",127.0.0.1",
                "session.rank=" + rank,
                "networks=[" + network + "]",
                "wait.mode=spin");
    }

    /** Closes both ends, each from a thread of its own. */
    @Override
    public void close() {
        CompletableFuture<Void> other = CompletableFuture.runAsync(receiver::close);
        sender.close();
        other.join();
    }
}
