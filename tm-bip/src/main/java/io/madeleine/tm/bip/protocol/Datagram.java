package io.madeleine.tm.bip.protocol;

import io.madeleine.pmm.spi.Blocks;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The memory of one datagram, with its header. It is filled and read again and again.
 *
 * <p>Threading: confined to one thread at a time.
 *
 * <p>Ownership: the arena's; do not use it after the arena was closed.
 */
public final class Datagram {
    private final ByteBuffer bytes;
    private final MemorySegment memory;
    private final CRC32C crc = new CRC32C();
    private byte @Nullable [] plain; // the cipher is fastest between two arrays
    private byte @Nullable [] sealed;
    private @Nullable RingMemory tail; // where the last bytes lie, if not here
    private int tailIndex;
    private int tailBytes;
    private final MemorySegment displaced;

    /** Memory for datagrams of up to {@link DatagramLayout#MAX_DATAGRAM_BYTES} bytes. */
    public Datagram(Arena arena) {
        memory = arena.allocate(DatagramLayout.MAX_DATAGRAM_BYTES + 1, 64);
        bytes = memory.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
        displaced = arena.allocate(RingMemory.HEADROOM_BYTES);
    }

    /** The memory from position 0 to the limit is the datagram. */
    public ByteBuffer bytes() {
        join();
        return bytes;
    }

    /** The same memory. */
    public MemorySegment memory() {
        join();
        return memory;
    }

    /** The length of the datagram in bytes. */
    public int length() {
        return bytes.limit() + tailBytes;
    }

    // ---- a datagram whose last bytes lie in the ring of their stream

    /** The datagram ends with bytes of a ring, behind what is written here; returns false if its head is too long. */
    boolean endWith(RingMemory ring, int index, int count) {
        if (bytes.position() > RingMemory.HEADROOM_BYTES) {
            return false;
        }
        tail = ring;
        tailIndex = index;
        tailBytes = count;
        return true;
    }

    /** Copies the bytes that lie in a ring. A datagram that was not sent needs this before the ring may change. */
    public void join() {
        RingMemory ring = tail;
        if (ring != null) {
            int head = bytes.limit();
            bytes.limit(head + tailBytes);
            Blocks.copy(ring.ring(), tailIndex, memory, head, tailBytes);
            leaveRing();
        }
    }

    private void leaveRing() {
        tail = null;
        tailBytes = 0;
    }

    /** The sealed datagram in one piece, to be sent; {@link #restoreRing} has to follow at once. */
    public ByteBuffer toSend() {
        RingMemory ring = tail;
        return ring == null ? bytes : ring.gather(memory, bytes.limit(), tailIndex, tailBytes, displaced);
    }

    /** Puts back what {@link #toSend} has displaced in the ring, whether the datagram was sent or not. */
    public void restoreRing() {
        RingMemory ring = tail;
        if (ring != null) {
            ring.restore(displaced, bytes.limit(), tailIndex);
        }
    }

    // ---- writing

    /** Begins a datagram; the length comes with {@link #seal}. */
    public void begin(int kind, long destination, long number, int floorDistance) {
        clear();
        bytes.put(DatagramLayout.VERSION_OFFSET, (byte) DatagramLayout.VERSION);
        bytes.put(DatagramLayout.KIND_OFFSET, (byte) kind);
        bytes.putLong(DatagramLayout.DESTINATION_OFFSET, destination);
        bytes.putLong(DatagramLayout.NUMBER_OFFSET, number);
        bytes.putInt(DatagramLayout.FLOOR_OFFSET, floorDistance);
        bytes.position(DatagramLayout.HEADER_BYTES);
    }

    /** Ends the datagram at the current position; sets length and checksum, and makes the bytes ready to be sent. */
    public int seal() {
        int length = bytes.position() + tailBytes;
        bytes.putShort(DatagramLayout.LENGTH_OFFSET, (short) length);
        bytes.flip();
        bytes.putInt(DatagramLayout.CHECKSUM_OFFSET, checksum());
        return length;
    }

