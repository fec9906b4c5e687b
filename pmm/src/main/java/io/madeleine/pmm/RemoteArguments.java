package io.madeleine.pmm;

import io.madeleine.pmm.spi.AttachedMemory;
import io.madeleine.pmm.spi.RemoteCompletion;
import io.madeleine.pmm.spi.RemoteMemory;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * Checks the arguments of {@link RemoteMemory} and {@link AttachedMemory}, so that all networks refuse the same ones in
 * the same words, in the thread of the caller.
 *
 * <p>Threading: stateless.
 */
public final class RemoteArguments {
    private RemoteArguments() {}

    /** Refuses a null argument of an export. */
    public static void checkExport(MemorySegment memory, RemoteMemory.Access access) {
        Objects.requireNonNull(memory, "memory");
        Objects.requireNonNull(access, "access");
    }

    /** Refuses a null descriptor. */
    public static void checkAttach(byte[] descriptor) {
        Objects.requireNonNull(descriptor, "descriptor");
    }

    /** Refuses a null argument of a put. */
    public static void checkPut(MemorySegment source, RemoteCompletion completion) {
        Objects.requireNonNull(source, "source");
        Objects.requireNonNull(completion, "completion");
    }

    /** Refuses a null argument of a get. */
    public static void checkGet(MemorySegment target, RemoteCompletion completion) {
        Objects.requireNonNull(target, "target");
        Objects.requireNonNull(completion, "completion");
    }

    /** Refuses a null completion of an operation on a word. */
    public static void checkWord(RemoteCompletion completion) {
        Objects.requireNonNull(completion, "completion");
    }
}
