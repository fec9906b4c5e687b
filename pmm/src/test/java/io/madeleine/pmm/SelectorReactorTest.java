package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.Reactor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 20, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SelectorReactorTest {
    private static final long LONG_NS = 10_000_000_000L;

    private final SelectorReactor reactor = new SelectorReactor();
    private final AtomicInteger events = new AtomicInteger();

    @AfterEach
    void close() {
        reactor.close();
    }

    private static Pipe pipe() throws IOException {
        Pipe pipe = Pipe.open();
        pipe.source().configureBlocking(false);
        return pipe;
    }

    private static void write(Pipe pipe) throws IOException {
        assertEquals(1, pipe.sink().write(ByteBuffer.wrap(new byte[1])));
    }

    private static long sleepNs(Reactor reactor, long timeoutNs) {
        long startNs = System.nanoTime();
        reactor.sleep(timeoutNs);
        return System.nanoTime() - startNs;
    }

    @Test
    void shouldHandleWhatIsReadyAsOftenAsItIs() throws IOException {
        Pipe pipe = pipe();
        Reactor.Registration registration =
                reactor.register(pipe.source(), SelectionKey.OP_READ, ready -> events.addAndGet(ready));
        assertEquals(0, reactor.poll());
        write(pipe);
        assertTrue(sleepNs(reactor, LONG_NS) < LONG_NS / 2);
        assertEquals(1, reactor.poll());
        assertEquals(2 * SelectionKey.OP_READ, events.get());
        registration.operations(0);
        assertEquals(0, reactor.poll());
        registration.operations(SelectionKey.OP_READ);
        assertEquals(1, reactor.poll());
        registration.cancel();
        registration.cancel();
        registration.operations(SelectionKey.OP_READ);
        assertEquals(0, reactor.poll());
    }

    @Test
    @Tag("measures")
    void shouldSleepNoLongerThanAsked() {
        long sleptNs = sleepNs(reactor, 20_000_000);
        assertTrue(sleptNs >= 19_000_000 && sleptNs < LONG_NS / 2, sleptNs + " ns");
        sleepNs(reactor, 1);
    }

    @Test
    void shouldHandleNothingAfterASleepIfItMayNot() throws IOException {
        Pipe pipe = pipe();
        reactor.register(pipe.source(), SelectionKey.OP_READ, _ -> events.incrementAndGet());
        write(pipe);
        AtomicInteger asked = new AtomicInteger();
        int _ = reactor.sleep(LONG_NS, () -> {
            asked.incrementAndGet();
            assertEquals(0, reactor.poll(), "by who leads, while another is within");
            return false;
        });
        assertTrue(asked.get() > 0);
        assertEquals(0, events.get());
        int _ = reactor.sleep(LONG_NS, () -> true);
        assertEquals(1, events.get());
        assertEquals(1, reactor.poll());
        assertEquals(2, events.get());
    }

    @Test
    void shouldSayWhatItTakesToWatchARawDescriptor() {
        assertFalse(reactor.descriptors().on());
        assertTrue(reactor.descriptors().reason().contains("io.madeleine.linux"));
        UnsupportedOperationException refused = assertThrows(
                UnsupportedOperationException.class,
                () -> reactor.registerDescriptor(0, SelectionKey.OP_READ, _ -> events.incrementAndGet()));
        assertEquals(reactor.descriptors().reason(), refused.getMessage());
    }

    @Test
    void shouldEndTheNextSleepWhenWokenBefore() {
        reactor.wakeUp();
        assertTrue(sleepNs(reactor, LONG_NS) < LONG_NS / 2);
    }

    @Test
    void shouldEndASleepForAChannelThatIsRegisteredMeanwhile() throws Exception {
        Pipe pipe = pipe();
        write(pipe);
        Thread other = Thread.ofPlatform().start(() -> {
            try {
                Thread.sleep(50);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            reactor.register(pipe.source(), SelectionKey.OP_READ, _ -> events.incrementAndGet());
        });
        long startNs = System.nanoTime();
        while (events.get() == 0) {
            reactor.sleep(LONG_NS);
        }
        assertTrue(System.nanoTime() - startNs < LONG_NS / 2);
        other.join();
    }

    @Test
    void shouldSurviveThatAChannelIsClosedWhileItIsWatched() throws IOException {
        Pipe pipe = pipe();
        Reactor.Registration registration =
                reactor.register(pipe.source(), SelectionKey.OP_READ, _ -> events.incrementAndGet());
        write(pipe);
        pipe.source().close();
        assertEquals(0, reactor.poll());
        registration.operations(SelectionKey.OP_READ);
        registration.cancel();
        assertEquals(0, events.get());
    }
}
