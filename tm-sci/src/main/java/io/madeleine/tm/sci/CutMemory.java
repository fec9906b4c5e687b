package io.madeleine.tm.sci;

import java.lang.foreign.MemorySegment;

/**
 * Finds mapped files that somebody has cut short. To touch what is gone makes the JVM throw an InternalError: some time after
 * the access, when the thread next gives way to the JVM, and so anywhere. Who catches one asks here whose memory it was.
 *
 * <p>Threading: stateless.
 */
final class CutMemory {
    private static final Object NOBODYS = new Object();

    private CutMemory() {}

    /** Whether all of a mapped file is still there: whoever cuts it takes its end. */
    static boolean isWhole(MemorySegment memory) {
        try {
            long _ = Words.opaque(memory, memory.byteSize() - Long.BYTES & -Long.BYTES);
            settle();
            return true;
        } catch (InternalError _) {
            return false;
        } catch (IllegalStateException _) {
            return true; // unmapped by now, which is another matter
        }
    }

    /** Has an access that has failed throw its error here at the latest. */
    static void settle() {
        boolean _ = Thread.holdsLock(NOBODYS); // a call into the JVM
    }
}
