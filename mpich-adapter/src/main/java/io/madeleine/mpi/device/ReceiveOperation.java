package io.madeleine.mpi.device;

import io.madeleine.api.Signal;
import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.MpiFault;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * A receive. Prepare it, start it with {@link Device#receive}, wait until it is done, and read its results.
 *
 * <p>Ownership: the payload belongs to the device until the operation is done.
 *
 * <p>Threading: as {@link Operation}.
 */
public final class ReceiveOperation extends Operation {
    private final OperationTable<Operation> operations;
    private final int own;
    final Link<ReceiveOperation> link = new Link<>(this);
    private final Payload payload = new Payload();

    private long context;
    private int wantedSource;
    private int wantedTag;
    private @Nullable IntPredicate members;
    private boolean anyLength;

    private int source;
    private int tag;
    private long bytes;

    private boolean needsAll;
    private boolean needsWhole;
    private String whole = "";
    private int step;
    private int steps;
    private int culprit = -1;

    // a rendezvous: what the sender sends, and how much has arrived
    private long expectedBytes;
    private final AtomicLong arrivedBytes = new AtomicLong();
    private int identity;

    /**
     * {@link Device} makes it.
     *
     * @param own the rank of this process
     */
    ReceiveOperation(Signal waiting, OperationTable<Operation> operations, int own) {
        super(waiting);
        this.operations = operations;
        this.own = own;
    }

    /**
     * Says what to receive. Set the {@linkplain #payload memory}, too.
     *
     * @param members the processes that may send if {@code source} is {@link Device#ANY_SOURCE}: if one of them dies,
     *     the receive fails
     */
    public ReceiveOperation prepare(int source, long inContext, int withTag, @Nullable IntPredicate members) {
        this.wantedSource = source;
        this.context = inContext;
        this.wantedTag = withTag;
        this.members = members;
        return this;
    }

    /** Sets the tag; the operation is not running. */
    public void useTag(int wanted) {
        wantedTag = wanted;
    }

    /** Where to receive to. */
    public Payload payload() {
        return payload;
    }

    /** Says that the receive takes a message of any length: it allocates the payload when the message is matched. */
    public ReceiveOperation takeAnyLength() {
        anyLength = true;
        return this;
    }

    /** Says that the receive fails if any of its members dies, not only its sender. */
    public ReceiveOperation needAll() {
        needsAll = true;
        return this;
    }

    /** Says that the receive belongs to a collective operation: it fails if the message is shorter, too. */
    public ReceiveOperation needWhole() {
        needsWhole = true;
        return this;
    }

    /** Says of which operation the receive is a step, for people. */
    public ReceiveOperation asPartOf(String operation, int number, int count) {
        whole = operation;
        step = number;
        steps = count;
        return this;
    }

    /** The longest message that the receive takes whole. */
    long capacity() {
        return anyLength ? Long.MAX_VALUE : payload.bytes();
    }

    /** The session rank of the sender. */
    public int source() {
        return source;
    }

    /** The tag of the message. */
    public int tag() {
        return tag;
    }

    /** The number of bytes received, at most those of the payload. */
    public long bytes() {
        return bytes;
    }

    /** The rank where the operation has failed of which this receive is a part; -1 if the receive itself failed. */
    public int culprit() {
        return culprit;
    }

    @Override
    protected long context() {
        return context;
    }

    int wantedSource() {
        return wantedSource;
    }

    int wantedTag() {
        return wantedTag;
    }

    @Override
    public int expected() {
        return wantedSource;
    }

    @Override
    public String describe() {
        String part = whole.isEmpty() ? "" : whole + ", step " + step + " of " + steps + ": ";
        return part + "a receive from " + (wantedSource == Wildcards.ANY_SOURCE ? "any rank" : "rank " + wantedSource)
                + " with " + (wantedTag == Wildcards.ANY_TAG ? "any tag" : "tag " + wantedTag);
    }

    void start() {
        source = wantedSource;
        tag = wantedTag;
        bytes = 0;
        culprit = -1;
        started();
    }

    boolean concerns(int rank) {
        IntPredicate all = members;
        return wantedSource == rank
                || ((needsAll || wantedSource == Wildcards.ANY_SOURCE) && (all == null || all.test(rank)));
    }

    /** A message is matched. Returns how much of it the payload takes. */
    long matched(int from, int withTag, long length) {
        source = from;
        tag = withTag;
        if (anyLength) {
            payload.set(MemorySegment.ofArray(new byte[Math.toIntExact(length)]), 0, length);
        }
        bytes = Math.min(length, payload.bytes());
        if (needsWhole && length != payload.bytes()) {
            note(new MpiFault(
                    length < payload.bytes() ? ErrorClass.COUNT : ErrorClass.TRUNCATE,
                    "rank " + own + " gets " + length + " bytes from rank " + from + " where it needs "
                            + payload.bytes() + ": expected the same operation, and counts that match, at all ranks"));
        } else if (length > payload.bytes()) {
            note(new MpiFault(
                    ErrorClass.TRUNCATE,
                    "rank " + own + " receives a message of " + length + " bytes from rank " + from
                            + " with tag " + withTag + " into a buffer of " + payload.bytes()
                            + " bytes: expected a buffer that is long enough"));
        }
        return bytes;
    }

    void received() {
        complete();
    }

    void wasCancelled() {
        cancelled();
    }

    void failed(MpiFault why) {
        fail(why);
    }

    /** The sender has said that its operation has failed. */
    void failedAt(int rank, int errorClass) {
        culprit = rank;
        fail(new MpiFault(
                errorClass,
                "it failed at rank " + rank + " with error class " + errorClass + "; see the error of that rank"));
    }

    // ---- rendezvous

    /** The sender was told to send {@code length} bytes. */
    void expect(int ownIdentity, long length) {
        identity = ownIdentity;
        expectedBytes = length;
        arrivedBytes.set(0);
    }

    /** A fragment has arrived. Any thread: each fragment may end in another one. */
    void fragmentArrived(long length) {
        if (arrivedBytes.addAndGet(length) == expectedBytes && operations.remove(identity) != null) {
            complete();
        }
    }

    /** The sender is lost, or a fragment of it. */
    void fragmentFailed(MpiFault why) {
        if (operations.remove(identity) != null) {
            fail(why);
        }
    }
}
