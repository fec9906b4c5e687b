package io.madeleine.linux;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.madeleine.pmm.spi.CopyEngine;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Reads the memory of one process. {@link #read} allocates nothing.
 *
 * <p>Threading: one thread at a time.
 */
final class VmReader implements CopyEngine.Reader {
    private static final int EPERM = 1;
    private static final int ESRCH = 3;
    private static final int ENOMEM = 12;
    private static final int EFAULT = (int) -BAD_ADDRESS;
    private static final int ENOSYS = 38;

    /** struct iovec: address, length. */
    private static final long IOVEC_BYTES = 2 * JAVA_LONG.byteSize();

    private static final long LENGTH_OFFSET = JAVA_LONG.byteSize();

    private final int pid;
    private final MemorySegment symbol = ProcessVm.symbol();
    private final MemorySegment state;
    private final MemorySegment local;
    private final MemorySegment remote;

    VmReader(long pid, Arena arena) {
        this.pid = Math.toIntExact(pid);
        this.state = arena.allocate(ProcessVm.stateLayout());
        this.local = arena.allocate(IOVEC_BYTES, JAVA_LONG.byteAlignment());
        this.remote = arena.allocate(IOVEC_BYTES, JAVA_LONG.byteAlignment());
    }

    @Override
    public long read(long address, MemorySegment target, long offset, long bytes) {
        if (!target.isNative() || target.isReadOnly()) {
            throw new IllegalArgumentException("expected native memory that can be written, found " + target);
        }
        if (bytes <= 0 || offset < 0 || offset > target.byteSize() - bytes) {
            throw new IndexOutOfBoundsException(bytes + " bytes at " + offset + " of " + target.byteSize()
                    + ": expected at least 1 byte, within the target");
        }
        local.set(JAVA_LONG, 0, target.address() + offset);
        local.set(JAVA_LONG, LENGTH_OFFSET, bytes);
        remote.set(JAVA_LONG, 0, address);
        remote.set(JAVA_LONG, LENGTH_OFFSET, bytes);
        long count = ProcessVm.read(symbol, state, pid, local, remote, target);
        return count == 0 ? BAD_ADDRESS : count;
    }

    @Override
    public String explain(long failure) {
        return switch ((int) -failure) {
            case EPERM ->
                "the system forbids reading its memory (EPERM): both processes need the same user, and"
                        + " /proc/sys/kernel/yama/ptrace_scope must be 0, or the container needs the capability"
                        + " SYS_PTRACE";
            case ESRCH -> "there is no such process (ESRCH): it has ended, or lives in another pid namespace";
            case ENOMEM -> "the system has no memory for the call (ENOMEM)";
            case EFAULT -> "the address is not mapped or not ordinary memory there (EFAULT)";
            case ENOSYS -> "this kernel or a system call filter does not offer process_vm_readv (ENOSYS)";
            default -> "the system answers errno " + -failure;
        };
    }
}
