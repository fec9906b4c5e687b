package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.Reactor;
import java.nio.channels.SelectableChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The wait list beside a model of it: lists in the order of arrival. Threads are real, and count how often they wake.
 */
@Timeout(60)
class WaitListModelTest {
    private static final int MOST_KEPT = 64;

    /** A selector's reactor that counts how often it is woken. */
    private static final class CountingReactor implements Reactor {
        final SelectorReactor real = new SelectorReactor();
        int wakeUps;
        Runnable whenWoken = () -> {};

        @Override
        public Registration register(SelectableChannel channel, int operations, ReadyHandler handler) {
            return real.register(channel, operations, handler);
        }

        @Override
        public Availability descriptors() {
            return real.descriptors();
        }

        @Override
        public Registration registerDescriptor(int descriptor, int operations, ReadyHandler handler) {
            return real.registerDescriptor(descriptor, operations, handler);
        }

        @Override
        public int poll() {
            return real.poll();
        }

        @Override
        public int sleep(long timeoutNs) {
            return real.sleep(timeoutNs);
        }

        @Override
        public void wakeUp() {
            wakeUps++;
            whenWoken.run();
            real.wakeUp();
        }

        @Override
        public void close() {
            real.close();
        }
    }

    /** A thread that parks again and again. */
    private static final class Sleeper {
        final Semaphore woken = new Semaphore(0);
        final Thread thread = Thread.ofVirtual().unstarted(this::run);
        private volatile boolean over;

        private void run() {
            while (!over) {
                LockSupport.park(this);
                woken.release();
            }
        }

        void end() {
            over = true;
            LockSupport.unpark(thread);
        }
    }

    private final CountingReactor reactor = new CountingReactor();
    private final Lead lead = new Lead();
    private final VirtualWakeups wakeups = new VirtualWakeups(lead);
    private final WaitHintCounts hints = new WaitHintCounts();
    private final WaitList list = new WaitList(reactor, hints, wakeups);
    private final Waitable[] objects = {new Waitable(), new Waitable(WaitHint.LATENCY), new Waitable(WaitHint.CPU)};
    private final Waiter leader = Waiter.leader();
    private final List<Sleeper> sleepers = new ArrayList<>();

    @BeforeEach
    void lead() {
        assertTrue(lead.tryTake(Thread.currentThread()));
    }

    @AfterEach
    void end() {
        sleepers.forEach(Sleeper::end);
        lead.release();
        reactor.close();
    }

    private Sleeper newSleeper() {
        Sleeper made = new Sleeper();
        sleepers.add(made);
        made.thread.start();
        return made;
    }

    // ---- the model

    private static final class Waiting {
        final int on;
        final @Nullable Sleeper sleeper;
        final boolean mayLead;
        boolean chosen;
        boolean signalled;

        Waiting(int on, @Nullable Sleeper sleeper, boolean mayLead) {
            this.on = on;
            this.sleeper = sleeper;
            this.mayLead = mayLead;
        }
    }

    private final Map<Waiter, Waiting> all = new IdentityHashMap<>();
    private final List<Waiter> order = new ArrayList<>(); // of the followers, by arrival
    private final List<List<Waiter>> queues = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    private final List<Sleeper> free = new ArrayList<>();
    private final Random random = new Random(11);

    private @Nullable Waiter anyFollower() {
        return order.isEmpty() ? null : order.get(random.nextInt(order.size()));
    }

    private void enlist(int on) {
        Sleeper sleeper = free.isEmpty() ? newSleeper() : free.removeLast();
        boolean mayLead = random.nextBoolean();
        Waiter waiter = list.enlist(objects[on], sleeper.thread, mayLead);
        assertFalse(waiter.chosen || waiter.signalled || waiter.leads);
        assertSame(sleeper.thread, waiter.thread);
        assertNull(all.put(waiter, new Waiting(on, sleeper, mayLead)), "it is in use");
        queues.get(on).add(waiter);
        order.add(waiter);
    }

    private void delist(Waiter waiter) {
        Waiting gone = all.remove(waiter);
        assertEquals(gone.chosen, list.delist(objects[gone.on], waiter));
        queues.get(gone.on).remove(waiter);
        order.remove(waiter);
        free.add(gone.sleeper);
    }

    private void toggleLeader(int on) {
        Waiting registered = all.remove(leader);
        if (registered == null) {
            list.register(objects[on], leader);
            all.put(leader, new Waiting(on, null, false));
            queues.get(on).add(leader);
        } else {
            assertEquals(registered.chosen, list.unregister(objects[registered.on], leader));
            assertFalse(leader.chosen);
            leader.signalled = false;
            queues.get(registered.on).remove(leader);
        }
    }

