package io.madeleine.tm.via.ffi;

import io.madeleine.tm.via.ffi.Offsets.FiOpsEp;
import io.madeleine.tm.via.ffi.Offsets.FiOpsTagged;
import io.madeleine.tm.via.ffi.Offsets.FidEp;
import java.lang.foreign.MemorySegment;

/**
 * The tagged messages of an endpoint that was opened with {@link Flags#FI_TAGGED}: a message goes to the receive that
 * has its tag. Each call returns as those of {@link Operations}.
 *
 * <p>Ownership: the memory of the ranges is lent until the operation's completion.
 *
 * <p>Threading: thread-safe, as the provider is asked for {@code FI_THREAD_SAFE}. The calls allocate nothing.
 */
public final class TaggedMessages {
    private final long endpoint;
    private final MemorySegment receive;
    private final MemorySegment send;
    private final MemorySegment cancel;

    TaggedMessages(long endpoint) {
        this.endpoint = endpoint;
        long table = Raw.pointer(endpoint + FidEp.TAGGED);
        this.receive = Raw.function(table, FiOpsTagged.RECVV);
        this.send = Raw.function(table, FiOpsTagged.SENDV);
        this.cancel = Raw.function(Raw.pointer(endpoint + FidEp.OPS), FiOpsEp.CANCEL);
    }

    /** Posts memory for the message with this tag, of any peer. */
    public long receive(IoVector ranges, long tag, long context) {
        return Downcalls.longOf8(
                receive,
                endpoint,
                ranges.ranges(),
                ranges.descriptors(),
                ranges.count(),
                Operations.ANY_PEER,
                tag,
                0,
                context);
    }

    /** Sends a message with a tag. */
    public long send(IoVector ranges, long peer, long tag, long context) {
        return Downcalls.longOf7(
                send, endpoint, ranges.ranges(), ranges.descriptors(), ranges.count(), peer, tag, context);
    }

    /** Asks for the end of a receive: its completion says whether a message has arrived in it before. */
    public void cancel(long context) {
        long _ = Downcalls.longOf2(cancel, endpoint, context);
    }
}
