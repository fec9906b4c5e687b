package io.madeleine.session.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(30)
class OutputPumpTest {
    private static final int LONGEST_LINE_BYTES = 64 << 10;

    private final ByteArrayOutputStream written = new ByteArrayOutputStream();
    private final ReentrantLock lock = new ReentrantLock();
    private final AtomicInteger unwritable = new AtomicInteger();

    private OutputPump pump(InputStream from, OutputStream to, String prefix) {
        PrintStream out = new PrintStream(to, false, StandardCharsets.UTF_8);
        return new OutputPump(from, out, new Spawner.Terminal(out, out, lock, unwritable::incrementAndGet), prefix);
    }

    private static boolean await(OutputPump pump, long timeoutMs) throws InterruptedException {
        return OutputPump.awaitAll(List.of(pump), System.nanoTime() + 1_000_000 * timeoutMs);
    }

    private String pumped(String text, String prefix) throws InterruptedException {
        await(pump(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)), written, prefix), 20_000);
        return written.toString(StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @CsvSource({
        "'', '', ''",
        "'', [0] , ''",
        "'a\nb\n', '', 'a\nb\n'",
        "'a\nb', '', 'a\nb'",
        "'a\nb\n', '[0] ', '[0] a\n[0] b\n'",
        "'a\nb', '[0] ', '[0] a\n[0] b\n'",
        "'\n\n', '[0] ', '[0] \n[0] \n'"
    })
    void shouldPutThePrefixBeforeEachLineAndEndTheLastIfThereIsOne(String text, String prefix, String expected)
            throws Exception {
        assertEquals(expected, pumped(text, prefix));
        assertEquals(0, unwritable.get());
        assertFalse(lock.isLocked());
    }

    @Test
    void shouldForwardALineThatIsTooLongInParts() throws Exception {
        String prefix = "[0] ";
        int part = LONGEST_LINE_BYTES - prefix.length();
        assertEquals(
                prefix + "x".repeat(part) + prefix + "x".repeat(part) + prefix + "x\n",
                pumped("x".repeat(2 * part + 1) + "\n", prefix));
    }

    /** A line is forwarded when it is whole, while its process goes on, and not before. */
    @Test
    void shouldForwardWholeLinesAtOnce() throws Exception {
        OutputPump pump;
        try (PipedOutputStream process = new PipedOutputStream()) {
            pump = pump(new PipedInputStream(process), written, "");
            process.write("one\ntw".getBytes(StandardCharsets.UTF_8));
            process.flush();
            while (written.size() == 0) {
                Thread.sleep(1);
            }
            assertEquals("one\n", written.toString(StandardCharsets.UTF_8));
            await(pump, 1);
        }
        await(pump, 20_000);
        assertEquals("one\ntw", written.toString(StandardCharsets.UTF_8));
    }

    @Test
    void shouldGoOnReadingAndSaySoIfNothingCanBeWritten() throws Exception {
        ByteArrayInputStream from =
                new ByteArrayInputStream("x\n".repeat(50_000).getBytes(StandardCharsets.UTF_8));
        OutputStream broken = new OutputStream() {
            @Override
            public void write(int next) throws IOException {
                throw new IOException("no space left");
            }
        };
        await(pump(from, broken, ""), 20_000);
        assertEquals(0, from.available());
        assertTrue(unwritable.get() > 1, "after each write");
    }

    /** As those of many ranks whose children hold their output. */
    @Test
    void shouldWaitForAllThatHoldTheirOutputNoLongerThanForOne() throws Exception {
        List<OutputPump> pumps = new ArrayList<>();
        List<PipedOutputStream> held = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            PipedOutputStream process = new PipedOutputStream();
            held.add(process);
            pumps.add(pump(new PipedInputStream(process), written, ""));
        }
        long deadlineNs = System.nanoTime() + 200_000_000;
        assertFalse(OutputPump.awaitAll(pumps, deadlineNs));
        assertTrue(System.nanoTime() - deadlineNs < 2_000_000_000, "20 times the wait would be 4 s");
        for (PipedOutputStream process : held) {
            process.close();
        }
        assertTrue(OutputPump.awaitAll(pumps, System.nanoTime() + 20_000_000_000L));
    }

    @Test
    void shouldWaitForTheLockOfTheTerminal() throws Exception {
        lock.lock();
        OutputPump pump = pump(new ByteArrayInputStream("a\n".getBytes(StandardCharsets.UTF_8)), written, "");
        await(pump, 20);
        assertEquals(0, written.size());
        lock.unlock();
        await(pump, 20_000);
        assertEquals("a\n", written.toString(StandardCharsets.UTF_8));
    }
}
