package io.madeleine.pmm.faults;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.StaticLink;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import java.lang.foreign.MemorySegment;

/**
 * A link with static buffers and faults.
 *
 * <p>Threading: as the link that it decorates.
 */
final class FaultyStaticLink implements StaticLink {
    private final FaultyConnection connection;
    private final StaticLink inner;
    private final DelayedStream stream;

    FaultyStaticLink(FaultyConnection connection, StaticLink inner, DelayedStream stream) {
        this.connection = connection;
        this.inner = inner;
        this.stream = stream;
    }

    @Override
    public TransmissionCapabilities capabilities() {
        return inner.capabilities();
    }

    @Override
    public long front() {
        return connection.use(stream, DelayedStream::front);
    }

    @Override
    public long receive(BufferGroup group, long maxBytes) {
        return connection.use(stream, (held, nowNs) -> held.receive(group, maxBytes, nowNs));
    }

    @Override
    public long skip(long maxBytes) {
        return connection.use(stream, (held, nowNs) -> held.receive(null, maxBytes, nowNs));
    }

    @Override
    public void release() {
        connection.use(stream, DelayedStream::release);
    }

    @Override
    public long claim() {
        return inner.claim();
    }

    @Override
    public MemorySegment memory() {
        return inner.memory();
    }

    @Override
    public void commit(long header) {
        inner.commit(header);
    }

    @Override
    public void announce() {
        inner.announce();
    }

    @Override
    public void abandon() {
        inner.abandon();
    }
}
