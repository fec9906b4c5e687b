package io.madeleine.pmm;

import io.madeleine.pmm.spi.AttachedMemory;
import io.madeleine.pmm.spi.RemoteCompletion;
import io.madeleine.pmm.spi.RemoteMemory;
import io.madeleine.pmm.spi.RemoteMemoryException;
import io.madeleine.pmm.spi.RemoteMemoryException.Kind;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * Checks the arguments of {@link RemoteMemory} and {@link AttachedMemory}, so that all networks refuse the same ones in
 * the same words, in the thread of the caller.
 *
 * <p>Threading: stateless.
 */
public final class RemoteArguments {
    /** A thread that never runs: what it may access, any thread may. */
    private static final Thread ANY_THREAD = Thread.ofPlatform().unstarted(() -> {});

    private RemoteArguments() {}

    /** Refuses a null argument, freed memory, and a read-only segment that is exported for writing. */
    public static void checkExport(MemorySegment memory, RemoteMemory.Access access) {
        Objects.requireNonNull(memory, "memory");
        Objects.requireNonNull(access, "access");
        if (!memory.scope().isAlive()) {
            throw new RemoteMemoryException(
                    Kind.NOT_EXPORTABLE, memory + " has been freed: expected memory of an open arena");
        }
        if (memory.isReadOnly() && access == RemoteMemory.Access.READ_WRITE) {
            throw new RemoteMemoryException(
                    Kind.READ_ONLY,
                    memory + " is a read-only segment: expected a writable one for Access.READ_WRITE; export it with"
                            + " Access.READ, or export the segment of which it is a read-only view");
        }
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

    /**
     * Refuses a source of a put from which the bytes cannot be read.
     *
     * @param immediate whether the caller's thread copies, rather than one that polls
     */
    public static void checkSource(MemorySegment source, long offset, long bytes, boolean immediate) {
        checkOwn("source", source, offset, bytes);
        checkThread("source", source, immediate);
    }

    /**
     * Refuses a target of a get to which the bytes cannot be written.
     *
     * @param immediate whether the caller's thread copies, rather than one that polls
     */
    public static void checkTarget(MemorySegment target, long offset, long bytes, boolean immediate) {
        checkOwn("target", target, offset, bytes);
        if (target.isReadOnly()) {
            throw new IllegalArgumentException("the target is a read-only segment: expected one to write to");
        }
        checkThread("target", target, immediate);
    }

    private static void checkOwn(String name, MemorySegment own, long offset, long bytes) {
        if (offset < 0 || bytes < 0 || bytes > own.byteSize() || offset > own.byteSize() - bytes) {
            throw new IndexOutOfBoundsException(bytes + " bytes at offset " + offset + " of the " + name
                    + ": expected a range within its " + own.byteSize() + " bytes");
        }
        if (!own.scope().isAlive()) {
            throw new IllegalStateException("the " + name + " has been freed: expected memory of an open arena");
        }
    }

    private static void checkThread(String name, MemorySegment own, boolean immediate) {
        if (immediate && !own.isAccessibleBy(Thread.currentThread())) {
            throw new WrongThreadException(
                    "the " + name + " belongs to another thread: expected memory that this thread may access");
        }
        if (!immediate && !own.isAccessibleBy(ANY_THREAD)) {
            throw new WrongThreadException("the " + name + " belongs to one thread, but the thread that polls copies"
                    + " it: expected the session's memory, a shared or automatic arena, or an array");
        }
    }
}
