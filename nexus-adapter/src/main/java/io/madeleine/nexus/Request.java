package io.madeleine.nexus;

import io.madeleine.nexus.wire.BulkSource;
import io.madeleine.nexus.wire.Bytes;
import io.madeleine.nexus.wire.RequestLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The arguments of a remote service request, which its handler takes in the order in which they were put into {@link
 * Arguments}. A value that a {@code get} method returns is complete. For a threaded handler, an argument of 1 KiB or
 * more is received from the network straight into the memory that the handler supplies; until the handler has taken all
 * of them, nothing else arrives from that sender. A non-threaded handler runs when all arguments are there.
 *
 * <p>A {@code get} method throws {@link NexusException} if the next argument is of another kind. For an argument of 1
 * KiB or more it also throws {@link io.madeleine.api.PeerFailedException} if the sender is gone, {@link
 * io.madeleine.api.MessageAbortedException} if the sender has aborted the request, and {@link
 * io.madeleine.api.DeadlineExceededException} after {@link ContextOptions#argumentTimeout}.
 *
 * <p>A request is valid until its handler returns.
 *
 * <p>Threading: confined to the handler's thread.
 */
public final class Request {
    private static final Bytes NONE = Bytes.allocate(0);

    /** The request whose handler this thread runs; bound only if the request has large arguments. */
    private static final ScopedValue<Request> CURRENT = ScopedValue.newInstance();

    private final Node node;
    private Bytes memory = NONE;
    private int position;
    private int end;
    private int start;
    private int remote;
    private int bulksLeft;
    private int depth;
    private @Nullable BulkSource bulks;
    private @Nullable Thread taker;

    /** Why only the first small arguments are here; null if all are. */
    private @Nullable String cutOff;

    private final long largestBytes;

    Request(Node node) {
        this.node = node;
        this.largestBytes = node.options().maxRequestBytes();
    }

    /**
     * Reuses this object for another request, with small arguments from {@code start} to {@code end} and no large ones.
     */
    void begin(Bytes inline, int from, int to, int sender) {
        if (memory != inline) { // storing a reference costs a fence with some collectors
            memory = inline;
        }
        start = from;
        position = from;
        end = to;
        remote = sender;
        bulksLeft = 0;
        depth = 0;
        if (cutOff != null) {
            cutOff = null;
        }
    }

    /**
     * Says that only the first small arguments are here, and why: a handler that takes more gets a {@link
     * NexusException}.
     */
    void cutOff(String why) {
        cutOff = why;
    }

    /** As {@link #begin(Bytes, int, int, int)}, with large arguments. */
    void begin(Bytes inline, int from, int to, int sender, int count, BulkSource source) {
        begin(inline, from, to, sender);
        bulksLeft = count;
        bulks = source;
    }

    /** Makes a request of this process to itself, with copies of all arguments. */
    static Request local(Node node, Arguments arguments) {
        Request request = new Request(node);
        Bytes inline = Bytes.of(ArgumentCopies.inline(arguments));
        MemorySegment[] copies = ArgumentCopies.bulks(arguments);
        request.begin(inline, 0, inline.size(), node.rank(), copies.length, new BulkSource.Present(copies));
        return request;
    }

    /** Copies this request into a new object with memory of its own, for another thread; this object can be reused. */
    Request detach() {
        Request detached = new Request(node);
        Bytes copy = Bytes.allocate(end - position);
        MemorySegment.copy(memory.segment(), position, copy.segment(), 0, copy.size());
        detached.begin(copy, 0, copy.size(), remote);
        detached.bulksLeft = bulksLeft;
        detached.cutOff = cutOff;
        if (bulks != null) {
            detached.bulks = bulks.detach();
            bulks = null;
        }
        return detached;
    }

    /**
     * Runs a threaded handler; if large arguments are outstanding, binds this request to the thread for {@link
     * #beforeWaitFor}.
     */
    void runWith(Runnable handler) {
        if (hasLarge()) {
            taker = Thread.currentThread();
            ScopedValue.where(CURRENT, this).run(handler);
        } else {
            handler.run();
        }
    }

    /**
     * Prepares the calling thread for a wait for a message of {@code sender}. If the thread runs a handler whose large
     * arguments are in transit from that node, receives them first, because nothing else arrives before them.
     *
     * @throws NexusException if they are larger than {@link ContextOptions#maxRequestBytes}
     */
    static void beforeWaitFor(int sender) {
        Request current = CURRENT.isBound() ? CURRENT.get() : null;
        if (current != null && current.remote == sender) {
            current.receiveLarge(true);
        }
    }

    /** As {@link #beforeWaitFor}, for a wait whose sender is not known; too large arguments stay in transit. */
    static void beforeWait() {
        if (CURRENT.isBound()) {
            CURRENT.get().receiveLarge(false);
        }
    }

    private void receiveLarge(boolean isNeeded) {
        BulkSource source = bulks;
        if (source == null || bulksLeft == 0 || taker != Thread.currentThread()) {
            return;
        }
        long bytes = source.awaitedBytes();
        if (bytes <= largestBytes) {
            bulks = bytes == 0 ? source : source.receiveAll();
        } else if (isNeeded) {
            throw new NexusException("a handler waits for rank " + remote + " while " + bytes
                    + " bytes of that rank's request are in transit, and the answer would arrive behind them: take the"
                    + " large arguments before the call; without that, at most " + largestBytes
                    + " bytes (ContextOptions.maxRequestBytes) are received in advance");
        }
    }

    /** Drops the memory of the small arguments: this object is kept for another request. */
    void forget() {
        begin(NONE, 0, 0, remote);
    }

    /** Whether large arguments are left to take. */
    boolean hasLarge() {
        return bulksLeft > 0;
    }

    /** Ends the request and drops the large arguments that were not taken. */
    void finish() {
        BulkSource source = bulks;
        if (source != null) {
            bulks = null;
            source.close();
        }
    }

    /** The context of the endpoint that received the request. */
    public Context context() {
        return node.context();
    }

    /**
     * The node that sent the request: a rank of the session, or, from {@link Context#size} on, the number of a context
     * of another session.
     */
    public int remote() {
        return remote;
    }

    /** The number of bytes of small arguments that are left; an argument of 1 KiB or more counts as eight. */
    public int remaining() {
        checkNotCutOff();
        return end - position;
    }

    /** Enters a value that contains others; unless this throws, {@link #leave} must follow. */
    void enter(int maxDepth) {
        if (depth >= maxDepth) {
            throw Arguments.tooDeep(maxDepth);
        }
        depth++;
    }

    void leave() {
        depth--;
    }

    /**
     * Checks that all arguments have been taken.
     *
     * @throws NexusException if some are left
     */
    void expectEnd() {
        checkNotCutOff();
        if (position != end || bulksLeft > 0) {
            throw new NexusException("the request from rank " + remote + " has " + (end - position)
                    + " bytes of small arguments and " + bulksLeft
                    + " large ones left: expected to take all that the sender has put");
        }
    }

    private void checkNotCutOff() {
        if (cutOff != null) {
            throw new NexusException(cutOff);
        }
    }

    private int take(int bytes) {
        int offset = position;
        if (bytes > end - offset) {
            checkNotCutOff();
            throw new NexusException("the request from rank " + remote + " has " + (end - start)
                    + " bytes of small arguments; " + bytes + " bytes are asked for at byte " + (offset - start)
                    + ": take arguments in the order in which the sender put them");
        }
        position = offset + bytes;
        return offset;
    }

    /** Takes a byte. */
    public byte getByte() {
        return memory.getByte(take(Byte.BYTES));
    }

    /** Takes a boolean. */
    public boolean getBoolean() {
        return getByte() != 0;
    }

    /** Takes two bytes. */
    public short getShort() {
        return memory.getShort(take(Short.BYTES));
    }

    /** Takes a character. */
    public char getChar() {
        return memory.getChar(take(Character.BYTES));
    }

    /** Takes four bytes. */
    public int getInt() {
        return memory.getInt(take(Integer.BYTES));
    }

    /** Takes eight bytes. */
    public long getLong() {
        return memory.getLong(take(Long.BYTES));
    }

    /** Takes a float. */
    public float getFloat() {
        return Float.intBitsToFloat(getInt());
    }

    /** Takes a double. */
    public double getDouble() {
        return Double.longBitsToDouble(getLong());
    }

    /** Takes a string. */
    public String getString() {
        return new String(getBytes(), StandardCharsets.UTF_8);
    }

    /** Takes an array of up to {@link ContextOptions#maxRequestBytes} bytes. */
    public byte[] getBytes() {
        byte[] array = new byte[nextLength(1)];
        get(MemorySegment.ofArray(array));
        return array;
    }

    /** Takes an array. */
    public short[] getShorts() {
        short[] array = new short[nextLength(Short.BYTES)];
        get(MemorySegment.ofArray(array));
        return array;
    }

    /** Takes an array. */
    public char[] getChars() {
        char[] array = new char[nextLength(Character.BYTES)];
        get(MemorySegment.ofArray(array));
        return array;
    }

    /** Takes an array. */
    public int[] getInts() {
        int[] array = new int[nextLength(Integer.BYTES)];
        get(MemorySegment.ofArray(array));
        return array;
    }

    /** Takes an array. */
    public long[] getLongs() {
        long[] array = new long[nextLength(Long.BYTES)];
        get(MemorySegment.ofArray(array));
        return array;
    }

    /** Takes an array. */
    public float[] getFloats() {
        float[] array = new float[nextLength(Float.BYTES)];
        get(MemorySegment.ofArray(array));
        return array;
    }

    /** Takes an array. */
    public double[] getDoubles() {
        double[] array = new double[nextLength(Double.BYTES)];
        get(MemorySegment.ofArray(array));
        return array;
    }

    /**
     * Takes an array or segment into memory that {@code allocator}, an {@link java.lang.foreign.Arena} for instance,
     * supplies.
     */
    public MemorySegment getSegment(SegmentAllocator allocator) {
        Objects.requireNonNull(allocator, "allocator");
        MemorySegment segment = allocator.allocate(expected(nextBytes()), Long.BYTES);
        get(segment);
        return segment;
    }

    /** The length in bytes of the next argument, which must be an array, string or segment. */
    public long nextBytes() {
        int at = take(Integer.BYTES);
        position = at;
        int first = memory.getInt(at);
        if (first >= 0 && first < RequestLayout.BULK_BYTES && first <= end - at - Integer.BYTES) {
            return first;
        }
        if (first < 0 && end - at >= Long.BYTES) {
            long bytes = (long) ~first << Integer.SIZE | Integer.toUnsignedLong(memory.getInt(at + Integer.BYTES));
            if (bytes >= RequestLayout.BULK_BYTES) {
                return bytes;
            }
        }
        checkNotCutOff();
        throw new NexusException("the request from rank " + remote + " has no array, string or segment at byte "
                + (at - start) + ": take arguments in the order in which the sender put them");
    }

    private int nextLength(int elementBytes) {
        long bytes = expected(nextBytes());
        if (bytes % elementBytes != 0 || bytes > Integer.MAX_VALUE - 8L) {
            throw new NexusException("the request from rank " + remote + " has a block of " + bytes + " bytes next,"
                    + " which is no array of elements of " + elementBytes + " bytes");
        }
        return (int) (bytes / elementBytes);
    }

    private long expected(long bytes) {
        if (bytes > largestBytes) {
            throw new NexusException("the request from rank " + remote + " has an argument of " + bytes
                    + " bytes: expected at most " + largestBytes
                    + " (ContextOptions.maxRequestBytes); take a larger one"
                    + " with get(MemorySegment) into memory of your own");
        }
        if (bytes >= RequestLayout.BULK_BYTES) {
            source().expect(bytes);
        }
        return bytes;
    }

    /**
     * Takes an array or segment into {@code target}, which must have the same size.
     *
     * <p>Ownership: the memory stays the caller's.
     *
     * @throws IllegalArgumentException if the sizes differ
     */
    public void get(MemorySegment target) {
        get(target, 0, target.byteSize());
    }

    /**
     * As {@link #get(MemorySegment)}, into {@code bytes} bytes of {@code target} from {@code offset} on, without a
     * slice.
     */
    public void get(MemorySegment target, long offset, long bytes) {
        Objects.requireNonNull(target, "target");
        long found = nextBytes();
        if (found != bytes) {
            throw new IllegalArgumentException("the request from rank " + remote + " has a block of " + found
                    + " bytes next, and " + bytes + " bytes are asked for: use the size that nextBytes() returns");
        }
        position += bytes < RequestLayout.BULK_BYTES ? Integer.BYTES : Long.BYTES;
        if (bytes < RequestLayout.BULK_BYTES) {
            MemorySegment.copy(memory.segment(), take((int) bytes), target, offset, bytes);
            return;
        }
        BulkSource source = source();
        bulksLeft--;
        source.take(target, offset, bytes);
    }

    private BulkSource source() {
        BulkSource source = bulks;
        if (source == null || bulksLeft == 0) {
            throw new NexusException("the request from rank " + remote + " has no large argument left: take arguments"
                    + " in the order in which the sender put them, before the handler returns");
        }
        return source;
    }

    /** Takes a startpoint, which is bound to this context. */
    public Startpoint getStartpoint() {
        return Startpoint.read(this);
    }

    /** Takes a value with its codec. */
    public <T> T get(Codec<T> codec) {
        return codec.read(this);
    }
}
