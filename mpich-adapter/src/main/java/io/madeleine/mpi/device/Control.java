package io.madeleine.mpi.device;

import io.madeleine.api.OutgoingMessage;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A message that consists of its header. Pooled by {@link Controls}. */
final class Control extends Outgoing {
    private final Consumer<Control> pool;

    byte kind;
    long context;
    int tag;
    int sender;
    long bytes;

    /** The message that cannot be sent if this one cannot; null if there is none. */
    @Nullable
    Outgoing follower;

    /** The next free one in the pool. */
    @Nullable
    Control nextFree;

    Control(Consumer<Control> pool) {
        this.pool = pool;
    }

    @Override
    byte kind() {
        return kind;
    }

    @Override
    long bytesBehind() {
        return 0;
    }

    @Override
    void write(MemorySegment header, int credits) {
        Header.write(header, kind, credits, context, tag, sender, bytes);
    }

    @Override
    void pack(OutgoingMessage begun, MemorySegment header, int credits) {
        write(header, credits);
        packHeader(begun, header, kind);
    }

    @Override
    void ended(@Nullable RuntimeException failure) {
        Outgoing concerned = follower;
        follower = null;
        pool.accept(this);
        if (failure != null && concerned != null) {
            concerned.ended(failure);
        }
    }
}
