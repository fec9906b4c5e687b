package io.madeleine.nexus;

import static io.madeleine.api.ReceiveMode.CHEAPER;
import static io.madeleine.api.ReceiveMode.EXPRESS;

import io.madeleine.api.Channel;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.SendMode;
import io.madeleine.nexus.wire.Bytes;
import io.madeleine.nexus.wire.RequestLayout;
import io.madeleine.nexus.wire.Texts;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The arguments of a remote service request, put one after the other; several layers of software can each put theirs.
 * The handler takes them in the same order with the {@code get} methods of {@link Request}.
 *
 * <p>Small arguments are copied. An array or segment of 1 KiB or more is referenced and sent without a copy: do not
 * change it until {@code rsr} returns, or, for a request of a non-threaded handler, which never waits, until {@link
 * #isSent()}. The same arguments may be sent several times. After {@link #reset()} the object serves for another
 * request without allocation.
 *
 * <p>Threading: confined to caller.
 */
public final class Arguments {
    /** The longest second block that is worth a try in one step: a longer one does not fit a packet. */
    private static final int MOST_AT_ONCE_BYTES = 1 << 14;

    private static final int INITIAL_BYTES = 128;

    /** Some JVMs make no longer arrays. */
    private static final int MAX_BYTES = Integer.MAX_VALUE - 64;

    private static final int INITIAL_BULKS = 2;
    private static final long NO_DEADLINE = Long.MAX_VALUE;

    private Bytes memory = Bytes.allocate(INITIAL_BYTES);
    private int end = RequestLayout.HEADER_BYTES;
    private MemorySegment[] bulks = new MemorySegment[INITIAL_BULKS];

    /** The offset of each one's length among the small arguments. */
    private int[] bulkAt = new int[INITIAL_BULKS];

    private int bulkCount;
    private @Nullable AtomicInteger lent;
    private int depth;
    private long sendByNs = NO_DEADLINE;

    /** Creates an empty list of arguments. */
    public Arguments() {}

    /** Sets the time until which sending may wait, in {@link System#nanoTime()} terms. */
    void sendBy(long deadlineNs) {
        sendByNs = deadlineNs;
    }

    /** As {@link #sendBy}, for a time after a deadline, or after now if the deadline is over. */
    void sendSoonAfter(long deadlineNs, long graceNs) {
        long nowNs = System.nanoTime();
        sendByNs = nowNs + Math.max(0, deadlineNs - nowNs) + graceNs;
    }

    /** Whether sending has a deadline. */
    boolean hasDeadline() {
        return sendByNs != NO_DEADLINE;
    }

    /** The deadline of sending in {@link System#nanoTime()} terms, or {@link Long#MAX_VALUE}. */
    long sendByNs() {
        return sendByNs;
    }

    /** The time until the deadline of sending, in nanoseconds; at least 0. */
    long leftNs() {
        return Math.max(0, sendByNs - System.nanoTime());
    }

    /**
     * Removes all arguments.
     *
     * @throws IllegalStateException while an earlier request with referenced arguments is being sent
     */
    public Arguments reset() {
        if (!isSent()) {
            throw new IllegalStateException(
                    "these arguments are still being sent: wait until isSent(), or use another object");
        }
        end = RequestLayout.HEADER_BYTES;
        depth = 0;
        sendByNs = NO_DEADLINE;
        if (bulkCount > 0) {
            Arrays.fill(bulks, 0, bulkCount, null);
            bulkCount = 0;
        }
        return this;
    }

    /** Whether all requests that reference arguments of this object have been sent. */
    public boolean isSent() {
        return lent == null || lent.get() == 0;
    }

    /** The number of bytes of all arguments, referenced ones included. */
    public long byteSize() {
        long bytes = inlineBytes();
        for (int i = 0; i < bulkCount; i++) {
            bytes += bulks[i].byteSize();
        }
        return bytes;
    }

    private int claim(int bytes) {
        int offset = end;
        if (bytes > memory.size() - offset) {
            grow(bytes);
        }
        end = offset + bytes;
        return offset;
    }

    private void grow(int bytes) {
        long needed = (long) end + bytes;
        if (needed > MAX_BYTES) {
            throw new IllegalArgumentException("the small arguments of a request take " + needed
                    + " bytes: expected less than 2 GiB; put large ones as arrays or segments");
        }
        long size = Math.min(Math.max(needed, 2L * memory.size()), MAX_BYTES);
        Bytes grown = Bytes.allocate((int) size);
        MemorySegment.copy(memory.segment(), 0, grown.segment(), 0, end);
        memory = grown;
    }

    /** Puts a byte. */
    public Arguments putByte(byte value) {
        int offset = claim(Byte.BYTES);
        memory.putByte(offset, value);
        return this;
    }

    /** Puts a boolean as a byte. */
    public Arguments putBoolean(boolean value) {
        return putByte((byte) (value ? 1 : 0));
    }

    /** Puts two bytes. */
    public Arguments putShort(short value) {
        int offset = claim(Short.BYTES);
        memory.putShort(offset, value);
        return this;
    }

    /** Puts a character as two bytes. */
    public Arguments putChar(char value) {
        int offset = claim(Character.BYTES);
        memory.putChar(offset, value);
        return this;
    }

    /** Puts four bytes. */
    public Arguments putInt(int value) {
        int offset = claim(Integer.BYTES);
        memory.putInt(offset, value);
        return this;
    }

    /** Puts eight bytes. */
    public Arguments putLong(long value) {
        int offset = claim(Long.BYTES);
        memory.putLong(offset, value);
        return this;
    }

    /** Puts a float as four bytes. */
    public Arguments putFloat(float value) {
        return putInt(Float.floatToRawIntBits(value));
    }

    /** Puts a double as eight bytes. */
    public Arguments putDouble(double value) {
        return putLong(Double.doubleToRawLongBits(value));
    }

    /**
     * Puts a string in UTF-8.
     *
     * @throws IllegalArgumentException if it has an unpaired surrogate, which UTF-8 cannot represent
     */
    public Arguments putString(String value) {
        Texts.checkPaired(Objects.requireNonNull(value, "value"));
        return putText(value);
    }

    /** As {@link #putString}, for texts that must arrive: an unpaired surrogate becomes a question mark. */
    Arguments putText(String value) {
        return putBytes(value.getBytes(StandardCharsets.UTF_8));
    }

    /** Puts an array; the class comment says when it is referenced. */
    public Arguments putBytes(byte[] array) {
        return putSegment(MemorySegment.ofArray(Objects.requireNonNull(array, "array")));
    }

    /** Puts an array in native byte order; the class comment says when it is referenced. */
    public Arguments putShorts(short[] array) {
        return putSegment(MemorySegment.ofArray(Objects.requireNonNull(array, "array")));
    }

    /** Puts an array in native byte order; the class comment says when it is referenced. */
    public Arguments putChars(char[] array) {
        return putSegment(MemorySegment.ofArray(Objects.requireNonNull(array, "array")));
    }

    /** Puts an array in native byte order; the class comment says when it is referenced. */
    public Arguments putInts(int[] array) {
        return putSegment(MemorySegment.ofArray(Objects.requireNonNull(array, "array")));
    }

    /** Puts an array in native byte order; the class comment says when it is referenced. */
    public Arguments putLongs(long[] array) {
        return putSegment(MemorySegment.ofArray(Objects.requireNonNull(array, "array")));
    }

    /** Puts an array in native byte order; the class comment says when it is referenced. */
    public Arguments putFloats(float[] array) {
        return putSegment(MemorySegment.ofArray(Objects.requireNonNull(array, "array")));
    }

    /** Puts an array in native byte order; the class comment says when it is referenced. */
    public Arguments putDoubles(double[] array) {
        return putSegment(MemorySegment.ofArray(Objects.requireNonNull(array, "array")));
    }

    /**
     * Puts memory of any length.
     *
     * <p>Ownership: the memory stays the caller's; the class comment says for how long it is lent.
     *
     * @throws IllegalArgumentException if it has 1 KiB or more, and 65,536 such arguments have been put already
     */
    public Arguments putSegment(MemorySegment segment) {
        long bytes = segment.byteSize();
        if (bytes < RequestLayout.BULK_BYTES) {
            int offset = claim(Integer.BYTES + (int) bytes);
            memory.putInt(offset, (int) bytes);
            MemorySegment.copy(segment, 0, memory.segment(), offset + Integer.BYTES, bytes);
            return this;
        }
        if (bulkCount == RequestLayout.MAX_BULKS) {
            throw new IllegalArgumentException("a request has " + RequestLayout.MAX_BULKS
                    + " arguments of 1 KiB or more already: combine them in fewer arrays");
        }
        int at = inlineBytes();
        putInt(~(int) (bytes >>> Integer.SIZE));
        putInt((int) bytes);
        addBulk(segment, at);
        return this;
    }

    private void addBulk(MemorySegment segment, int at) {
        if (bulkCount == bulks.length) {
            bulks = Arrays.copyOf(bulks, 2 * bulkCount);
            bulkAt = Arrays.copyOf(bulkAt, 2 * bulkCount);
        }
        bulkAt[bulkCount] = at;
        bulks[bulkCount++] = segment;
    }

    /** Puts a startpoint; it points to the same endpoints in the process that takes it. */
    public Arguments putStartpoint(Startpoint startpoint) {
        startpoint.write(this);
        return this;
    }

    /** Puts a value with its codec: one that {@link Codecs#of} finds, or your own. */
    public <T> Arguments put(T value, Codec<? super T> codec) {
        codec.write(this, value);
        return this;
    }

    /** Enters a value that contains others; unless this throws, {@link #leave} must follow. */
    void enter(int maxDepth) {
        if (depth >= maxDepth) {
            throw tooDeep(maxDepth);
        }
        depth++;
    }

    void leave() {
        depth--;
    }

    static NexusException tooDeep(int maxDepth) {
        return new NexusException("values nest deeper than " + maxDepth + " (ContextOptions.maxDepth)");
    }

    // ---- sending

    int inlineBytes() {
        return end - RequestLayout.HEADER_BYTES;
    }

    boolean hasBulks() {
        return bulkCount > 0;
    }

    int bulkCount() {
        return bulkCount;
    }

    MemorySegment bulk(int index) {
        return bulks[index];
    }

    /**
     * Copies the arguments into another object: small ones are copied, large ones replaced by what {@code copying}
     * returns.
     */
    Arguments copy(UnaryOperator<MemorySegment> copying) {
        Arguments copied = new Arguments();
        int offset = copied.claim(inlineBytes());
        copyInline(copied.memory.segment(), offset);
        for (int i = 0; i < bulkCount; i++) {
            copied.addBulk(copying.apply(bulks[i]), bulkAt[i]);
        }
        return copied;
    }

    void copyInline(MemorySegment target, long offset) {
        MemorySegment.copy(memory.segment(), RequestLayout.HEADER_BYTES, target, offset, inlineBytes());
    }

    /**
     * Sends the whole request if it is one or two small blocks and can leave at once; never waits.
     *
     * @return whether it was sent; if not, nothing of it was
     */
    boolean trySend(Channel channel, int rank, int endpoint, int handler) {
        int second = end - RequestLayout.FIRST_BYTES;
        if (bulkCount > 0 || second > MOST_AT_ONCE_BYTES) {
            return false;
        }
        putHeader(endpoint, handler, 0);
        return second <= 0
                ? channel.trySend(rank, memory.segment(), 0, RequestLayout.FIRST_BYTES, SendMode.SAFER, EXPRESS)
                : channel.trySend(
                        rank, memory.segment(), 0, RequestLayout.FIRST_BYTES, second, SendMode.SAFER, EXPRESS);
    }

    private void putHeader(int endpoint, int handler, int hasBulks) {
        memory.putInt(RequestLayout.ENDPOINT_OFFSET, endpoint);
        memory.putInt(RequestLayout.HANDLER_OFFSET, handler);
        memory.putInt(RequestLayout.SIZES_OFFSET, inlineBytes() | hasBulks);
    }

    /** Packs the whole request into a message, without ending it. */
    void pack(OutgoingMessage message, int endpoint, int handler) {
        if (bulkCount == 0) {
            packInline(message, endpoint, handler, 0);
        } else {
            packWithBulks(message, endpoint, handler);
        }
    }

    private void packInline(OutgoingMessage message, int endpoint, int handler, int hasBulks) {
        putHeader(endpoint, handler, hasBulks);
        message.pack(memory.segment(), 0, RequestLayout.FIRST_BYTES, SendMode.SAFER, EXPRESS);
        for (int at = RequestLayout.FIRST_BYTES; at < end; ) {
            int to = RequestLayout.pieceEnd(at, end);
            message.pack(memory.segment(), at, to - at, SendMode.SAFER, EXPRESS);
            at = to;
        }
    }

    private void packWithBulks(OutgoingMessage message, int endpoint, int handler) {
        int before = end;
        for (int i = 0; i < bulkCount; i++) {
            putInt(bulkAt[i]);
        }
        if (bulkCount > 1) {
            putInt(-bulkCount);
        }
        packInline(message, endpoint, handler, RequestLayout.HAS_BULKS);
        end = before; // drops the table again: these arguments may be sent once more
        for (int i = 0; i < bulkCount; i++) {
            message.pack(bulks[i], 0, bulks[i].byteSize(), SendMode.CHEAPER, i == bulkCount - 1 ? CHEAPER : EXPRESS);
        }
    }

    /** Marks the referenced arguments as in use until {@link #takenBack}. */
    void lend() {
        if (lent == null) {
            lent = new AtomicInteger();
        }
        lent.incrementAndGet();
    }

    void takenBack() {
        if (lent != null) {
            lent.decrementAndGet();
        }
    }
}
