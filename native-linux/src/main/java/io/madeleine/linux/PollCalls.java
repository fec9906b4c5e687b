package io.madeleine.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * The downcalls for waiting on descriptors. Do not initialise this class without native access.
 *
 * <pre>
 *   int poll(struct pollfd *fds, nfds_t nfds, int timeout)
 *   int eventfd(unsigned int initval, int flags)
 *   ssize_t read(int fd, void *buf, size_t count)
 *   ssize_t write(int fd, const void *buf, size_t count)
 *   int close(int fd)
 * </pre>
 *
 * <p>Threading: stateless.
 */
final class PollCalls {
    private static final int NON_BLOCKING_CLOSED_BY_EXEC = 0x800 | 0x80000;

    private static final MethodHandle POLL =
            handle("poll", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT));
    private static final MethodHandle EVENTFD = handle("eventfd", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle READ =
            handle("read", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG));
    private static final MethodHandle WRITE =
            handle("write", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG));
    private static final MethodHandle CLOSE = handle("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));

    private PollCalls() {}

    @SuppressWarnings("restricted") // downcalls are the purpose of this module
    private static MethodHandle handle(String name, FunctionDescriptor descriptor) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), descriptor);
    }

    /** Returns how many descriptors are ready; negative if the call failed, for instance because of a signal. */
    static int poll(MemorySegment descriptors, long count, int timeoutMs) {
        try {
            return (int) POLL.invokeExact(descriptors, count, timeoutMs);
        } catch (Throwable e) {
            throw Downcalls.unexpected(e);
        }
    }

    /** Opens a non-blocking event descriptor, closed on exec; negative if the system has none left. */
    static int eventDescriptor() {
        try {
            return (int) EVENTFD.invokeExact(0, NON_BLOCKING_CLOSED_BY_EXEC);
        } catch (Throwable e) {
            throw Downcalls.unexpected(e);
        }
    }

    static void read(int descriptor, MemorySegment target) {
        try {
            long _ = (long) READ.invokeExact(descriptor, target, target.byteSize());
        } catch (Throwable e) {
            throw Downcalls.unexpected(e);
        }
    }

    static void write(int descriptor, MemorySegment source) {
        try {
            long _ = (long) WRITE.invokeExact(descriptor, source, source.byteSize());
        } catch (Throwable e) {
            throw Downcalls.unexpected(e);
        }
    }

    static void close(int descriptor) {
        try {
            int _ = (int) CLOSE.invokeExact(descriptor);
        } catch (Throwable e) {
            throw Downcalls.unexpected(e);
        }
    }
}
