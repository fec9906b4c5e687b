package io.madeleine.mpi.device;

import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.Signal;
import io.madeleine.mpi.MpiFault;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * A send. Prepare it, start it with {@link Device#send}, and wait until it is done.
 *
 * <p>Ownership: the payload belongs to the device until the operation is done.
 *
 * <p>Threading: as {@link Operation}.
 */
public final class SendOperation extends Operation {
    private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

    private final OperationTable<Operation> operations;
    private final Controls controls;
    private final Faults faults;
    private final long mostFragmentBytes;
    private final Payload payload = new Payload();
    private final Body body = new Body();

    private SendMode mode = SendMode.STANDARD;
    private int target;
    private long context;
    private int tag;

    /** What must still happen before the operation is done: the body leaves, an acknowledgement arrives. */
    private final AtomicInteger missing = new AtomicInteger();

    private int identity;
    private byte kind;
    private @Nullable IntPredicate members;

    /** Why the message is not needed any more, although its receiver lives. */
    private volatile @Nullable MpiFault pointless;

    // a rendezvous
    private @Nullable Peer cleared;
    private int receiver;
    private long clearedBytes;
    private long sentBytes;
    private long fragmentBytes;

    /** {@link Device} makes it. */
    SendOperation(
            Signal waiting,
            OperationTable<Operation> operations,
            Controls controls,
            Faults faults,
            long mostFragmentBytes) {
        super(waiting);
        this.operations = operations;
        this.controls = controls;
        this.faults = faults;
        this.mostFragmentBytes = mostFragmentBytes;
    }

    /** Says what to send. Set the {@linkplain #payload memory}, too. */
    public SendOperation prepare(SendMode wanted, int to, long inContext, int withTag) {
        mode = wanted;
        target = to;
        context = inContext;
        tag = withTag;
        return this;
    }

    /** Sets the tag; the operation is not running. */
    public void useTag(int wanted) {
        tag = wanted;
    }

    /** Says that the send fails if any of these processes dies, not only its receiver, unless it has been matched. */
    public SendOperation needAll(IntPredicate group) {
        members = group;
        return this;
    }

    boolean concerns(int rank) {
        IntPredicate all = members;
        return all != null && all.test(rank);
    }

    /** A process that this concerns is lost: the operation fails for this reason if it can be cancelled. */
    void becomePointless(MpiFault why) {
        pointless = why;
    }

    /** What to send. */
    public Payload payload() {
        return payload;
    }

    SendMode mode() {
        return mode;
    }

    int target() {
        return target;
    }

    @Override
    protected long context() {
        return context;
    }

    int tag() {
        return tag;
    }

    int identity() {
        return identity;
    }

    @Override
    public int expected() {
        return target;
    }

    @Override
    public String describe() {
        return "a send of " + payload.bytes() + " bytes to rank " + target + " with tag " + tag;
    }

    void start() {
        identity = 0;
        pointless = null;
        started();
    }

    /** Starts as an eager message. */
    void sendEager(Peer peer, int ownIdentity) {
        identity = ownIdentity;
        kind = ownIdentity == 0 ? Header.EAGER : Header.EAGER_SYNCHRONOUS;
        missing.set(ownIdentity == 0 ? 1 : 2);
        peer.post(body);
    }

    /** Starts with a request to send. */
    void requestToSend(Peer peer, int ownIdentity) {
        identity = ownIdentity;
        kind = Header.DATA;
        Control request = controls.take(Header.REQUEST_TO_SEND, context, tag, ownIdentity, payload.bytes());
        request.follower = body;
        peer.post(request);
    }

    /** The receiver has matched the request: send this much. */
    void clearToSend(Peer peer, int receiverIdentity, long bytes) {
        cleared = peer;
        receiver = receiverIdentity;
        clearedBytes = bytes;
        sentBytes = 0;
        if (bytes == 0) {
            end();
        } else {
            peer.post(body);
        }
    }

    void acknowledged() {
        part();
    }

    private void part() {
        if (missing.decrementAndGet() == 0) {
            end();
        }
    }

    /** The operation ends well. */
    void end() {
        if (isLast()) {
            complete();
        }
    }

    void failed(MpiFault why) {
        if (isLast()) {
            fail(why);
        }
    }

    void wasCancelled() {
        MpiFault why = pointless;
        if (!isLast()) {
            return;
        }
        if (why != null) {
            fail(why);
        } else {
            cancelled();
        }
    }

    /** Whether the caller is the one that ends the operation: several threads may see its peer fail. */
    private boolean isLast() {
        return identity == 0 || operations.remove(identity) != null;
    }

    /** The message that carries the body, or one fragment of it after the other. */
    private final class Body extends Outgoing {
        @Override
        byte kind() {
            return kind;
        }

        @Override
        void pack(OutgoingMessage begun, MemorySegment header, int credits) {
            if (kind == Header.DATA) {
                fragmentBytes = Math.min(clearedBytes - sentBytes, mostFragmentBytes);
                Header.write(header, kind, credits, sentBytes, receiver, 0, fragmentBytes);
                packHeader(begun, header, kind);
                payload.pack(begun, sentBytes, fragmentBytes);
                return;
            }
            writeHeader(header, credits);
            packHeader(begun, header, kind);
            if (payload.bytes() > 0) {
                payload.pack(begun, 0, payload.bytes());
            }
        }

        @Override
        long bytesBehind() {
            long most = kind == Header.EAGER ? NowHeaders.BODY_BYTES : 0;
            return kind == Header.DATA || payload.bytes() > most ? LONG : payload.bytes();
        }

        @Override
        void write(MemorySegment header, int credits) {
            writeHeader(header, credits);
            payload.copyTo(header, Header.bytesOf(kind), payload.bytes());
        }

        private void writeHeader(MemorySegment header, int credits) {
            if (kind == Header.EAGER) {
                Header.writeEager(header, credits, context, tag, payload.bytes());
            } else {
                Header.write(header, kind, credits, context, tag, identity, payload.bytes());
            }
        }

        @Override
        void ended(@Nullable RuntimeException failure) {
            if (failure != null) {
                failed(faults.of(failure, describe()));
            } else if (kind != Header.DATA) {
                part();
            } else {
                sentBytes += fragmentBytes;
                Peer peer = cleared;
                if (peer != null && sentBytes < clearedBytes) {
                    peer.post(this);
                } else {
                    end();
                }
            }
        }
    }

    /** Lets go of the memory, for an object that is kept. */
    void release() {
        payload.set(NOTHING, 0, 0);
    }
}
