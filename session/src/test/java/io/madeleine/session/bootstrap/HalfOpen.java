package io.madeleine.session.bootstrap;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Strangers that connect and say nothing: so many at a time, the oldest of which give way to new ones without a pause.
 */
final class HalfOpen implements AutoCloseable {
    private static final int THREADS = 2;

    private final List<Thread> threads = new ArrayList<>();
    private final AtomicInteger made = new AtomicInteger();
    private volatile boolean over;

    HalfOpen(InetSocketAddress target, int count) {
        for (int i = 0; i < THREADS; i++) {
            threads.add(Thread.ofPlatform().start(() -> renew(target, count / THREADS)));
        }
    }

    private void renew(InetSocketAddress target, int count) {
        Deque<Socket> open = new ArrayDeque<>();
        while (!over) {
            Socket socket = new Socket();
            try {
                socket.connect(target, 500);
                open.add(socket);
                made.incrementAndGet();
            } catch (IOException _) {
                close(socket); // no room for the moment
            }
            if (open.size() > count) {
                close(open.remove());
            }
        }
        open.forEach(HalfOpen::close);
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException _) {
            // closed in any case
        }
    }

    /** Waits until so many have connected. */
    void await(int count) throws InterruptedException {
        for (int i = 0; i < 4_000 && made.get() < count; i++) {
            Thread.sleep(5);
        }
    }

    /** How many have connected. */
    int made() {
        return made.get();
    }

    @Override
    public void close() {
        over = true;
        try {
            for (Thread thread : threads) {
                thread.join();
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
