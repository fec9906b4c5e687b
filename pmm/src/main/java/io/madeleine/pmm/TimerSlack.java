package io.madeleine.pmm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Linux's timer slack: how late the system may wake a thread whose sleep is over, so that it can wake several at once.
 * By default 50 us.
 *
 * <p>Threading: stateless.
 */
public final class TimerSlack {
    private static final System.Logger LOGGER = System.getLogger("io.madeleine.pmm");

    private TimerSlack() {}

    /** Sets the slack of the calling thread to 1 us; does nothing where the system does not permit it. */
    public static void sharpen() {
        try {
            Path self = Files.readSymbolicLink(Path.of("/proc/thread-self"));
            Files.writeString(Path.of("/proc/" + self.getFileName() + "/timerslack_ns"), "1000");
        } catch (IOException | RuntimeException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "the timers of " + Thread.currentThread() + " stay coarse: " + e);
        }
    }
}
