package io.madeleine.switching;

import java.lang.foreign.Arena;

/**
 * A full fence in every thread of the process, for what is changed often by one thread without a fence and looked at
 * rarely by others, who pay for both: "asymmetric" synchronisation.
 *
 * <p>The closing of a shared arena stops each thread for a moment at a point where no access to memory is half done. That
 * this is a fence follows from how the JVM does it, and is not promised.
 */
final class GlobalFence {
    private GlobalFence() {}

    /** Passes the fence: some 10 to 100 us. */
    static void pass() {
        Arena.ofShared().close();
    }
}
