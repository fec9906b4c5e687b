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
 * The downcall. Its class is not to be initialised where native access is not granted.
 *
 * <pre>ssize_t process_vm_readv(pid_t, const struct iovec *local, unsigned long, const struct iovec *remote, unsigned long,
 *     unsigned long flags)</pre>
 *
 * <p>Threading: stateless.
 */
final class ProcessVm {
    private static final StructLayout STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

    private static final Optional<MemorySegment> SYMBOL =
            Linker.nativeLinker().defaultLookup().find("process_vm_readv");

    /**
     * The function with one argument more than it has, which it never looks at: an address that stands only in an iovec
     * would not keep its arena open, and the kernel would write into memory that another thread has freed.
     */
    @SuppressWarnings("restricted") // what this module is for
    private static final MethodHandle READ = Linker.nativeLinker()
            .downcallHandle(
                    FunctionDescriptor.of(
                            JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS),
                    Linker.Option.captureCallState("errno"));

    private ProcessVm() {}

    static boolean isPresent() {
        return SYMBOL.isPresent();
    }

    /** How many bytes {@link #read} needs for errno. */
    static MemoryLayout stateLayout() {
        return STATE;
    }

    /** Where the function is. */
    static MemorySegment symbol() {
        return SYMBOL.orElseThrow();
    }

    /** Reads with one iovec on either side; the count, or errno as a negative number. */
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
            throw new IllegalStateException("process_vm_readv threw what no downcall throws", e);
        }
    }
}
