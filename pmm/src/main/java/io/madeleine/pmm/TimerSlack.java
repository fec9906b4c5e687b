package io.madeleine.pmm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * How late the system may wake a thread whose sleep is over. Linux takes 50 us, so as to wake several at once.
 *
 * <p>Threading: stateless.
 */
public final class TimerSlack {
    private static final System.Logger LOGGER = System.getLogger("io.madeleine.pmm");

    private TimerSlack() {}

    /** Asks for 1 us for the calling thread; where there is nobody to ask, its timers stay as coarse as they are. */
    public static void sharpen() {
        try {
            Path self = Files.readSymbolicLink(Path.of("/proc/thread-self"));
            Files.writeString(Path.of("/proc/" + self.getFileName() + "/timerslack_ns"), "1000");
        } catch (IOException | RuntimeException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "the timers of " + Thread.currentThread() + " stay coarse: " + e);
        }
    }
}
