package io.madeleine.nexus.wan;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.Optional;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * Listens for connections and lets in who proves to know the secret. Until they have {@linkplain Knock knocked} rightly, one thread
 * serves all who come, in less than 16 MiB, and without TLS: it never waits for one of them, and when there are too many, or
 * descriptors run out, who has been silent for longest goes, and comes again if it is a guest. Those who have knocked take less than
 * 16 MiB more ({@link Entrance}). Nothing ends the thread but {@link #close}: what goes wrong, be it an Error, costs at most the
 * stranger it concerns.
 *
 * <p>Threading: thread-safe; one daemon thread.
 */
public final class Listener implements AutoCloseable {
    /** Each takes less than 8 KiB: a channel, its key, what it has said (40 bytes), and its socket. */
    static final int MAX_STRANGERS = 2_048;

    /** The system takes less, perhaps. */
    private static final int BACKLOG = 4_096;

    /** So that those who have come get their turn while more come. */
    private static final int ACCEPTED_PER_ROUND = 64;

    private static final long PAUSE_MS = 20;
    private static final long CLOSE_MS = 1_000;

    private final ServerSocketChannel server;
    private final int port;
    private final Selector selector;
    private final Credentials credentials;
    private final int timeoutMs;
    private final Notices notices = new Notices();
    private final Entrance entrance;
    private final Strangers strangers;
    private final Deque<Stranger> knocked = new ArrayDeque<>();
    private final Thread thread;
    private volatile boolean closed;

    /** Told of who has come in. */
    @FunctionalInterface
    public interface Guests {
        /**
         * Called in a virtual thread of the connection's own, which the time for strangers bounds until it returns.
         * Ownership: the connection is the callee's from then on, unless it throws.
         */
        void welcome(SealedConnection connection) throws IOException;
    }

    /**
     * Begins to listen.
     *
     * @param timeoutMs how long a stranger may take to become a guest
     */
    public Listener(InetSocketAddress address, Credentials credentials, int timeoutMs, Guests guests)
            throws IOException {
        this(
                address,
                credentials,
                timeoutMs,
                guests,
                Thread.ofVirtual().name("nexus-wan-stranger").factory(),
                MAX_STRANGERS);
    }

    Listener(
            InetSocketAddress address,
            Credentials credentials,
            int timeoutMs,
            Guests guests,
            ThreadFactory threads,
            int maxStrangers)
            throws IOException {
        this.strangers = new Strangers(maxStrangers);
        this.credentials = credentials;
        this.timeoutMs = timeoutMs;
        this.entrance = new Entrance(credentials, timeoutMs, guests, threads, notices);
        this.server = ServerSocketChannel.open();
        try {
            server.bind(address, BACKLOG);
            port = server.socket().getLocalPort();
            server.configureBlocking(false);
            selector = Selector.open();
        } catch (IOException | RuntimeException e) {
            server.close();
            throw e;
        }
        server.register(selector, SelectionKey.OP_ACCEPT);
        thread = Thread.ofPlatform().daemon().name("nexus-wan-listener").start(this::serve);
    }

    /** The port it listens on. */
    public int port() {
        return port;
    }

    private void serve() {
        while (!closed) {
            try {
                look();
            } catch (Throwable e) { // an Error, too: guests may still be on their way
                recover(e);
            }
        }
        shut();
    }

    private void look() throws IOException {
        if (knocked.isEmpty()) {
            selector.select(longestWaitMs());
        } else { // something went wrong when they were to be let in
            selector.selectNow();
        }
        for (Iterator<SelectionKey> keys = selector.selectedKeys().iterator(); keys.hasNext() && !closed; ) {
            SelectionKey ready = keys.next();
            keys.remove();
            if (ready.attachment() instanceof Stranger stranger) {
                hear(stranger);
            } else {
                acceptSome();
            }
        }
        letKnockedIn();
        dropLate();
    }

    /** How long nobody's time ends; 0 for ever. */
    private long longestWaitMs() {
        return strangers
                .oldest()
                .map(oldest -> Math.max(1, timeoutMs - ageMs(oldest) + 1))
                .orElse(0L);
    }

    private static long ageMs(Stranger stranger) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - stranger.sinceNs);
    }

    private void acceptSome() throws IOException {
        for (int i = Math.min(ACCEPTED_PER_ROUND, strangers.maxCount() / 4); i > 0; i--) {
            SocketChannel channel = server.accept();
            if (channel == null) {
                return;
            }
            meet(new Stranger(channel, new Knock(credentials)));
        }
    }

    private void meet(Stranger stranger) {
        if (strangers.isFull()) {
            strangers
                    .mostSilent()
                    .ifPresent(silent -> refuse(
                            silent,
                            "more than " + strangers.count() + " are there that have not shown to know the secret"));
        }
        strangers.enter(stranger);
        try {
            stranger.register(selector);
            stranger.say(stranger.knock.opening());
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
            if (stranger.knock.isRight()) {
                knocked.add(stranger);
            }
        } catch (HandshakeException e) {
            stranger.hint(e.farewell());
            refuse(stranger, String.valueOf(e.getMessage()));
        } catch (IOException _) {
            drop(stranger); // it has reset the connection
        } catch (Throwable e) {
            drop(stranger);
            throw e;
        }
    }

    private void letKnockedIn() throws IOException {
        if (knocked.isEmpty()) {
            return;
        }
        for (Stranger stranger : knocked) {
            SelectionKey registered = stranger.channel.keyFor(selector);
            if (registered != null) {
                registered.cancel();
            }
        }
        selector.selectNow(); // forgets the keys: a channel that blocks cannot be a selector's
        while (!knocked.isEmpty()) {
            Stranger stranger = knocked.removeFirst();
            strangers.leave(stranger);
            try {
                stranger.channel.configureBlocking(true);
                entrance.enter(stranger);
            } catch (IOException _) {
                stranger.close(); // it has gone already
            } catch (Throwable e) {
                stranger.close();
                throw e;
            }
        }
    }

    private void dropLate() {
        for (Optional<Stranger> oldest = strangers.oldest();
                oldest.isPresent() && ageMs(oldest.get()) >= timeoutMs;
                oldest = strangers.oldest()) {
            refuse(oldest.get(), Deadline.text(timeoutMs));
        }
    }

    private void refuse(Stranger stranger, String why) {
        String name = stranger.name(); // while it has one
        drop(stranger);
        notices.note("who connected from " + name + " is not let in: " + why);
    }

    private void drop(Stranger stranger) {
        strangers.leave(stranger);
        knocked.remove(stranger);
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
            notices.note("a connection cannot be accepted: " + cause);
            if (strangers.count() == before) {
                Thread.sleep(PAUSE_MS);
            }
        } catch (Throwable _) {
            // the next round tries again
        }
    }

    private void shut() {
        try {
            server.close();
            while (strangers.oldest().isPresent()) {
                drop(strangers.oldest().get());
            }
            selector.close();
        } catch (IOException _) {
            // closed in any case
        }
    }

    /** Nobody can connect any more; connections stay. Idempotent. */
    @Override
    public void close() {
        closed = true;
        notices.close();
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
