package io.madeleine.tm.via.ffi;

/**
 * How much memory this process may lock, which is what usually stops a registration. Do not initialise this class
 * without native access.
 *
 * <p>Threading: stateless.
 */
final class LockLimit {
    private static final int BYTES_PER_KIB = 1024;

    private LockLimit() {}

    /** The failure of a registration for want of memory: what failed, what the limit is, and how to raise it. */
    static FabricException exceeded(String failed) {
        long bytes = Libc.lockLimitBytes();
        String advice = bytes < 0
                ? "there is no limit of locked memory (ulimit -l), so the system itself is short of memory"
                : "the limit of locked memory is " + bytes / BYTES_PER_KIB + " KiB; raise it with ulimit -l in the"
                        + " shell that starts the process, or with LimitMEMLOCK of its service";
        return new FabricException(Flags.FI_ENOMEM, failed + ": " + advice);
    }
}