    /** As {@link #seal()}; its frames are encrypted, and the tag takes the place of the checksum. */
    int seal(Protection protection, long largestAcked) {
        int length = bytes.position() + DatagramLayout.TAG_BYTES;
        bytes.putShort(DatagramLayout.LENGTH_OFFSET, (short) length);
        protection.seal(this, largestAcked);
        bytes.position(0);
        return length;
    }

    /** Room for frames that are not encrypted. */
    byte[] plain() {
        byte[] present = plain;
        if (present == null) {
            present = new byte[DatagramLayout.MAX_DATAGRAM_BYTES];
            plain = present;
        }
        return present;
    }

    /** Room for encrypted frames and their tag. */
    byte[] sealed() {
        byte[] present = sealed;
        if (present == null) {
            present = new byte[DatagramLayout.MAX_DATAGRAM_BYTES];
            sealed = present;
        }
        return present;
    }

    private int checksum() {
        crc.reset();
        bytes.position(DatagramLayout.VERSION_OFFSET);
        crc.update(bytes);
        bytes.position(0);
        RingMemory ring = tail;
        if (ring != null) {
            crc.update(ring.view(tailIndex, tailBytes));
        }
        return (int) crc.getValue();
    }

    // ---- reading

    /** Makes the memory ready to receive a datagram: position 0, limit at the end. */
    public void clear() {
        leaveRing();
        bytes.clear();
    }

    /** Takes the bytes before the position as the datagram that has arrived. */
    public void arrived() {
        bytes.flip();
    }

    /** Takes the first bytes of the memory as the datagram that has arrived. */
    public void arrived(int length) {
        bytes.limit(length).position(0);
    }

    /**
     * Whether a datagram that has arrived is one of this version and is not corrupt; {@link Protection} finds out the
     * latter of one that is sealed.
     */
    public boolean isIntact() {
        int length = bytes.limit();
        return length >= DatagramLayout.HEADER_BYTES
                && length <= DatagramLayout.MAX_DATAGRAM_BYTES
                && bytes.get(DatagramLayout.VERSION_OFFSET) == DatagramLayout.VERSION
                && Short.toUnsignedInt(bytes.getShort(DatagramLayout.LENGTH_OFFSET)) == length
                && (kind() == DatagramLayout.SEALED
                        ? length >= DatagramLayout.HEADER_BYTES + DatagramLayout.TAG_BYTES
                        : bytes.getInt(DatagramLayout.CHECKSUM_OFFSET) == checksum());
    }

    /** Whether an intact datagram of kind INIT or OPEN has the form that they have. */
    public boolean isRequest() {
        if (bytes.limit() != DatagramLayout.REQUEST_BYTES || destination() != 0 || number() == 0) {
            return false;
        }
        int zeros = DatagramLayout.HEADER_BYTES + (kind() == DatagramLayout.OPEN ? DatagramLayout.COOKIE_BYTES : 0);
        while (zeros < DatagramLayout.REQUEST_BYTES && bytes.get(zeros) == 0) {
            zeros++;
        }
        return zeros == DatagramLayout.REQUEST_BYTES;
    }

    /** The kind. */
    public int kind() {
        return bytes.get(DatagramLayout.KIND_OFFSET);
    }

    /** The destination id. */
    public long destination() {
        return bytes.getLong(DatagramLayout.DESTINATION_OFFSET);
    }

    /** The packet number, or the sender's id. */
    public long number() {
        return bytes.getLong(DatagramLayout.NUMBER_OFFSET);
    }

    /** Whether it has frames of a connection. */
    public boolean hasFrames() {
        return kind() == DatagramLayout.DATA || kind() == DatagramLayout.SEALED;
    }

    /** The distance from the packet number to the lowest one that the sender tracks. */
    public long floorDistance() {
        return Integer.toUnsignedLong(bytes.getInt(DatagramLayout.FLOOR_OFFSET));
    }
}
