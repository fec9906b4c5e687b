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
 * An adapter of a network without threads or events of its own: the leader's poll feeds the handshakes and drives the connections that
 * come of them. What is left to a driver is to reach a peer, and to move bytes.
 *
 * <p>Threading: as {@link Adapter} and {@link ProgressSource} say, handshakes under a lock of its own; {@link #wake} by any thread.
 */
public abstract class PolledAdapter implements Adapter, ProgressSource {
    private final String name;
    private final ProcessContext context;
    private final ConnectionManager manager;
    private final Map<PolledConnection, Handshake> connections = new ConcurrentHashMap<>();

    /** Who is to be told of connections, once the lock is free. */
    private final Queue<Runnable> news = new ConcurrentLinkedQueue<>();

    private volatile boolean armed;

    /** Of a family with the limits that its configuration gives. */
    protected PolledAdapter(String family, String name, ProcessContext context, HandshakeLimits limits) {
        this.name = name;
        this.context = context;
        this.manager = new ConnectionManager(family, context, limits, news::add);
    }

    /** Opens a line to a peer, and says {@link #called}, or else has the request fail. */
    protected abstract void call(PendingConnection wanted);

    /** A line to a peer is open. */
    protected final void called(PendingConnection wanted, PolledConnection line) {
        synchronized (manager) {
            Handshake handshake = manager.call(wanted, line, System.nanoTime());
            connections.put(line, handshake);
            handshake.start();
        }
    }

    /** A peer has opened a line; any thread. */
    protected final void accepted(PolledConnection line) {
        synchronized (manager) {
            Handshake handshake = manager.accept(line, System.nanoTime());
            connections.put(line, handshake);
            handshake.start();
        }
        wake();
    }

    /** There is news for the leader; any thread, after it has brought them. */
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
                    manager.want(wanted);
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
        for (Runnable next = news.poll(); next != null; next = news.poll()) {
            next.run();
            told++;
        }
        return told;
    }

    /** Arms before looking: who brings news does so first and then asks whether to wake. */
    @Override
    public final boolean armForBlocking() {
        armed = true;
        return news.isEmpty() && connections.keySet().stream().noneMatch(PolledConnection::hasNews);
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
