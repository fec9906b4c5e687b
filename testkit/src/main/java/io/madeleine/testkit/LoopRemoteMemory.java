package io.madeleine.testkit;

import io.madeleine.pmm.RemoteArguments;
import io.madeleine.pmm.RemoteDescriptor;
import io.madeleine.pmm.spi.AttachedMemory;
import io.madeleine.pmm.spi.ExportedMemory;
import io.madeleine.pmm.spi.MemorySource;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.Region;
import io.madeleine.pmm.spi.RegionListener;
import io.madeleine.pmm.spi.RemoteMemory;
import io.madeleine.pmm.spi.RemoteMemoryCapabilities;
import io.madeleine.pmm.spi.RemoteMemoryException;
import io.madeleine.pmm.spi.RemoteMemoryException.Kind;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Remote memory of processes that are simulated in one JVM. As with a NIC, a call does not carry out its operation; the
 * polls of the caller's adapter do.
 *
 * <p>Threading: thread-safe; the polling thread calls {@link #poll}.
 */
final class LoopRemoteMemory implements RemoteMemory, MemorySource, RegionListener {
    private final LoopFabric fabric;
    private final ProcessContext context;
    private final Runnable ring;
    private final RemoteDescriptor descriptors;
    private final Queue<LoopAttachment.Operation> begun = new ConcurrentLinkedQueue<>();
    private volatile boolean closed;

    LoopRemoteMemory(LoopFabric fabric, ProcessContext context, Runnable ring) {
        this.fabric = fabric;
        this.context = context;
        this.ring = ring;
        this.descriptors = new RemoteDescriptor("loop", context);
        context.memory().listen(this);
    }

    /** Exported memory; a thread that accesses the memory holds the export's monitor. */
    static final class Export implements ExportedMemory {
        final LoopRemoteMemory owner;
        final Region region;
        final MemorySegment memory;
        final Access access;
        private final byte[] descriptor;
        volatile boolean revoked;

        Export(LoopRemoteMemory owner, Region region, MemorySegment memory, Access access, byte[] descriptor) {
            this.owner = owner;
            this.region = region;
            this.memory = memory;
            this.access = access;
            this.descriptor = descriptor;
        }

        @Override
        public byte[] descriptor() {
            return descriptor.clone();
        }

        @Override
        public synchronized boolean revoke(long timeoutNs) {
            revoked = true;
            return true;
        }

        @Override
        public void close() {
            boolean _ = revoke(0);
        }

        boolean isLost() {
            return owner.closed;
        }
    }

    @Override
    public Optional<MemorySegment> allocate(long bytes, Arena arena) {
        return Optional.empty();
    }

    @Override
    public MemorySegment allocateShared(long bytes, Arena arena) {
        return arena.allocate(bytes, 4096);
    }

    @Override
    public RemoteMemoryCapabilities capabilities() {
        return new RemoteMemoryCapabilities(false, true, true, false, Long.MAX_VALUE);
    }

    @Override
    public ExportedMemory export(MemorySegment memory, Access access) {
        RemoteArguments.checkExport(memory, access);
        throwIfClosed();
        Region region = memory.isNative() ? context.memory().find(memory.address()) : null;
        if (region == null
                || region.kind() != Region.Kind.SHARED
                || !region.contains(memory.address(), memory.byteSize())) {
            throw new RemoteMemoryException(
                    Kind.NOT_EXPORTABLE,
                    memory + " cannot be exported; expected memory of Session.allocateShared"
                            + (region == null ? "" : ": " + region.remark()));
        }
        long key = fabric.newKey();
        byte[] body =
                ByteBuffer.allocate(RemoteDescriptor.BODY_BYTES).putLong(key).array();
        Export export = new Export(this, region, memory, access, descriptors.seal(body));
        fabric.exports().put(key, export);
        return export;
    }

    @Override
    public AttachedMemory attach(byte[] descriptor) {
        RemoteArguments.checkAttach(descriptor);
        throwIfClosed();
        Export export = fabric.exports().get(descriptors.open(descriptor).getLong());
        if (export == null || export.revoked) {
            throw new RemoteMemoryException(Kind.REVOKED, "this export was revoked");
        }
        if (export.isLost()) {
            throw new RemoteMemoryException(Kind.LOST, "the owner of this export has left");
        }
        return new LoopAttachment(this, export);
    }

    private void throwIfClosed() {
        if (closed) {
            throw new RemoteMemoryException(Kind.CLOSED, "the adapter is closed");
        }
    }

    void begin(LoopAttachment.Operation operation) {
        begun.add(operation);
        ring.run();
    }

    boolean hasWork() {
        return !begun.isEmpty();
    }

    /** Carries out the pending operations. */
    int poll() {
        int work = 0;
        for (LoopAttachment.Operation next = begun.poll(); next != null; next = begun.poll()) {
            next.carryOut();
            work++;
        }
        return work;
    }

    @Override
    public void added(Region region) {
        // nothing to register
    }

    @Override
    public void removed(Region region, long deadlineNs) {
        for (Export export : List.copyOf(fabric.exports().values())) {
            if (export.owner == this && export.region.equals(region)) {
                export.close();
            }
        }
    }

    void close() {
        context.memory().forget(this);
        fabric.exports().values().forEach(export -> {
            if (export.owner == this) {
                export.close();
            }
        });
        closed = true;
        int _ = poll();
    }
}
