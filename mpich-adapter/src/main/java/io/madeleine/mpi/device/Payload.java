package io.madeleine.mpi.device;

import static io.madeleine.api.ReceiveMode.CHEAPER;

import io.madeleine.api.BlockLayout;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.SendMode;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The memory of an operation: a contiguous range, or the ranges of a layout.
 *
 * <p>Ownership: the memory stays the caller's; the device uses it until the operation is done.
 *
 * <p>Threading: written before an operation starts, read by whichever thread makes progress.
 */
public final class Payload {
    private static final MemorySegment NONE = MemorySegment.ofArray(new byte[0]);

    private MemorySegment segment = NONE;
    private long offset;
    private long bytes;
    private @Nullable BlockLayout layout;

    /** Without memory. */
    public Payload() {}

    /** A contiguous range: {@code length} bytes of {@code memory} from {@code start} on. */
    public void set(MemorySegment memory, long start, long length) {
        segment = memory;
        offset = start;
        bytes = length;
        layout = null;
    }

    /** The ranges of a layout. */
    public void set(BlockLayout ranges) {
        segment = NONE;
        offset = 0;
        bytes = ranges.byteSize();
        layout = ranges;
    }

    /** The same memory as another payload. */
    public void set(Payload other) {
        segment = other.segment;
        offset = other.offset;
        bytes = other.bytes;
        layout = other.layout;
    }

    /** No memory: the operation keeps nothing reachable. */
    public void clear() {
        set(NONE, 0, 0);
    }

    /** The number of bytes. */
    public long bytes() {
        return bytes;
    }

    void pack(OutgoingMessage message, long from, long count) {
        BlockLayout ranges = layout;
        if (ranges == null) {
            message.pack(segment, offset + from, count, SendMode.CHEAPER, CHEAPER);
        } else {
            message.pack(Layouts.slice(ranges, from, count), SendMode.CHEAPER, CHEAPER);
        }
    }

    void unpack(IncomingMessage message, long from, long count) {
        BlockLayout ranges = layout;
        if (ranges == null) {
            message.unpack(segment, offset + from, count, SendMode.CHEAPER, CHEAPER);
        } else {
            message.unpack(Layouts.slice(ranges, from, count), SendMode.CHEAPER, CHEAPER);
        }
    }

    /** Copies {@code count} bytes from {@code source} to the beginning of this payload. */
    public void copyFrom(MemorySegment source, long start, long count) {
        copyFrom(source, start, 0, count);
    }

    /** Copies {@code count} bytes from {@code source} to the place {@code at} of this payload. */
    void copyFrom(MemorySegment source, long start, long at, long count) {
        BlockLayout ranges = layout;
        if (ranges == null) {
            MemorySegment.copy(source, start, segment, offset + at, count);
        } else {
            Layouts.scatter(source, start, at == 0 ? ranges : Layouts.slice(ranges, at, count), count);
        }
    }

    /** Copies the first {@code count} bytes of this payload to {@code target}. */
    public void copyTo(MemorySegment target, long start, long count) {
        BlockLayout ranges = layout;
        if (ranges == null) {
            MemorySegment.copy(segment, offset, target, start, count);
        } else {
            Layouts.gather(ranges, target, start, count);
        }
    }

    /** Copies the first {@code count} bytes of this payload to another. */
    public void copyTo(Payload target, long count) {
        BlockLayout ranges = target.layout;
        if (ranges == null) {
            copyTo(target.segment, target.offset, count);
        } else if (layout == null) {
            target.copyFrom(segment, offset, count);
        } else {
            MemorySegment between = MemorySegment.ofArray(new byte[Math.toIntExact(count)]);
            copyTo(between, 0, count);
            target.copyFrom(between, 0, count);
        }
    }
}