    private void signal(int on) {
        Set<Waiter> told = Collections.newSetFromMap(new IdentityHashMap<>());
        told.addAll(queues.get(on));
        expect(told, on, () -> list.signal(objects[on]));
    }

    private void signalOne(int on) {
        Set<Waiter> told = Collections.newSetFromMap(new IdentityHashMap<>());
        if (!queues.get(on).isEmpty()) {
            Waiter longest = queues.get(on).removeFirst();
            told.add(longest);
            all.get(longest).chosen = true;
        }
        expect(told, on, () -> list.signalOne(objects[on]));
    }

    /** Those that are told wake up, and no others; a leader in the reactor is woken there. */
    private void expect(Set<Waiter> told, int on, Runnable action) {
        boolean becomesRunnable = false;
        for (Waiter waiter : told) {
            becomesRunnable |= !all.get(waiter).signalled && !waiter.leads;
            all.get(waiter).signalled = true;
        }
        int before = reactor.wakeUps;
        action.run();
        assertEquals(told.contains(leader) ? 1 : 0, reactor.wakeUps - before);
        assertEquals(becomesRunnable && on != 2, wakeups.take(), "virtual threads that an impatient leader waits for");
        awaitWoken(told);
    }

    private void awaitWoken(Set<Waiter> told) {
        for (Waiter waiter : told) {
            Sleeper sleeper = all.get(waiter).sleeper;
            try {
                assertTrue(sleeper == null || sleeper.woken.tryAcquire(20, TimeUnit.SECONDS), "it was not woken");
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    private void offerLead() {
        Set<Waiter> told = Collections.newSetFromMap(new IdentityHashMap<>());
        order.stream()
                .filter(waiter -> all.get(waiter).mayLead && !all.get(waiter).signalled)
                .findFirst()
                .ifPresent(told::add);
        list.offerLead();
        awaitWoken(told);
        boolean _ = wakeups.take();
    }

    private void wakeAll() {
        list.wakeAll();
        Set<Waiter> told = Collections.newSetFromMap(new IdentityHashMap<>());
        told.addAll(order);
        awaitWoken(told);
        boolean _ = wakeups.take();
    }

    private void check() {
        for (int on = 0; on < objects.length; on++) {
            List<Waiter> found = new ArrayList<>();
            WaiterQueue queue = objects[on].waiters;
            for (WaiterQueue.Place place = queue.first(); place != null; place = place.behind()) {
                found.add(place.waiter);
                assertTrue(place.isTaken());
            }
            assertEquals(queues.get(on), found);
            assertEquals(found.isEmpty(), queue.isEmpty());
            assertEquals(found.size() == 1, queue.hasOne());
        }
        all.forEach((waiter, expected) -> {
            assertEquals(expected.chosen, waiter.chosen);
            assertEquals(expected.signalled, waiter.signalled);
            assertEquals(queues.get(expected.on).contains(waiter), waiter.atWaitable.isTaken());
        });
        assertEquals(order.stream().anyMatch(waiter -> all.get(waiter).mayLead), list.hasLeadSeekers());
        Set<WaitHint> present = new HashSet<>();
        order.forEach(waiter -> present.add(objects[all.get(waiter).on].hint));
        WaitHint expected = present.contains(WaitHint.LATENCY)
                ? WaitHint.LATENCY
                : present.contains(WaitHint.CPU) ? WaitHint.CPU : WaitHint.AUTO;
        assertEquals(expected, hints.of(null));
    }

    @Test
    void shouldTellAndWakeThoseThatTheModelNames() {
        for (int step = 0; step < 6_000; step++) {
            int on = random.nextInt(objects.length);
            Waiter follower = anyFollower();
            switch (random.nextInt(10)) {
                case 0, 1 -> {
                    if (order.size() < 6) {
                        enlist(on);
                    }
                }
                case 2 -> {
                    if (follower != null) {
                        delist(follower);
                    }
                }
                case 3 -> toggleLeader(on);
                case 4 -> signal(on);
                case 5, 6 -> signalOne(on);
                case 7 -> {
                    if (follower != null) { // it looks
                        follower.signalled = false;
                        all.get(follower).signalled = false;
                        if (follower.chosen) {
                            Waiting waiting = all.get(follower);
                            waiting.chosen = false;
                            list.enlistAgain(objects[waiting.on], follower);
                            queues.get(waiting.on).addFirst(follower);
                        }
                    }
                }
                case 8 -> offerLead();
                default -> wakeAll();
            }
            check();
        }
        sleepers.forEach(sleeper -> assertEquals(0, sleeper.woken.availablePermits(), "it was woken once too often"));
    }

    /** One thread is held up inside of the list: it wakes a leader that is not alone in its queue. */
    @Test
    @Tag("measures")
    void shouldLetOneThreadAtATimeInAndTheNextAfterIt() throws Exception {
        Waitable crowd = objects[0];
        Waitable on = objects[1];
        list.register(crowd, leader);
        Waiter _ = list.enlist(crowd, newSleeper().thread, false);
        Waiter chosen = list.enlist(on, newSleeper().thread, true);
        list.signalOne(on);
        Waiter second = Waiter.leader();
        Map<String, Runnable> changes = new LinkedHashMap<>();
        changes.put("register", () -> list.register(on, second));
        changes.put("unregister", () -> list.unregister(on, second));
        changes.put("enlistAgain", () -> list.enlistAgain(on, chosen));
        changes.put("enlist", () -> list.enlist(on, Thread.currentThread(), false));
        changes.put("signalOne", () -> list.signalOne(on));
        changes.put("signal", () -> list.signal(on));
        changes.put("offerLead", list::offerLead);
        changes.put("wakeAll", list::wakeAll);
        changes.put("delist", () -> list.delist(on, chosen));
        for (Map.Entry<String, Runnable> change : changes.entrySet()) {
            CountDownLatch inside = new CountDownLatch(1);
            CountDownLatch go = new CountDownLatch(1);
            reactor.whenWoken = () -> {
                inside.countDown();
                awaitLatch(go);
            };
            Thread heldUp = Thread.ofPlatform().start(() -> list.signal(crowd));
            inside.await();
            reactor.whenWoken = () -> {};
            Thread next = Thread.ofPlatform().start(change.getValue());
            assertFalse(next.join(Duration.ofMillis(10)), change.getKey() + " does not wait for the other thread");
            go.countDown();
            assertTrue(next.join(Duration.ofSeconds(3)), change.getKey());
            assertTrue(heldUp.join(Duration.ofSeconds(3)), change.getKey());
            Thread last = Thread.ofPlatform().start(() -> list.signal(objects[2]));
            assertTrue(last.join(Duration.ofSeconds(3)), change.getKey() + " has left nobody in");
        }
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldKeepABoundedNumberOfWaitersForUseAgain() {
        Set<Waiter> made = Collections.newSetFromMap(new IdentityHashMap<>());
        for (int i = 0; i < 3 * MOST_KEPT; i++) { // one after the other
            Waiter waiter = list.enlist(objects[1], Thread.currentThread(), true);
            made.add(waiter);
            list.signalOne(objects[1]);
            assertTrue(list.delist(objects[1], waiter));
            assertNull(waiter.thread);
            assertFalse(waiter.chosen || waiter.signalled);
        }
        assertEquals(1, made.size());
        for (int round = 0; round < 2; round++) {
            List<Waiter> crowd = new ArrayList<>();
            int known = made.size();
            for (int i = 0; i < MOST_KEPT + 5; i++) {
                crowd.add(list.enlist(objects[0], Thread.currentThread(), false));
            }
            made.addAll(crowd);
            assertEquals(MOST_KEPT + 5, new HashSet<>(crowd).size(), "no two have the same");
            assertEquals(round == 0 ? MOST_KEPT + 5 : known + 5, made.size());
            crowd.forEach(waiter -> assertFalse(list.delist(objects[0], waiter)));
        }
        assertNotSame(
                list.enlist(objects[0], Thread.currentThread(), false),
                list.enlist(objects[0], Thread.currentThread(), false));
    }

    @Test
    void shouldWakeAPlatformThreadAndNotCountItAsVirtual() {
        Waiter self = list.enlist(objects[0], Thread.currentThread(), true);
        list.signal(objects[0]);
        assertFalse(wakeups.take());
        assertTrue(isUnparked());
        list.offerLead();
        assertFalse(isUnparkedSoon(), "it has been told already, and is about to leave");
        self.signalled = false;
        list.offerLead();
        assertTrue(isUnparked());
        list.wakeAll();
        assertTrue(isUnparked());
    }

    private static boolean isUnparked() {
        long beganNs = System.nanoTime();
        LockSupport.parkNanos(20_000_000_000L);
        return System.nanoTime() - beganNs < 10_000_000_000L;
    }

    private static boolean isUnparkedSoon() {
        long beganNs = System.nanoTime();
        LockSupport.parkNanos(5_000_000);
        return System.nanoTime() - beganNs < 4_000_000;
    }
}
