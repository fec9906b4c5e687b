package io.madeleine.linux;

import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.CopyEngine;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Optional;

/**
 * Reads another process's memory with {@code process_vm_readv}: one copy, made by the receiver's processor. The kernel
 * permits it where it would permit to trace the process: the same user, and neither {@code ptrace_scope} nor a container's
 * filter of system calls in the way.
 *
 * <p>Threading: thread-safe, immutable.
 */
public final class ProcessVmEngine implements CopyEngine {
    /** The engine's name. */
    public static final String NAME = "process_vm_readv";

    /** For {@link java.util.ServiceLoader}; loads nothing yet. */
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
