package io.madeleine.nexus;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Copies of arguments, for requests that outlive the call they are made in: their owner puts others into the object then.
 *
 * <p>Threading: stateless.
 */
final class ArgumentCopies {
    private ArgumentCopies() {}

    /** A copy of the small arguments, and the same references to the large ones. */
    static Arguments ofSmall(Arguments arguments) {
        return arguments.copy(bulk -> bulk);
    }

    /** A copy of everything. */
    static Arguments ofAll(Arguments arguments) {
        return arguments.copy(bulk -> MemorySegment.ofArray(bulk.toArray(Wire.BYTE)));
    }

    /** The small arguments as a request finds them. */
    static byte[] inline(Arguments arguments) {
        byte[] copy = new byte[arguments.inlineBytes()];
        arguments.copyInline(MemorySegment.ofArray(copy), 0);
        return copy;
    }

    /** Copies of the large arguments, for a request that stays in this process. */
    static MemorySegment[] bulks(Arguments arguments) {
        MemorySegment[] copies = new MemorySegment[arguments.bulkCount()];
        Arrays.setAll(copies, i -> {
            MemorySegment bulk = arguments.bulk(i);
            return Arena.ofAuto().allocate(bulk.byteSize(), Long.BYTES).copyFrom(bulk);
        });
        return copies;
    }
}
