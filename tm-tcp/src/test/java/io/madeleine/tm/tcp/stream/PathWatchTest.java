package io.madeleine.tm.tcp.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.testkit.RecordingLogger;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The thread goes on whatever happens in a look. The table is a file, in which more attempts come with each step. */
@Timeout(60)
class PathWatchTest {
    private static final long TIMEOUT_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final AddressPair CUT = new AddressPair(at("198.51.100.1", 7777), at("198.51.100.2", 0xD334));

    @TempDir
    Path folder;

    private final RecordingLogger log = new RecordingLogger();
    private final AtomicInteger losses = new AtomicInteger();
    private PathWatch watch;
    private int attempts;

    private static InetSocketAddress at(String address, int port) {
        return new InetSocketAddress(InetAddress.ofLiteral(address), port);
    }

    @BeforeEach
    void open() {
        assumeTrue(ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN, "the lines are of a little-endian machine");
        watch = new PathWatch("test", TIMEOUT_NS, new SocketTable(List.of(folder.resolve("tcp"))), log);
    }

    @AfterEach
    void close() {
        if (watch != null) {
            watch.close();
        }
    }

    private void oneMoreAttempt() {
        try {
            Path next = folder.resolve("next");
            Files.writeString(
                    next,
                    "head\n   0: 016433C6:1E61 026433C6:D334 01 0001A0D0:00000000 01:0000027A 0000%04X     0        0 1 2\n"
                            .formatted(++attempts));
            Files.move(
                    next, folder.resolve("tcp"), StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** The link stays cut until that is seen. */
    private void cutUntil(BooleanSupplier seen) {
        long startNs = System.nanoTime();
        while (!seen.getAsBoolean()) {
            assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(30), "nobody looks");
            oneMoreAttempt();
            Thread.yield();
        }
    }

    private void watch(IntSupplier heard) {
        watch(heard, _ -> losses.incrementAndGet());
    }

    private void watch(IntSupplier heard, Consumer<String> whenLost) {
        assertTrue(watch.watch(CUT, heard, whenLost).isPresent());
    }

    @Test
    void shouldSeeALinkThatIsCutAlthoughTheTableCouldNotBeReadBefore() {
        watch(() -> 0);
        while (log.lines().isEmpty()) {
            Thread.onSpinWait();
        }
        cutUntil(() -> losses.get() > 0);
        assertEquals(1, log.lines().size(), () -> log.lines().toString());
    }

    @Test
    void shouldSeeALinkThatIsCutAlthoughMemoryWasShort() {
        AtomicInteger looks = new AtomicInteger();
        watch(() -> {
            if (looks.getAndIncrement() == 0) {
                throw new OutOfMemoryError("as a test");
            }
            return 0;
        });
        cutUntil(() -> losses.get() > 0);
    }

    @Test
    void shouldTellAgainWhenWhoIsToldFails() {
        watch(() -> 0, _ -> {
            if (losses.getAndIncrement() == 0) {
                throw new IllegalStateException("as a test");
            }
        });
        cutUntil(() -> losses.get() > 1);
    }
}
