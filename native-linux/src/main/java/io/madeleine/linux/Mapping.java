package io.madeleine.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;

/**
 * The downcalls for anonymous memory. Addresses are plain numbers. Do not initialise this class without native access.
 *
 * <pre>
 *   void *mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
 *   int munmap(void *addr, size_t length)
 *   int madvise(void *addr, size_t length, int advice)
 * </pre>
 *
 * <p>Threading: stateless.
 */
final class Mapping {
    /** The result of {@link #map} if the system has no memory. */
    static final long FAILED = -1;

    private static final int READ_AND_WRITE = 0x1 | 0x2;
    private static final int PRIVATE_AND_ANONYMOUS = 0x02 | 0x20;
    private static final int HUGE_PAGES = 14;

    private static final MethodHandle MAP = handle(
            "mmap", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle UNMAP = handle("munmap", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle ADVISE =
            handle("madvise", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));

    private Mapping() {}

    @SuppressWarnings("restricted") // downcalls are the purpose of this module
    private static MethodHandle handle(String name, FunctionDescriptor descriptor) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), descriptor);
    }

    /** Maps anonymous memory, filled with zeros. Returns its address or {@link #FAILED}. */
    static long map(long bytes) {
        try {
            return (long) MAP.invokeExact(0L, bytes, READ_AND_WRITE, PRIVATE_AND_ANONYMOUS, -1, 0L);
        } catch (Throwable e) {
            throw Downcalls.unexpected(e);
        }
    }

    /** Unmaps memory: whole pages, also parts of a mapping. */
    static void unmap(long address, long bytes) {
        try {
            int _ = (int) UNMAP.invokeExact(address, bytes);
        } catch (Throwable e) {
            throw Downcalls.unexpected(e);
        }
    }

    /** Asks for huge pages in this range. Returns whether the system supports them. */
    static boolean adviseHugePages(long address, long bytes) {
        try {
            return (int) ADVISE.invokeExact(address, bytes, HUGE_PAGES) == 0;
        } catch (Throwable e) {
            throw Downcalls.unexpected(e);
        }
    }
}
