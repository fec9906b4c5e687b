package io.madeleine.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.Optional;

/**
 * The downcall {@code process_vm_readv}. Do not initialise this class without native access.
 *
 * <pre>
 * ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long localCount,
 *     const struct iovec *remote, unsigned long remoteCount, unsigned long flags)
 * </pre>
 *
 * <p>Threading: stateless.
 */
final class ProcessVm {
    private static final StructLayout STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

    private static final Optional<MemorySegment> SYMBOL =
            Linker.nativeLinker().defaultLookup().find("process_vm_readv");

    /**
     * The function with an additional last argument, the target segment, which it ignores. A segment that is an
     * argument keeps its arena open during the call. An address inside an iovec does not: the kernel could write into
     * memory that another thread has just freed.
     */
    @SuppressWarnings("restricted") // downcalls are the purpose of this module
    private static final MethodHandle READ = Linker.nativeLinker()
            .downcallHandle(
                    FunctionDescriptor.of(
                            JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS),
                    Linker.Option.captureCallState("errno"));

    private ProcessVm() {}

    static boolean isPresent() {
        return SYMBOL.isPresent();
    }

    /** The layout of the memory that {@link #read} needs for errno. */
    static MemoryLayout stateLayout() {
        return STATE;
    }

    /** The address of the function. */
    static MemorySegment symbol() {
        return SYMBOL.orElseThrow();
    }

    /**
     * Reads with one iovec on either side. Returns the number of bytes, or errno as a negative number.
     *
     * @param target the segment into which {@code local} points; kept open during the call
     */
    static long read(
            MemorySegment symbol,
            MemorySegment state,
            int pid,
            MemorySegment local,
            MemorySegment remote,
            MemorySegment target) {
        try {
            long count = (long) READ.invokeExact(symbol, state, pid, local, 1L, remote, 1L, 0L, target);
            return count >= 0 ? count : -(int) ERRNO.get(state, 0L);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("process_vm_readv threw a checked exception", e);
        }
    }
}
