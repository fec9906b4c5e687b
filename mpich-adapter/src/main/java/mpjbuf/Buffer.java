package mpjbuf;

import java.util.Arrays;

/**
 * A growing buffer of packed data, for {@code Comm.Pack}, {@code Comm.Unpack} and messages of {@code MPI.PACKED}.
 *
 * <p>Threading: confined to caller.
 */
public class Buffer {
    private byte[] bytes;
    private int size;

    /** An empty buffer with room for some bytes. */
    public Buffer(int capacity) {
        bytes = new byte[Math.max(capacity, 0)];
    }

    /** The number of bytes packed. */
    public int getSize() {
        return size;
    }

    /** Sets the number of bytes packed. */
    public void setSize(int count) {
        room(count);
        size = count;
    }

    /** The room. */
    public int getCapacity() {
        return bytes.length;
    }

    /** Forgets the content. */
    public void clear() {
        size = 0;
    }

    /**
     * The memory.
     *
     * <p>Ownership: the buffer's; it changes when the buffer grows.
     */
    public byte[] array() {
        return bytes;
    }

    /** Makes room for some bytes in all. */
    public void room(int count) {
        if (count > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(count, 2 * bytes.length));
        }
    }
}
