package io.madeleine.testkit;

import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.ProtocolModule;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The state of a test of the SPI: two processes of a session, simulated in one JVM, with one connection. A test that
 * needs only some parts of the contract extends this class and names the parts:
 *
 * {@snippet lang=java :
 * class TinyContractTest extends AbstractSpiTest implements LinkContract, ConnectingContract {
 *     @Override
 *     protected ProtocolModule newDriver(Path directory) {
 *         return new TinyPmm(directory);
 *     }
 * }
 * }
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
public abstract class AbstractSpiTest implements SpiFixture {
    @TempDir
    Path directory;

    SpiEnd left;
    SpiEnd right;
    private String sessionId = "";

    /** For the tests of families. */
    protected AbstractSpiTest() {}

    /**
     * Creates the driver of one process.
     *
     * @param directory a directory that the processes of the test share; empty at first
     */
    protected abstract ProtocolModule newDriver(Path directory);

    /** Called after everything is closed; a subclass may check here that nothing was left behind. */
    protected void afterwards() {}

    /**
     * Whether a connection that is closed without {@code finish} looks orderly to the peer; by default either is
     * accepted.
     */
    protected Optional<Boolean> closingIsOrderly() {
        return Optional.empty();
    }

    @Override
    public Optional<Boolean> expectedOrderOfClosing() {
        return closingIsOrderly();
    }

    @Override
    public SpiEnd left() {
        return left;
    }

    @Override
    public SpiEnd right() {
        return right;
    }

    @Override
    public SpiEnd newEnd(long id) {
        return new SpiEnd(newDriver(directory), sessionId, id);
    }

    @BeforeEach
    void open() {
        sessionId = "contract-" + Long.toHexString(System.nanoTime());
        left = newEnd(1);
        right = newEnd(2);
        connect(left, right);
    }

    private void connect(SpiEnd one, SpiEnd other) {
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
}
