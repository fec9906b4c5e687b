package io.madeleine.pmm.faults;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.TransmissionCapabilities;

/**
 * A link that sends the user's blocks, with faults.
 *
 * <p>Threading: as the link that it decorates.
 */
class FaultyDynamicLink implements DynamicLink {
    private final FaultyConnection connection;
    private final DynamicLink inner;
    private final DelayedStream stream;

    FaultyDynamicLink(FaultyConnection connection, DynamicLink inner, DelayedStream stream) {
        this.connection = connection;
        this.inner = inner;
        this.stream = stream;
    }

    @Override
    public final TransmissionCapabilities capabilities() {
        return inner.capabilities();
    }

    @Override
    public final long front() {
        return connection.use(stream, DelayedStream::front);
    }

    @Override
    public final long receive(BufferGroup group, long maxBytes) {
        return connection.use(stream, (held, nowNs) -> held.receive(group, maxBytes, nowNs));
    }

    @Override
    public final long skip(long maxBytes) {
        return connection.use(stream, (held, nowNs) -> held.receive(null, maxBytes, nowNs));
    }

    @Override
    public final void release() {
        connection.use(stream, DelayedStream::release);
    }

    @Override
    public final int send(long header, BufferGroup group, long trailer) {
        return inner.send(header, group, trailer);
    }
}
