package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the leader counts as virtual threads that it has made runnable. */
class WaitListTest {
    private final SelectorReactor reactor = new SelectorReactor();
    private final Lead lead = new Lead();
    private final VirtualWakeups wakeups = new VirtualWakeups(lead);
    private final WaitList waitList = new WaitList(reactor, new WaitHintCounts(), wakeups);
    private final Waitable news = new Waitable();

    @BeforeEach
    void lead() {
        assertTrue(lead.tryTake(Thread.currentThread()));
    }

    @AfterEach
    void close() {
        lead.release();
        reactor.close();
    }

    /** It does not run: what it does is done by the test. */
    private Waiter parked() {
        return waitList.enlist(news, Thread.ofVirtual().unstarted(() -> {}), false);
    }

    static Stream<Consumer<WaitListTest>> signals() {
        return Stream.of(test -> test.waitList.signal(test.news), test -> test.waitList.signalOne(test.news));
    }

    @ParameterizedTest
    @MethodSource("signals")
    void shouldCountAVirtualWaiterOnceUntilItHasLooked(Consumer<WaitListTest> signal) {
        Waiter waiter = parked();
        waitList.signal(news);
        assertTrue(wakeups.take());
        signal.accept(this);
        assertFalse(wakeups.take(), "it is runnable already");
        waiter.signalled = false; // it looks
        if (waiter.chosen) {
            waitList.enlistAgain(news, waiter);
        }
        signal.accept(this);
        assertTrue(wakeups.take());
    }

    @Test
    void shouldCountTheOneOfSeveralThatHasNotBeenToldYet() {
        Waiter first = parked();
        Waiter second = parked();
        waitList.signal(news);
        assertTrue(wakeups.take());
        waitList.signal(news);
        assertFalse(wakeups.take(), "both are runnable already");
        second.signalled = false;
        waitList.signal(news);
        assertTrue(wakeups.take());
        assertTrue(first.signalled && second.signalled);
    }
}
