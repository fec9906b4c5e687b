package io.madeleine.pmm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The transitions of the lead, one at a time, beside a model of them; the races between them are in {@code stress}. */
@Timeout(30)
class LeadTest {
    private final Lead lead = new Lead();
    private final List<Thread> threads = List.of(
            Thread.currentThread(), new Thread(() -> {}), Thread.ofVirtual().unstarted(() -> {}));

    private @Nullable Thread holder;
    private boolean asleep;
    private @Nullable Thread sleeper;
    private int takes;

    private void take(Thread self, boolean taken) {
        if (taken) {
            holder = self;
            asleep = false;
            takes++;
        }
    }

    private void step(int kind, Thread self) {
        boolean leads = holder == self && !asleep;
        boolean sleeps = sleeper == self;
        switch (kind) {
            case 0 -> {
                if (!sleeps) {
                    boolean mayTake = holder == null || asleep;
                    assertEquals(mayTake, lead.tryTake(self));
                    take(self, mayTake);
                }
            }
            case 1 -> {
                if (!sleeps) {
                    boolean isFree = holder == null;
                    assertEquals(isFree, lead.tryTakeFree(self));
                    take(self, isFree);
                }
            }
            case 2 -> {
                if (self == threads.getFirst()) {
                    lead.release();
                } else if (leads) {
                    lead.holder = Lead.NOBODY;
                }
                holder = leads ? null : holder;
            }
            case 3 -> {
                if (leads && sleeper == null) {
                    lead.fallAsleep(self);
                    sleeper = self;
                    asleep = true;
                }
            }
            case 4 -> {
                if (sleeps) {
                    assertEquals(holder == self, lead.regain(self));
                    asleep &= holder != self;
                }
            }
            case 5 -> {
                if (sleeps) {
                    assertEquals(holder == self, lead.comeBack(self));
                    asleep &= holder != self;
                    sleeper = null;
                }
            }
            default -> {
                if (leads && !sleeps) {
                    assertEquals(sleeper != null, lead.giveBack(self));
                    asleep = sleeper != null;
                    holder = asleep ? sleeper : self;
                }
            }
        }
    }

    private void check() {
        assertEquals(holder != null, lead.isHeld());
        assertEquals(holder == null || asleep, lead.isOpen());
        assertEquals(asleep, lead.isAsleep());
        assertEquals(sleeper != null, lead.hasOtherSleeper());
        assertEquals(takes, lead.takeCount());
        for (Thread each : threads) {
            assertEquals(holder == each && !asleep, lead.isHeldBy(each));
            if (holder != each || asleep) {
                assertEquals(holder != null && holder != each, lead.isHeldByAnother(each));
            }
        }
    }

    @Test
    void shouldBeFreeHeldOrAsleepAsTheModelSays() {
        Random random = new Random(13);
        for (int i = 0; i < 20_000; i++) {
            step(random.nextInt(7), threads.get(random.nextInt(threads.size())));
            check();
        }
    }

    @Test
    void shouldBelongToTheThreadThatClosesItForGood() throws Exception {
        Thread self = threads.getFirst();
        Thread other = threads.get(1);
        try (SelectorReactor reactor = new SelectorReactor()) {
            assertTrue(lead.tryTake(other));
            assertFalse(lead.isClosed());
            lead.close();
            assertTrue(lead.isClosed());
            Thread releasing = Thread.ofPlatform().start(() -> {
                reactor.sleep(Long.MAX_VALUE); // until the thread that closes wakes it
                lead.holder = Lead.NOBODY;
            });
            lead.takeForGood(reactor);
            releasing.join();
            assertTrue(lead.isHeldBy(self));
            lead.takeForGood(reactor); // at once
            lead.release();
            assertFalse(lead.tryTake(other) || lead.tryTake(self) || lead.tryTakeFree(other));
            lead.takeForGood(reactor);
            assertFalse(lead.isHeld(), "the first caller alone has it");
        }
    }
}
