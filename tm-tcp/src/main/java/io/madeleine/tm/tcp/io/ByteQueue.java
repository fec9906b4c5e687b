package io.madeleine.tm.tcp.io;

import io.madeleine.pmm.spi.Blocks;
import io.madeleine.tm.tcp.io.StreamBuffers.StreamBuffer;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A byte queue, taken at the head and added to at the tail. It borrows a buffer of {@link StreamBuffers} while it is
 * not empty.
 *
 * <p>Threading: one thread at a time; {@link #isEmpty} is a hint for others.
 */
public final class ByteQueue {
    private final StreamBuffers lender;
    private @Nullable StreamBuffer lent;
    private int head;
    private int tail;

    /** An empty queue. */
    public ByteQueue(StreamBuffers lender) {
        this.lender = lender;
    }

    public boolean isEmpty() {
        return lent == null;
    }

    /** The number of bytes in the queue. */
    public int bytes() {
        return tail - head;
    }

    /** The buffer; the queue lies from {@link #head} to {@link #tail}. */
    public MemorySegment memory() {
        return buffer().memory();
    }

    public int head() {
        return head;
    }

    /** The position behind the last byte. */
    public int tail() {
        return tail;
    }

    public void addLong(long word) {
        memory().set(Blocks.LONG, tail, word);
        tail += Long.BYTES;
    }

    public long takeLong() {
        long word = memory().get(Blocks.LONG, head);
        taken(Long.BYTES);
        return word;
    }

    /** Adds bytes to an empty queue, possibly more than a buffer has room for. Ownership: the bytes are copied. */
    public void begin(ByteBuffer bytes) {
        int count = bytes.remaining();
        StreamBuffer taken = lender.take(count);
        taken.bytes().clear().put(bytes);
        lent = taken;
        tail = count;
    }

    /** The first {@code bytes} bytes. Ownership: valid until {@link #taken}. */
    public ByteBuffer front(int bytes) {
        return buffer().bytes().clear().limit(head + bytes).position(head);
    }

    /** Two bytes at an offset behind the head, big-endian. */
    public short shortAt(int offset) {
        return buffer().bytes().clear().getShort(head + offset);
    }

    /** Removes bytes at the head. */
    public void taken(int bytes) {
        head += bytes;
        giveBackIfEmpty();
    }

    /**
     * The room behind the tail. The caller fills it, calls {@link #filledTo}, and if it added nothing {@link
     * #giveBackIfEmpty}. Ownership: valid until the next call.
     */
    public ByteBuffer room() {
        return buffer().bytes().clear().position(tail);
    }

    /** Moves the bytes to the front of the buffer. */
    public void compact() {
        if (head > 0) {
            front(bytes()).compact();
            tail -= head;
            head = 0;
        }
    }

    /** Sets the tail, after {@link #room} has been filled up to there. */
    public void filledTo(int position) {
        tail = position;
    }

    public void giveBackIfEmpty() {
        StreamBuffer unused = lent;
        if (unused != null && head == tail) {
            head = 0;
            tail = 0;
            lent = null;
            lender.give(unused);
        }
    }

    private StreamBuffer buffer() {
        StreamBuffer used = lent;
        if (used == null) {
            used = lender.take();
            lent = used;
        }
        return used;
    }
}
