package io.madeleine.tm.tcp;

import io.madeleine.pmm.handshake.ConnectionManager;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Has the event loop poll the connection manager at its next deadline.
 *
 * <p>Threading: confined to the event loop.
 */
final class HandshakeTimer {
    private final ConnectionManager connections;
    private final EventLoop loop;
    private @Nullable ScheduledFuture<?> next;
    private long nextNs;

    HandshakeTimer(ConnectionManager connections, EventLoop loop) {
        this.connections = connections;
        this.loop = loop;
    }

    /** Reschedules the timer if the next deadline is nearer than the scheduled one. */
    void update() {
        long nowNs = System.nanoTime();
        long untilNextNs = connections.untilNextNs(nowNs);
        ScheduledFuture<?> former = next;
        if (untilNextNs == Long.MAX_VALUE || (former != null && nextNs - nowNs <= untilNextNs)) {
            return;
        }
        if (former != null) {
            former.cancel(false);
        }
        nextNs = nowNs + untilNextNs;
        next = loop.schedule(this::check, untilNextNs, TimeUnit.NANOSECONDS);
    }

    private void check() {
        next = null;
        connections.poll(System.nanoTime());
        update();
    }
}
