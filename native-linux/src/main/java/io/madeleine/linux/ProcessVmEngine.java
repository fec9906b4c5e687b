package io.madeleine.linux;

import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.CopyEngine;
import java.lang.foreign.Arena;
import java.util.List;

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

    private static final String MODULE = "io.madeleine.linux";

    /** For {@link java.util.ServiceLoader}; loads nothing yet. */
    public ProcessVmEngine() {}

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Availability availability() {
        if (!System.getProperty("os.name", "").equals("Linux")) {
            return Availability.off(NAME + " is a call of Linux, and this is " + System.getProperty("os.name"));
        }
        if (!ProcessVmEngine.class.getModule().isNativeAccessEnabled()) {
            String module = ProcessVmEngine.class.getModule().isNamed() ? MODULE : "ALL-UNNAMED";
            return Availability.off("native access is not granted; run java with --enable-native-access=" + module
                    + " (\"mad run\" does it by itself, unless told --no-native)");
        }
        if (!ProcessVm.isPresent()) {
            return Availability.off("the C library of this system has no " + NAME);
        }
        return Availability.on("single copy by " + NAME);
    }

    @Override
    public List<String> nativeModules() {
        return List.of(MODULE);
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
