package io.madeleine.tm.tcp;

import io.madeleine.pmm.spi.Blocks;
import io.madeleine.tm.tcp.StreamBuffers.StreamBuffer;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Bytes on their way, taken at the head and added at the tail. A buffer is lent for as long as there are any.
 *
 * <p>Threading: one thread at a time; {@link #isEmpty} is a hint for others.
 */
final class LentBuffer {
    private final StreamBuffers lender;
    private @Nullable StreamBuffer lent;
    private int head;
    private int tail;

    /** An empty one. */
    LentBuffer(StreamBuffers lender) {
        this.lender = lender;
    }

    boolean isEmpty() {
        return lent == null;
    }

    /** How many bytes are in it. */
    int bytes() {
        return tail - head;
    }

    /** The buffer; what is in it lies from {@link #head} to {@link #tail}. */
    MemorySegment memory() {
        return buffer().memory();
    }

    int head() {
        return head;
    }

    /** How much has been added since it was empty or compacted. */
    int tail() {
        return tail;
    }

    void addLong(long word) {
        memory().set(Blocks.LONG, tail, word);
        tail += Long.BYTES;
    }

    long takeLong() {
        long word = memory().get(Blocks.LONG, head);
        taken(Long.BYTES);
        return word;
    }

    /** Adds bytes, also more than a buffer has room for otherwise; to an empty one. */
    void begin(ByteBuffer bytes) {
        int count = bytes.remaining();
        StreamBuffer taken = lender.take(count);
        taken.bytes().clear().put(bytes);
        lent = taken;
        tail = count;
    }

    /** The bytes in front, as many as there are at the most. Ownership: valid until {@link #taken}. */
    ByteBuffer front(int bytes) {
        return buffer().bytes().clear().limit(head + bytes).position(head);
    }

    /** Two of the bytes in front, big-endian. */
    short shortAt(int offset) {
        return buffer().bytes().clear().getShort(head + offset);
    }

    /** So many bytes in front are done with. */
    void taken(int bytes) {
        head += bytes;
        giveBackIfEmpty();
    }

    /** The room behind the tail; what is put there counts after {@link #filledTo}. Goes with {@link #giveBackIfEmpty}. */
    ByteBuffer room() {
        return buffer().bytes().clear().position(tail);
    }

    /** Moves what there is to the front of the buffer. */
    void compact() {
        if (head > 0) {
            front(bytes()).compact();
            tail -= head;
            head = 0;
        }
    }

    /** {@link #room} has been filled up to there. */
    void filledTo(int position) {
        tail = position;
    }

    void giveBackIfEmpty() {
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
