package io.madeleine.testkit;

import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.ProtocolModule;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The set-up of all contract tests of the SPI: two processes of a session, simulated in one JVM, with one connection.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class SpiContract {
    static final long PATIENCE_NS = 20_000_000_000L;

    /** So many polls settle what was sent, also if the thread is held up meanwhile. */
    private static final int LEAST_ROUNDS = 100;

    @TempDir
    Path directory;

    SpiEnd left;
    SpiEnd right;
    private String sessionId = "";

    /**
     * Creates the driver of one process.
     *
     * @param directory a directory that the processes of the test share; empty at first
     */
    protected abstract ProtocolModule newDriver(Path directory);

    /** Called after everything is closed; a subclass may check here that nothing was left behind. */
    protected void afterwards() {}

    @BeforeEach
    void open() {
        sessionId = "contract-" + Long.toHexString(System.nanoTime());
        left = newEnd(1);
        right = newEnd(2);
        connect(left, right);
    }

    SpiEnd newEnd(long id) {
        return new SpiEnd(newDriver(directory), sessionId, id);
    }

    void connect(SpiEnd one, SpiEnd other) {
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        CompletableFuture<ProtocolConnection> ofOne = one.connect(other, true, deadlineNs);
        CompletableFuture<ProtocolConnection> ofOther = other.connect(one, false, deadlineNs);
        drive(() -> ofOne.isDone() && ofOther.isDone());
        one.use(ofOne.join());
        other.use(ofOther.join());
    }

    @AfterEach
    void close() throws InterruptedException {
        Thread other = Thread.ofPlatform().start(left::close); // in parallel: each may wait for the other
        right.close();
        other.join();
        afterwards();
    }

    int linkCount() {
        return left.connection().links().size();
    }

    /** Polls both processes until the condition is met. */
    void drive(BooleanSupplier met) {
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        while (!met.getAsBoolean()) {
            if (System.nanoTime() - deadlineNs > 0) {
                throw new ContractViolation("no progress: the condition was not met within "
                        + PATIENCE_NS / 1_000_000_000 + " s of polling both ends");
            }
            left.poll();
            right.poll();
        }
    }

    /** Polls both processes for a while, so that everything sent should have arrived. */
    void settle() {
        long untilNs = System.nanoTime() + 20_000_000;
        for (int rounds = 0; rounds < LEAST_ROUNDS || System.nanoTime() - untilNs < 0; rounds++) {
            left.poll();
            right.poll();
        }
    }

    /** Sends a series from left to right over a link and receives it. */
    void transfer(PacketSender sender, PacketReceiver receiver) {
        drive(() -> {
            boolean sent = sender.step();
            receiver.step();
            return sent && receiver.isDone();
        });
    }
}
