package io.madeleine.mpi.device;

import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** A message that consists of its header. Pooled by the device. */
final class Control extends Outgoing {
    private final Device device;

    byte kind;
    long context;
    int tag;
    int sender;
    long bytes;

    /** The operation that fails if this message cannot be sent; null if there is none. */
    @Nullable
    SendOperation about;

    /** The next free one in the pool. */
    @Nullable
    Control nextFree;

    Control(Device device) {
        this.device = device;
    }

    @Override
    boolean isShort() {
        return true;
    }

    @Override
    void write(MemorySegment header, int credits) {
        Header.write(header, kind, credits, context, tag, sender, bytes);
    }

    @Override
    void pack(OutgoingMessage begun, MemorySegment header, int credits) {
        write(header, credits);
        begun.pack(header, 0, Header.BYTES, SendMode.SAFER, ReceiveMode.EXPRESS);
    }

    @Override
    void ended(@Nullable RuntimeException failure) {
        SendOperation concerned = about;
        about = null;
        device.controls().give(this);
        if (failure != null && concerned != null) {
            concerned.cannotBeSent(failure);
        }
    }
}
