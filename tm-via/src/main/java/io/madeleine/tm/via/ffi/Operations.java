package io.madeleine.tm.via.ffi;

import io.madeleine.tm.via.ffi.Offsets.FiOpsMsg;
import io.madeleine.tm.via.ffi.Offsets.FiOpsRma;
import io.madeleine.tm.via.ffi.Offsets.FidEp;
import java.lang.foreign.MemorySegment;

/**
 * The data operations of an endpoint. Each returns 0, or a negative error number of libfabric: {@link
 * Flags#FI_EAGAIN} if the caller has to try again later.
 *
 * <p>Ownership: the memory is lent until the operation's completion, except for {@link #inject}.
 *
 * <p>Threading: thread-safe, as the provider is asked for {@code FI_THREAD_SAFE}. The calls allocate nothing.
 */
public final class Operations {
    /** Any peer. */
    public static final long ANY_PEER = -1;

    private final long endpoint;
    private final MemorySegment receive;
    private final MemorySegment send;
    private final MemorySegment inject;
    private final MemorySegment read;
    private final MemorySegment write;
    private final MemorySegment writeMessage;
    private final MemorySegment writeData;

    Operations(long endpoint) {
        this.endpoint = endpoint;
        long messages = Raw.pointer(endpoint + FidEp.MSG);
        this.receive = Raw.function(messages, FiOpsMsg.RECV);
        this.send = Raw.function(messages, FiOpsMsg.SEND);
        this.inject = Raw.function(messages, FiOpsMsg.INJECT);
        long remote = Raw.pointer(endpoint + FidEp.RMA);
        this.read = Raw.function(remote, FiOpsRma.READ);
        this.write = Raw.function(remote, FiOpsRma.WRITE);
        this.writeMessage = Raw.function(remote, FiOpsRma.WRITEMSG);
        this.writeData = Raw.function(remote, FiOpsRma.WRITEDATA);
    }

    /** Posts a buffer for a message of any peer. */
    public long receive(long address, long bytes, long descriptor, long context) {
        return Downcalls.longOf6(receive, endpoint, address, bytes, descriptor, ANY_PEER, context);
    }

    /** Sends a message. */
    public long send(long address, long bytes, long descriptor, long peer, long context) {
        return Downcalls.longOf6(send, endpoint, address, bytes, descriptor, peer, context);
    }

    /** Sends a short message, whose memory may be reused at once; there is no completion. */
    public long inject(long address, long bytes, long peer) {
        return Downcalls.longOf4(inject, endpoint, address, bytes, peer);
    }

    /** Reads memory of a peer, which does not notice. */
    public long read(long address, long bytes, long descriptor, long peer, long source, long key, long context) {
        return Downcalls.longOf8(read, endpoint, address, bytes, descriptor, peer, source, key, context);
    }

    /**
     * Writes to the memory of a peer, which does not notice; the completion says that the peer can see it.
     *
     * @param scratch {@link WriteMessage#BYTES} bytes, in use until the call returns
     */
    public long writeVisibly(
            long scratch, long address, long bytes, long descriptor, long peer, long target, long key, long context) {
        WriteMessage.fill(scratch, address, bytes, descriptor, peer, target, key, context);
        return Downcalls.longOf3(writeMessage, endpoint, scratch, Flags.FI_DELIVERY_COMPLETE);
    }

    /** Writes to the memory of a peer, which does not notice. */
    public long write(long address, long bytes, long descriptor, long peer, long target, long key, long context) {
        return Downcalls.longOf8(write, endpoint, address, bytes, descriptor, peer, target, key, context);
    }

    /** Writes to the memory of a peer, which gets a completion with the immediate data. */
    public long writeData(
            long address, long bytes, long descriptor, long data, long peer, long target, long key, long context) {
        return Downcalls.longOf9(writeData, endpoint, address, bytes, descriptor, data, peer, target, key, context);
    }
}
