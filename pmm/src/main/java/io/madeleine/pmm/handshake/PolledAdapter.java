package io.madeleine.pmm.handshake;

import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProgressSource;
import io.madeleine.pmm.spi.ProtocolChannel;
import io.madeleine.pmm.spi.ProtocolConnection;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * An adapter of a network without threads or events of its own. The leader's poll feeds its handshakes and drives the
 * connections that result. The driver only has to reach a peer and to move bytes.
 *
 * <p>Threading: as for {@link Adapter} and {@link ProgressSource}; a lock guards the handshakes; any thread may call
 * {@link #wake}.
 */
public abstract class PolledAdapter implements Adapter, ProgressSource {
    private final String name;
    private final ProcessContext context;
    private final ConnectionManager manager;
    private final Map<PolledConnection, Handshake> connections = new ConcurrentHashMap<>();

    /** Completions of requests, to be run once the lock is free. */
    private final Queue<Runnable> completions = new ConcurrentLinkedQueue<>();

    private volatile boolean armed;

    /** An adapter of a family, with the limits from its configuration. */
    protected PolledAdapter(String family, String name, ProcessContext context, HandshakeLimits limits) {
        this.name = name;
        this.context = context;
        this.manager = new ConnectionManager(family, context, limits, completions::add);
    }

    /**
     * Opens a line to a peer and calls {@link #called}. If that cannot succeed, it calls {@link #callFailed}. This
     * method is called once for each request: an adapter that wants to try again does so by itself, and {@linkplain
     * PendingConnection#note notes} meanwhile why it has not succeeded yet, for the error text of the deadline.
     */
    protected abstract void call(PendingConnection wanted);

    /** No line to the peer can be opened: fails the request at once; {@code reason} is a clause. */
    protected final void callFailed(PendingConnection wanted, String reason) {
        synchronized (manager) {
            wanted.fail(reason);
        }
        wake();
    }

    /** A line to a peer is open. */
    protected final void called(PendingConnection wanted, PolledConnection line) {
        synchronized (manager) {
            Handshake handshake = manager.call(wanted, line, System.nanoTime());
            connections.put(line, handshake);
            handshake.start();
        }
    }

    /** A peer has opened a line. Any thread. */
    protected final void accepted(PolledConnection line) {
        synchronized (manager) {
            Handshake handshake = manager.accept(line, System.nanoTime());
            connections.put(line, handshake);
            handshake.start();
        }
        wake();
    }

    /** Tells the leader of an event. Any thread, after it has made the event visible. */
    public final void wake() {
        if (armed) {
            context.reactor().wakeUp();
        }
    }

    final void forget(PolledConnection closed) {
        connections.remove(closed);
    }

    @Override
    public final String name() {
        return name;
    }

    @Override
    public final ProgressSource progress() {
        return this;
    }

    @Override
    public final ProtocolChannel openChannel(String channelName) {
        return new ProtocolChannel() {
            @Override
            public CompletableFuture<ProtocolConnection> connect(ConnectionRequest request) {
                PendingConnection wanted = manager.prepare(channelName, request);
                synchronized (manager) {
                    manager.request(wanted);
                }
                if (request.initiator()) {
                    call(wanted);
                }
                wake();
                return wanted.future();
            }

            @Override
            public void close() {
                synchronized (manager) {
                    manager.closeChannel(channelName);
                }
                wake();
            }
        };
    }

    @Override
    public final int poll(long nowNs) {
        int work = 0;
        synchronized (manager) {
            manager.poll(nowNs);
            for (Map.Entry<PolledConnection, Handshake> each : connections.entrySet()) {
                work += each.getKey().feed(each.getValue(), nowNs);
            }
        }
        work += tell();
        for (PolledConnection connection : connections.keySet()) {
            work += connection.poll();
        }
        return work;
    }

    private int tell() {
        int told = 0;
        for (Runnable next = completions.poll(); next != null; next = completions.poll()) {
            next.run();
            told++;
        }
        return told;
    }

    /**
     * Sets the flag before it checks for events: a thread that makes an event visible does so before it reads the flag.
     */
    @Override
    public final boolean armForBlocking() {
        armed = true;
        return completions.isEmpty() && connections.keySet().stream().noneMatch(PolledConnection::hasWork);
    }

    @Override
    public final long longestSleepNs() {
        synchronized (manager) {
            return manager.untilNextNs(System.nanoTime());
        }
    }

    @Override
    public final void disarm() {
        armed = false;
    }

    @Override
    public void close() {
        synchronized (manager) {
            manager.close();
        }
        connections.keySet().forEach(PolledConnection::close);
        tell();
    }
}
