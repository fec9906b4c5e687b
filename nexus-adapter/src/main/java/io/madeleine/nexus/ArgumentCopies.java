package io.madeleine.nexus;

import io.madeleine.nexus.wire.RequestLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Copies of arguments, for requests that outlive the call that made them: the caller may reuse its arguments meanwhile.
 *
 * <p>Threading: stateless.
 */
final class ArgumentCopies {
    private ArgumentCopies() {}

    /** Copies the small arguments, and keeps the references to the large ones. */
    static Arguments ofSmall(Arguments arguments) {
        return arguments.copy(bulk -> bulk);
    }

    /** Copies all arguments. */
    static Arguments ofAll(Arguments arguments) {
        return arguments.copy(bulk -> MemorySegment.ofArray(bulk.toArray(RequestLayout.BYTE)));
    }

    /** Copies the small arguments in the form that a {@link Request} reads. */
    static byte[] inline(Arguments arguments) {
        byte[] copy = new byte[arguments.inlineBytes()];
        arguments.copyInline(MemorySegment.ofArray(copy), 0);
        return copy;
    }

    /** Copies the large arguments, for a request that stays in this process. */
    static MemorySegment[] bulks(Arguments arguments) {
        MemorySegment[] copies = new MemorySegment[arguments.bulkCount()];
        Arrays.setAll(copies, i -> {
            MemorySegment bulk = arguments.bulk(i);
            return Arena.ofAuto().allocate(bulk.byteSize(), Long.BYTES).copyFrom(bulk);
        });
        return copies;
    }
}
