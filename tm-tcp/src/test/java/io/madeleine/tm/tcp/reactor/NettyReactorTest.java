package io.madeleine.tm.tcp.reactor;

import static java.nio.channels.SelectionKey.OP_READ;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.pmm.spi.Reactor;
import io.madeleine.tm.tcp.Pair;
import io.netty.channel.IoEvent;
import io.netty.channel.IoRegistration;
import io.netty.channel.nio.NioIoHandle;
import io.netty.channel.nio.NioIoOps;
import io.netty.channel.unix.FileDescriptor;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class NettyReactorTest {
    private static final long LONG_NS = TimeUnit.SECONDS.toNanos(20);

    private NettyReactor reactor;
    private Pipe pipe;

    @BeforeEach
    void open() throws IOException {
        Pair.assumeIo();
        reactor = new NettyReactor(Pair.io());
        pipe = Pipe.open();
        pipe.source().configureBlocking(false);
    }

    @AfterEach
    void close() throws IOException {
        if (reactor == null) {
            return;
        }
        reactor.close();
        assertTrue(pipe.source().isOpen(), "a watched channel belongs to its owner");
        pipe.source().close();
        pipe.sink().close();
    }

    private static Duration timeOf(Runnable action) {
        long startNs = System.nanoTime();
        action.run();
        return Duration.ofNanos(System.nanoTime() - startNs);
    }

    private void ring() {
        try {
            pipe.sink().write(ByteBuffer.allocate(1));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private void answer() {
        try {
            pipe.source().read(ByteBuffer.allocate(16));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private void settle() {
        for (int i = 0; i < 5; i++) {
            reactor.sleep(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }

    /** As it may when memory is short while the JDK's selector takes up what a channel is to be watched for. */
    @Test
    void shouldWatchOnWhatTheSelectorHasForgottenAsItFailed() throws Exception {
        assumeTrue(Pair.io() != IoTransport.EPOLL, "Netty's epoll keeps no such list");
        Forgotten forgotten = new Forgotten();
        reactor.loop().execute(forgotten);
        reactor.poll();
        ring();
        assertThrows(OutOfMemoryError.class, () -> reactor.sleep(LONG_NS));
        ring();
        reactor.sleep(TimeUnit.SECONDS.toNanos(2));
        assertEquals(2, forgotten.rings);
    }

    /** Is not watched any more after its first event, in which memory is short. */
    private final class Forgotten implements NioIoHandle, Runnable {
        private int rings;

        @Override
        public void run() {
            try {
                reactor.loop().registerNow(this).submit(NioIoOps.READ);
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }

        @Override
        public void handle(IoRegistration registration, IoEvent event) {
            answer();
            if (++rings == 1) {
                SelectionKey key = registration.attachment();
                key.interestOps(0);
                throw new OutOfMemoryError("as a test");
            }
        }

        @Override
        public SelectableChannel selectableChannel() {
            return pipe.source();
        }

        @Override
        public void close() {}
    }

    @Test
    @Tag("measures")
    void shouldKeepTheTimeOfASleepToAFractionOfAMillisecond() {
        long leastNs = Long.MAX_VALUE;
        for (int i = 0; i < 100 && leastNs > 800_000; i++) { // the machine may be busy
            reactor.poll();
            long startNs = System.nanoTime();
            while (System.nanoTime() - startNs < 300_000) {
                reactor.sleep(300_000 - (System.nanoTime() - startNs));
            }
            leastNs = Math.min(leastNs, System.nanoTime() - startNs);
        }
        assertTrue(leastNs < 800_000, leastNs + " ns");
    }

    @Test
    void shouldWatchARawDescriptorWhereItCanAndElseSayWhatItTakes() throws IOException {
        int[] rings = {0};
        if (Pair.io() != IoTransport.EPOLL) { // the module that can is not on the path
            assertTrue(
                    reactor.descriptors().reason().contains("io.madeleine.linux"),
                    reactor.descriptors().reason());
            assertThrows(
                    UnsupportedOperationException.class, () -> reactor.registerDescriptor(0, OP_READ, _ -> rings[0]++));
            return;
        }
        assertTrue(reactor.descriptors().on(), reactor.descriptors().reason());
        FileDescriptor[] ends = FileDescriptor.pipe();
        ByteBuffer one = ByteBuffer.allocateDirect(1);
        Reactor.Registration registration = reactor.registerDescriptor(ends[0].intValue(), OP_READ, ready -> {
            assertEquals(OP_READ, ready);
            rings[0]++;
        });
        settle();
        assertEquals(0, rings[0]);
        for (int i = 1; i <= 3; i++) {
            after50ms(() -> write(ends[1], one));
            int before = rings[0];
            long startNs = System.nanoTime();
            while (rings[0] == before && System.nanoTime() - startNs < LONG_NS) {
                reactor.sleep(LONG_NS);
            }
            assertTrue(System.nanoTime() - startNs < LONG_NS);
            reactor.poll();
            assertTrue(rings[0] > before + 1, "it is ready still");
            ends[0].read(one, 0, 1);
        }
        int before = rings[0];
        write(ends[1], one);
        registration.operations(0);
        reactor.poll();
        assertEquals(before, rings[0]);
        registration.cancel();
        reactor.poll();
        ends[0].close();
        ends[1].close();
    }

    private static void write(FileDescriptor end, ByteBuffer bytes) {
        try {
            end.write(bytes, 0, 1);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    @Tag("measures")
    void shouldEndItsSleepWhenAForeignChannelIsReady() {
        int[] rings = {0};
        reactor.register(pipe.source(), OP_READ, operations -> {
            assertEquals(OP_READ, operations);
            rings[0]++;
            answer();
        });
        settle();
        Duration slept = timeOf(() -> {
            after50ms(this::ring);
            long startNs = System.nanoTime();
            while (rings[0] == 0 && System.nanoTime() - startNs < LONG_NS) {
                reactor.sleep(LONG_NS);
            }
        });
        assertTrue(slept.toMillis() >= 40 && slept.toMillis() < 5000, slept::toString);
        assertEquals(1, rings[0]);
    }

    @Test
    void shouldHandleNothingAfterASleepIfItMayNot() {
        if (!reactor.asksBeforeHandling()) {
            assertThrows(UnsupportedOperationException.class, () -> reactor.sleep(LONG_NS, () -> true));
            return;
        }
        int[] rings = {0};
        boolean[] ran = {false};
        reactor.register(pipe.source(), OP_READ, _ -> {
            rings[0]++;
            answer();
        });
        settle();
        ring();
        reactor.loop().execute(() -> ran[0] = true);
        assertEquals(0, reactor.sleep(LONG_NS, () -> {
            assertEquals(0, reactor.poll(), "by who leads, while another is within");
            return false;
        }));
        assertEquals(0, rings[0]);
        assertTrue(!ran[0], "nor does it run what is to be run in the loop");
        long startNs = System.nanoTime();
        while (rings[0] == 0 && System.nanoTime() - startNs < LONG_NS) {
            int _ = reactor.sleep(LONG_NS, () -> true);
        }
        assertEquals(1, rings[0]);
        assertTrue(ran[0]);
    }

    @Test
    void shouldSeeAForeignChannelWhenPolled() {
        int[] rings = {0};
        reactor.register(pipe.source(), OP_READ, _ -> {
            rings[0]++;
            answer();
        });
        settle();
        ring();
        long startNs = System.nanoTime();
        while (rings[0] == 0 && System.nanoTime() - startNs < LONG_NS) {
            reactor.poll();
        }
        assertEquals(1, rings[0]);
        assertEquals(0, reactor.poll());
    }

    @Test
    void shouldNotFireForAChannelThatHasBeenHandled() {
        int[] rings = {0};
        reactor.register(pipe.source(), OP_READ, _ -> {
            rings[0]++;
            answer();
        });
        settle();
        ring();
        Duration slept = timeOf(() -> {
            long startNs = System.nanoTime();
            while (System.nanoTime() - startNs < TimeUnit.MILLISECONDS.toNanos(300)) {
                reactor.sleep(TimeUnit.MILLISECONDS.toNanos(300));
            }
        });
        assertEquals(1, rings[0]);
        assertTrue(slept.toMillis() >= 290, slept::toString);
    }

    @Test
    void shouldFireAgainAsLongAsAChannelIsReady() {
        int[] rings = {0};
        reactor.register(pipe.source(), OP_READ, _ -> rings[0]++);
        ring();
        long startNs = System.nanoTime();
        while (rings[0] < 3 && System.nanoTime() - startNs < LONG_NS) {
            reactor.sleep(LONG_NS);
        }
        assertTrue(rings[0] >= 3);
    }

    @Test
    void shouldFireNoMoreAfterItsOperationsAreTakenAwayOrItIsCancelled() {
        int[] rings = {0};
        Reactor.Registration registration = reactor.register(pipe.source(), OP_READ, _ -> rings[0]++);
        settle();
        registration.operations(0);
        ring();
        settle();
        assertEquals(0, rings[0]);
        registration.operations(OP_READ);
        long startNs = System.nanoTime();
        while (rings[0] == 0 && System.nanoTime() - startNs < LONG_NS) {
            reactor.sleep(LONG_NS);
        }
        assertTrue(rings[0] > 0);
        registration.cancel();
        settle();
        int before = rings[0];
        settle();
        assertEquals(before, rings[0]);
    }

    @Test
    @Tag("measures")
    void shouldEndItsSleepWhenWoken() {
        Duration slept = timeOf(() -> {
            after50ms(reactor::wakeUp);
            reactor.sleep(Long.MAX_VALUE);
        });
        assertTrue(slept.toMillis() >= 40 && slept.toMillis() < 5000, slept::toString);
    }

    @Test
    @Tag("measures")
    void shouldNotBeginToSleepWhenWokenBefore() {
        settle();
        reactor.wakeUp();
        assertTrue(timeOf(() -> reactor.sleep(LONG_NS)).toMillis() < 5000);
    }

    @Test
    @Tag("measures")
    void shouldSleepForTheTimeGivenAndNotMuchLonger() {
        settle();
        Duration slept = timeOf(() -> reactor.sleep(TimeUnit.MILLISECONDS.toNanos(100)));
        assertTrue(slept.toMillis() >= 98 && slept.toMillis() < 3000, slept::toString);
    }

    @Test
    @Tag("measures")
    void shouldUseNoTimeWhileItSleepsBrieflyOrWithoutLimit() throws InterruptedException {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        for (long timeoutNs : new long[] {400_000, Long.MAX_VALUE}) {
            long leastMs = Long.MAX_VALUE;
            for (int round = 0; round < 10 && leastMs >= 25; round++) { // compilers and neighbours take their time
                long beforeNs = threads.getCurrentThreadCpuTime();
                for (int i = 0; i < 100; i++) {
                    sleepOrBeWoken(timeoutNs);
                }
                leastMs = Math.min(leastMs, (threads.getCurrentThreadCpuTime() - beforeNs) / 1_000_000);
            }
            assertTrue(leastMs < 25, leastMs + " ms for 100 sleeps of " + timeoutNs + " ns");
        }
    }

    private void sleepOrBeWoken(long timeoutNs) throws InterruptedException {
        if (timeoutNs < LONG_NS) {
            reactor.sleep(timeoutNs);
            return;
        }
        Thread waker = Thread.ofPlatform().start(() -> {
            pause(1);
            reactor.wakeUp();
        });
        reactor.sleep(timeoutNs);
        waker.join();
    }

    @Test
    @Tag("measures")
    void shouldEndItsSleepSoonAfterAnInterruptAndKeepIt() {
        Thread sleeper = Thread.currentThread();
        Duration shortest = Duration.ofNanos(LONG_NS);
        for (int i = 0; i < 5 && shortest.toMillis() >= 250; i++) { // the test's threads may lose their processors
            Duration slept = timeOf(() -> {
                after50ms(sleeper::interrupt);
                reactor.sleep(LONG_NS);
            });
            assertTrue(Thread.interrupted());
            shortest = slept.compareTo(shortest) < 0 ? slept : shortest;
        }
        assertTrue(shortest.toMillis() < 250, shortest::toString);
    }

    /** As who closes an adapter does, so that the peers get what was sent last. */
    @Test
    void shouldAwaitAnEventAlsoInAThreadThatIsInterrupted() {
        boolean[] done = {false};
        reactor.channels().schedule(() -> done[0] = true, 20, TimeUnit.MILLISECONDS);
        Thread.currentThread().interrupt();
        assertTrue(reactor.await(() -> done[0], LONG_NS));
        assertTrue(Thread.interrupted(), "it stays interrupted");
    }

    private static void after50ms(Runnable action) {
        Thread.ofPlatform().start(() -> {
            pause(50);
            action.run();
        });
    }

    @Test
    @Tag("measures")
    void shouldRunTasksAndTimersWhileItSleeps() {
        long startNs = System.nanoTime();
        long[] ranNs = {0};
        reactor.loop().schedule(() -> ranNs[0] = System.nanoTime(), 60, TimeUnit.MILLISECONDS);
        while (ranNs[0] == 0 && System.nanoTime() - startNs < LONG_NS) {
            reactor.sleep(LONG_NS);
        }
        long afterMs = TimeUnit.NANOSECONDS.toMillis(ranNs[0] - startNs);
        assertTrue(afterMs >= 59 && afterMs < 5000, () -> afterMs + " ms");
        boolean[] ran = {false};
        after50ms(() -> reactor.loop().execute(() -> ran[0] = true));
        Duration slept = timeOf(() -> {
            long beganNs = System.nanoTime();
            while (!ran[0] && System.nanoTime() - beganNs < LONG_NS) {
                reactor.sleep(LONG_NS);
            }
        });
        assertTrue(ran[0]);
        assertTrue(slept.toMillis() < 5000);
    }

    @Test
    @Tag("measures")
    void shouldThrowWhatAHandlerThrowsAndGoOn() {
        reactor.register(pipe.source(), OP_READ, _ -> {
            answer();
            throw new IllegalStateException("broken handler");
        });
        Duration shortest = Duration.ofNanos(LONG_NS);
        for (int i = 0; i < 5 && shortest.toMillis() >= 900; i++) { // this thread may lose its processor
            ring();
            Duration taken = timeOf(() -> assertThrows(IllegalStateException.class, this::settle));
            shortest = taken.compareTo(shortest) < 0 ? taken : shortest;
        }
        assertTrue(shortest.toMillis() < 900, "Netty's pause after an error must not be taken");
        boolean[] ran = {false};
        reactor.loop().execute(() -> ran[0] = true);
        reactor.poll();
        assertTrue(ran[0]);
    }

    @Test
    void shouldBeRunByOneThreadAtATimeWhicheverItIs() throws InterruptedException {
        int[] inside = {0};
        int[] ran = {0};
        Runnable drive = () -> {
            while (ran[0] < 20_000) {
                reactor.loop().execute(() -> {
                    inside[0]++;
                    assertEquals(1, inside[0]);
                    assertTrue(reactor.loop().inEventLoop());
                    ran[0]++;
                    inside[0]--;
                });
                reactor.poll();
            }
        };
        Thread other = Thread.ofPlatform().start(drive);
        drive.run();
        other.join();
        assertEquals(0, inside[0]);
    }

    private static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
