package io.madeleine.session;

import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Listens for control connections. Until they have proved to know the secret, one thread serves all who come, in less than
 * 16 MiB: it never waits for one of them, and when there are too many, or descriptors run out, who has been silent for longest
 * goes. Nothing ends that thread but {@link #close}: what goes wrong, be it an Error, costs at most the stranger it concerns.
 *
 * <p>Threading: thread-safe; one daemon thread.
 */
final class BootstrapAcceptor implements AutoCloseable {
    private static final Logger LOGGER = System.getLogger(BootstrapServer.class.getName());

    /** Each takes less than 8 KiB: a channel, its key, what it has said (72 bytes), and its socket. */
    private static final int MAX_STRANGERS = 2_048;

    /** The system takes less, perhaps. */
    private static final int BACKLOG = 4_096;

    private static final long HANDSHAKE_NS = TimeUnit.MILLISECONDS.toNanos(BootstrapServer.HANDSHAKE_TIMEOUT_MS);

    /** So that those who have come get their turn while more come. */
    private static final int ACCEPTED_PER_ROUND = 64;

    private static final long PAUSE_MS = 20;
    private static final long CLOSE_MS = 1_000;

    private final byte[] key;
    private final Host host;
    private final ServerSocketChannel listener;
    private final Selector selector;
    private final Thread thread;
    private final Strangers<Stranger> strangers = new Strangers<>(MAX_STRANGERS);
    private final Deque<Stranger> proven = new ArrayDeque<>();
    private final NoticeLimit notices = new NoticeLimit(LOGGER);
    private volatile boolean closed;

    /** To whom members are handed. */
    interface Host {
        /**
         * Somebody has proved to know the secret, and waits to be {@linkplain ControlHandshake#admit admitted}. Must not wait.
         * Ownership: the channel is the host's, unless this fails.
         */
        void proven(SocketChannel channel, ControlHandshake handshake);

        /** Somebody was not let in. */
        void refused(String why);
    }

    BootstrapAcceptor(InetSocketAddress address, byte[] key, Host host) throws IOException {
        this.key = key;
        this.host = host;
        this.listener = ServerSocketChannel.open();
        try {
            listener.bind(address, BACKLOG);
            listener.configureBlocking(false);
            selector = Selector.open();
        } catch (IOException e) {
            listener.close();
            throw e;
        }
        listener.register(selector, SelectionKey.OP_ACCEPT);
        thread = Thread.ofPlatform().daemon().name("madeleine-bootstrap").start(this::serve);
    }

    /** Where it listens. */
    InetSocketAddress address() {
        return new InetSocketAddress(
                listener.socket().getInetAddress(), listener.socket().getLocalPort());
    }

    private void serve() {
        while (!closed) {
            try {
                look();
            } catch (Throwable e) { // an Error, too: members may still be on their way
                recover(e);
            }
        }
        shut();
    }

    private void look() throws IOException {
        selector.select(longestWaitMs());
        for (Iterator<SelectionKey> keys = selector.selectedKeys().iterator(); keys.hasNext() && !closed; ) {
            SelectionKey ready = keys.next();
            keys.remove();
            if (ready.attachment() instanceof Stranger stranger) {
                hear(stranger);
            } else {
                acceptSome();
            }
        }
        welcomeProven();
        dropLate();
    }

    /** How long nobody's time ends. */
    private long longestWaitMs() {
        return strangers
                .oldest()
                .map(oldest -> Math.max(
                        1, TimeUnit.NANOSECONDS.toMillis(oldest.sinceNs + HANDSHAKE_NS - System.nanoTime()) + 1))
                .orElse(0L);
    }

    private void acceptSome() throws IOException {
        for (int i = Math.min(ACCEPTED_PER_ROUND, strangers.maxCount() / 4); i > 0; i--) {
            SocketChannel channel = listener.accept();
            if (channel == null) {
                return;
            }
            meet(new Stranger(channel, new ControlHandshake(key)));
        }
    }

    private void meet(Stranger stranger) {
        if (strangers.isFull()) {
            dropMostSilent("there were more than " + strangers.count() + " that had not proved to know the secret");
        }
        strangers.enter(stranger);
        try {
            stranger.register(selector);
            stranger.say(stranger.handshake.opening());
        } catch (IOException _) {
            drop(stranger); // it has gone already
        } catch (Throwable e) {
            drop(stranger);
            throw e;
        }
    }

    private void hear(Stranger stranger) {
        try {
            if (!stranger.hear()) {
                drop(stranger);
                return;
            }
            strangers.spoke(stranger);
            if (stranger.handshake.isProven()) {
                proven.add(stranger);
            }
        } catch (ControlHandshake.HandshakeException e) {
            String why = stranger.name() + " was refused: " + e.getMessage();
            stranger.hint(e.farewell());
            drop(stranger);
            host.refused(why);
            notices.warn("bootstrap server: " + why);
        } catch (IOException _) {
            drop(stranger); // it has reset the connection
        } catch (Throwable e) {
            drop(stranger);
            throw e;
        }
    }

    private void welcomeProven() throws IOException {
        if (proven.isEmpty()) {
            return;
        }
        for (Stranger stranger : proven) {
            SelectionKey registered = stranger.channel.keyFor(selector);
            if (registered != null) {
                registered.cancel();
            }
        }
        selector.selectNow(); // forgets the keys: a channel that blocks cannot be a selector's
        while (!proven.isEmpty()) {
            Stranger stranger = proven.getFirst();
            strangers.leave(stranger);
            try {
                stranger.channel.configureBlocking(true);
                host.proven(stranger.channel, stranger.handshake);
            } catch (Throwable e) {
                stranger.close();
                throw e;
            } finally {
                proven.removeFirst();
            }
        }
    }

    private void dropLate() {
        long nowNs = System.nanoTime();
        for (Optional<Stranger> oldest = strangers.oldest();
                oldest.isPresent() && nowNs - oldest.get().sinceNs >= HANDSHAKE_NS;
                oldest = strangers.oldest()) {
            refuse(
                    oldest.get(),
                    "had not proved to know the secret within " + BootstrapServer.HANDSHAKE_TIMEOUT_MS + " ms");
        }
    }

    private void dropMostSilent(String why) {
        strangers.mostSilent().ifPresent(silent -> refuse(silent, "was dropped: " + why));
    }

    private void refuse(Stranger stranger, String why) {
        String name = stranger.name();
        drop(stranger);
        notices.warn("bootstrap server: " + name + " " + why);
    }

    private void drop(Stranger stranger) {
        strangers.leave(stranger);
        stranger.close();
    }

    /**
     * Out of descriptors, threads or memory, probably, and others in this process need some, too: from now on fewer strangers are
     * let in.
     */
    private void recover(Throwable cause) {
        if (closed) {
            return;
        }
        try {
            int before = strangers.count();
            strangers.halve();
            while (strangers.isFull()) {
                strangers.mostSilent().ifPresent(this::drop);
            }
            selector.selectNow(); // frees their descriptors: to tell of it may take one
            notices.warn("bootstrap server: accepting a control connection failed, and goes on: " + cause);
            if (strangers.count() == before) {
                Thread.sleep(PAUSE_MS);
            }
        } catch (Throwable _) {
            // the next round tries again
        }
    }

    private void shut() {
        try {
            listener.close();
            while (strangers.oldest().isPresent()) {
                drop(strangers.oldest().get());
            }
            selector.close();
        } catch (IOException e) {
            LOGGER.log(Level.DEBUG, "closing the bootstrap server's socket failed", e);
        }
    }

    /** Nobody can connect any more; members stay. Idempotent. */
    @Override
    public void close() {
        closed = true;
        selector.wakeup();
        if (Thread.currentThread() == thread) {
            return;
        }
        try {
            thread.join(CLOSE_MS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
