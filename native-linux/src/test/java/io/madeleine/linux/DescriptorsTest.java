package io.madeleine.linux;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.pmm.Demands;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.SelectorReactor;
import io.madeleine.pmm.WaitMode;
import io.madeleine.pmm.WaitPolicy;
import io.madeleine.pmm.spi.Reactor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.SelectionKey;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Real event descriptors in a reactor over the JDK's selector. */
@Timeout(value = 30, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DescriptorsTest {
    private static final long LONG_NS = 20_000_000_000L;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment word = arena.allocate(ValueLayout.JAVA_LONG);
    private final MemorySegment found = arena.allocate(ValueLayout.JAVA_LONG);
    private final AtomicInteger events = new AtomicInteger();
    private SelectorReactor reactor;
    private int descriptor = -1;

    @BeforeEach
    void open() {
        assumeTrue(
                new SystemPoller().availability().on(),
                new SystemPoller().availability().reason());
        reactor = new SelectorReactor();
        descriptor = PollCalls.eventDescriptor();
        word.set(ValueLayout.JAVA_LONG, 0, 1);
    }

    @AfterEach
    void close() {
        if (descriptor >= 0) {
            reactor.close();
            PollCalls.close(descriptor);
        }
        arena.close();
    }

    private void ring() {
        PollCalls.write(descriptor, word);
    }

    private void answer() {
        PollCalls.read(descriptor, found);
    }

    private Reactor.Registration register() {
        return reactor.registerDescriptor(descriptor, SelectionKey.OP_READ, ready -> {
            assertEquals(SelectionKey.OP_READ, ready);
            events.incrementAndGet();
        });
    }

    private static Thread after(int milliseconds, Runnable action) {
        return Thread.ofPlatform().start(() -> {
            try {
                Thread.sleep(milliseconds);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            action.run();
        });
    }

    /** Sleeps until there was one event more. */
    private void sleepUntilCalled() {
        int before = events.get();
        long startNs = System.nanoTime();
        while (events.get() == before) {
            reactor.sleep(LONG_NS);
        }
        assertTrue(System.nanoTime() - startNs < LONG_NS / 2, "the sleep was not ended by the descriptor");
    }

    @Test
    void shouldCallTheHandlerAsOftenAsTheDescriptorIsReady() {
        assertTrue(reactor.descriptors().on(), reactor.descriptors().reason());
        Reactor.Registration registration = register();
        assertEquals(0, reactor.poll());
        ring();
        assertEquals(1, reactor.poll());
        assertEquals(1, reactor.poll());
        registration.operations(0);
        assertEquals(0, reactor.poll());
        registration.operations(SelectionKey.OP_READ);
        assertEquals(1, reactor.poll());
        answer();
        assertEquals(0, reactor.poll());
        ring();
        registration.cancel();
        registration.cancel();
        assertEquals(0, reactor.poll());
        assertEquals(3, events.get());
    }

    @Test
    void shouldEndEachSleepWhenTheDescriptorIsReady() throws InterruptedException {
        register();
        for (int i = 0; i < 20; i++) {
            Thread other = after(i % 3, this::ring);
            sleepUntilCalled();
            answer();
            other.join();
            ring(); // while nobody sleeps
            assertEquals(1, reactor.poll());
            answer();
        }
    }

    @Test
    void shouldEndASleepForWhatIsRegisteredOrChangedMeanwhile() throws InterruptedException {
        ring();
        Reactor.Registration[] registration = new Reactor.Registration[1];
        Thread other = after(20, () -> registration[0] = register());
        sleepUntilCalled();
        other.join();
        registration[0].operations(0);
        Thread third = after(20, () -> registration[0].operations(SelectionKey.OP_READ));
        sleepUntilCalled();
        third.join();
    }

    @Test
    void shouldHandleNothingAfterASleepIfItMayNot() {
        register();
        ring();
        int _ = reactor.sleep(LONG_NS, () -> false);
        assertEquals(0, events.get());
        assertEquals(1, reactor.poll());
    }

    /** Its descriptor may have been opened again, by somebody else. */
    @Test
    void shouldWakeNobodyOnceItIsClosed() {
        PollSet set = new PollSet();
        set.wakeUp();
        assertEquals(0, set.poll(true), "the wake-up alone");
        set.close();
        int next = PollCalls.eventDescriptor();
        try {
            set.wakeUp();
            set.close();
            found.set(ValueLayout.JAVA_LONG, 0, 0);
            PollCalls.read(next, found);
            assertEquals(0, found.get(ValueLayout.JAVA_LONG, 0));
        } finally {
            PollCalls.close(next);
        }
    }

    @Test
    void shouldWakeTheSessionsOwnThread() throws InterruptedException {
        Demands demands = new Demands();
        try (ProgressEngine engine =
                new ProgressEngine("descriptors", reactor, new WaitPolicy(WaitMode.ADAPTIVE, 0, 0), demands)) {
            demands.newDemand().hold();
            AtomicInteger called = new AtomicInteger();
            reactor.registerDescriptor(descriptor, SelectionKey.OP_READ, _ -> {
                assertEquals(engine.ownThreadOnDuty(), Thread.currentThread());
                answer();
                called.incrementAndGet();
            });
            for (int i = 1; i <= 5; i++) {
                Thread.sleep(2);
                ring();
                long giveUpNs = System.nanoTime() + LONG_NS;
                while (called.get() < i) {
                    assertTrue(giveUpNs - System.nanoTime() > 0, "nobody looks");
                    Thread.onSpinWait();
                }
            }
        }
    }
}
