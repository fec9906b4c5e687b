package io.madeleine.tm.sci.memory;

import java.lang.foreign.MemorySegment;

/**
 * Detects mapped files that another program has cut short (truncated). An access to a page that is gone makes the JVM
 * throw an {@link InternalError}. The JVM may throw it some time after the access, at the thread's next transition into
 * the JVM, and thus anywhere. Code that catches such an error asks here which memory was cut short.
 *
 * <p>Threading: stateless.
 */
public final class TruncatedFiles {
    private static final Object NOBODYS = new Object();

    private TruncatedFiles() {}

    /** Whether a mapped file still has its last page: truncation removes the end of a file first. */
    public static boolean isWhole(MemorySegment memory) {
        try {
            long _ = OrderedWords.opaque(memory, memory.byteSize() - Long.BYTES & -Long.BYTES);
            settle();
            return true;
        } catch (InternalError _) {
            return false;
        } catch (IllegalStateException _) {
            return true; // The memory has been unmapped, which is not a truncation.
        }
    }

    /** Makes the JVM throw the error of a failed access here at the latest. */
    public static void settle() {
        boolean _ = Thread.holdsLock(NOBODYS); // a cheap transition into the JVM
    }
}
