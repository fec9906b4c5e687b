package io.madeleine.testkit;

import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * What the parts of the contract of the SPI need of a test: two processes of a session, simulated in one JVM, with one
 * connection. {@link AbstractSpiTest} has it.
 */
public interface SpiFixture {
    /** How long the tests wait for something that must happen. */
    long PATIENCE_NS = 20_000_000_000L;

    /** The process that initiates the connection. */
    SpiEnd left();

    /** The other process. */
    SpiEnd right();

    /** Another process of the session, without a connection; the caller closes it. */
    SpiEnd newEnd(long id);

    /** Whether a connection that is closed without {@code finish} looks orderly to the peer; empty if either may be. */
    Optional<Boolean> expectedOrderOfClosing();

    /** The number of links of the connection. */
    default int linkCount() {
        return left().connection().links().size();
    }

    /** Polls both processes until the condition is met. */
    default void drive(BooleanSupplier met) {
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        while (!met.getAsBoolean()) {
            if (System.nanoTime() - deadlineNs > 0) {
                throw new ContractViolation("no progress: the condition was not met within "
                        + PATIENCE_NS / 1_000_000_000 + " s of polling both ends");
            }
            left().poll();
            right().poll();
        }
    }

    /** Polls both processes for a while, so that everything sent should have arrived. */
    default void settle() {
        int leastRounds = 100; // settle what was sent, also if the thread is held up meanwhile
        long untilNs = System.nanoTime() + 20_000_000;
        for (int rounds = 0; rounds < leastRounds || System.nanoTime() - untilNs < 0; rounds++) {
            left().poll();
            right().poll();
        }
    }
}
