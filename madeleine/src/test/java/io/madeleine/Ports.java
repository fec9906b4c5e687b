package io.madeleine;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/** Ports for sessions. */
final class Ports {
    private Ports() {}

    /** A port that nobody listens at, below those that systems give to others meanwhile. */
    static int free() {
        while (true) {
            int port = ThreadLocalRandom.current().nextInt(20_000, 32_000);
            try (ServerSocket _ = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                return port;
            } catch (IOException _) {
                // taken
            }
        }
    }
}
