package io.madeleine.linux;

import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.CopyEngine;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Optional;

/**
 * Reads another process's memory with {@code process_vm_readv}: a single copy, by the receiver's processor. The kernel
 * permits it where it permits tracing the process: both have the same user, and neither Yama's {@code ptrace_scope} nor
 * a container's system call filter forbids it.
 *
 * <p>Threading: thread-safe, immutable.
 */
public final class ProcessVmEngine implements CopyEngine {
    /** The engine's name. */
    public static final String NAME = "process_vm_readv";

    /** For {@link java.util.ServiceLoader}. Makes no downcall. */
    public ProcessVmEngine() {}

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Availability availability() {
        Availability access = NativeAccess.availability();
        if (!access.on()) {
            return access;
        }
        if (!ProcessVm.isPresent()) {
            return Availability.off("the C library of this system has no " + NAME);
        }
        return Availability.on("single copy by " + NAME);
    }

    @Override
    public Optional<String> forbidden() {
        return TracePermission.SYSTEM.forbidden();
    }

    @Override
    public List<String> nativeModules() {
        return List.of(NativeAccess.MODULE);
    }

    @Override
    public Reader open(long pid, Arena arena) {
        Availability availability = availability();
        if (!availability.on()) {
            throw new IllegalStateException(NAME + " cannot be used: " + availability.reason());
        }
        return new VmReader(pid, arena);
    }
}
