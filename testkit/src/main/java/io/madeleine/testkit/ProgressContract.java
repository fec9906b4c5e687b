package io.madeleine.testkit;

import static io.madeleine.testkit.PacketReceiver.transfer;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.BufferMode;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The contract of progress: upcalls while there is interest, and a sleep that any kind of event ends. */
public interface ProgressContract extends SpiFixture {
    long LONG_SLEEP_NS = 30_000_000_000L;

    /** Much shorter than that, and longer than a busy machine holds a thread up. */
    long SOON_NS = 10_000_000_000L;

    private PacketSeries oneSmall(int link) {
        return PacketSeries.of(left().link(link).capabilities(), 24);
    }

    private PacketReceiver readWhenCalled(PacketSeries series) {
        PacketReceiver receiver = new PacketReceiver(right().link(0), series);
        right().whenReadable = receiver::step;
        return receiver;
    }

    /** Sleeps as the engine does, until the condition is met; fails if a sleep continues although there is an event. */
    private void sleepUntil(SpiEnd end, BooleanSupplier met) {
        long startNs = System.nanoTime();
        while (!met.getAsBoolean()) {
            end.sleep(LONG_SLEEP_NS);
            end.poll();
            assertTrue(System.nanoTime() - startNs < SOON_NS, "the event did not end the sleep");
        }
    }

    /** Polls until the adapter agrees to sleep. */
    private static void quieten(SpiEnd end) {
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        while (!end.adapter.progress().armForBlocking()) {
            end.adapter.progress().disarm();
            end.poll();
            assertTrue(System.nanoTime() - deadlineNs < 0, "armForBlocking never returned true");
        }
        end.adapter.progress().disarm();
    }

    @Test
    default void shouldCallUpWhenPacketsArrive() {
        PacketSeries series = PacketSeries.random(left().link(0).capabilities(), 200, 300, 21);
        PacketReceiver receiver = readWhenCalled(series);
        PacketSender sender = new PacketSender(left().link(0), series);
        drive(() -> sender.step() && receiver.isDone());
        assertTrue(right().upcallCount > 0);
        assertEquals(0, left().lossCount);
        assertEquals(0, right().lossCount);
    }

    @Test
    default void shouldCallUpForPacketsThatCameBeforeTheStart() {
        SpiEnd third = newEnd(3);
        SpiEnd fourth = newEnd(4);
        try {
            var ofThird = third.connect(fourth, true, System.nanoTime() + PATIENCE_NS);
            var ofFourth = fourth.connect(third, false, System.nanoTime() + PATIENCE_NS);
            drive(() -> {
                third.poll();
                fourth.poll();
                return ofThird.isDone() && ofFourth.isDone();
            });
            third.use(ofThird.join());
            PacketSeries series = PacketSeries.of(third.link(0).capabilities(), 8, 100);
            PacketSender sender = new PacketSender(third.link(0), series);
            drive(() -> {
                third.poll();
                return sender.step();
            });
            settle();
            fourth.poll();
            PacketReceiver receiver = new PacketReceiver(ofFourth.join().links().getFirst(), series);
            fourth.whenReadable = receiver::step;
            fourth.use(ofFourth.join());
            drive(() -> {
                third.poll();
                fourth.poll();
                return receiver.isDone();
            });
        } finally {
            Thread other = Thread.ofPlatform().start(third::close);
            fourth.close();
            join(other);
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    @Tag("measures")
    default void shouldNeitherCallUpNorStayAwakeWhileThereIsNoInterest() {
        right().connection().receiveInterest(false);
        PacketSeries series = oneSmall(0);
        PacketReceiver receiver = readWhenCalled(series);
        assertTrue(new PacketSender(left().link(0), series).step());
        settle();
        quieten(left());
        quieten(right());
        int before = right().upcallCount;
        long startNs = System.nanoTime();
        while (System.nanoTime() - startNs < 30_000_000) {
            assertTrue(right().sleep(50_000_000), "arrived bytes without interest keep the engine awake");
        }
        right().poll();
        assertEquals(before, right().upcallCount);
        assertFalse(receiver.isDone());

        right().connection().receiveInterest(true);
        drive(receiver::isDone);
    }

    @Test
    default void shouldNotSleepOverAPacketThatIsThereAlready() {
        for (int repeated = 0; repeated < 20; repeated++) {
            drive(() -> !left().demands.isHeld()); // a sender with a narrow window waits for acknowledgements otherwise
            PacketSeries series = oneSmall(0);
            PacketReceiver receiver = readWhenCalled(series);
            assertTrue(new PacketSender(left().link(0), series).step());
            sleepUntil(right(), receiver::isDone);
        }
    }

    @Test
    default void shouldNotSleepOverAPacketThatWasThereBeforeTheInterest() {
        for (int repeated = 0; repeated < 5; repeated++) {
            right().connection().receiveInterest(false);
            PacketSeries series = oneSmall(0);
            PacketReceiver receiver = readWhenCalled(series);
            assertTrue(new PacketSender(left().link(0), series).step());
            settle();
            right().connection().receiveInterest(true);
            sleepUntil(right(), receiver::isDone);
        }
    }

    @Test
    default void shouldBeWokenByAPacket() {
        for (int link = 0; link < linkCount(); link++) {
            for (int repeated = 0; repeated < 20; repeated++) {
                PacketSeries series = oneSmall(link);
                PacketReceiver receiver = new PacketReceiver(right().link(link), series);
                right().whenReadable = receiver::step;
                PacketSender sender = new PacketSender(left().link(link), series);
                Thread other = afterAWhile(repeated, () -> {
                    while (!sender.step() || left().demands.isHeld()) {
                        left().poll();
                    }
                });
                sleepUntil(right(), receiver::isDone);
                while (other.isAlive()) {
                    right().poll(); // the sender may wait for an answer of the network's
                }
                join(other);
            }
        }
    }

    @Test
    default void shouldDemandNothingOnceNothingIsOutstanding() {
        for (int link = 0; link < linkCount(); link++) {
            PacketSeries series = PacketSeries.random(left().link(link).capabilities(), 50, 3000, link);
            drive(transfer(
                    new PacketSender(left().link(link), series), new PacketReceiver(right().link(link), series)));
        }
        drive(() -> !left().demands.isHeld() && !right().demands.isHeld());
    }

    @Test
    default void shouldBeWokenByRoom() {
        for (int link = 0; link < linkCount(); link++) {
            for (int repeated = 0; repeated < 2; repeated++) {
                int[] sizes = new int[left().link(link).capabilities().bufferMode() == BufferMode.STATIC ? 300 : 24];
                Arrays.fill(sizes, 1 << 20);
                PacketSeries series = PacketSeries.of(left().link(link).capabilities(), sizes);
                PacketSender sender = new PacketSender(left().link(link), series);
                PacketReceiver receiver = new PacketReceiver(right().link(link), series);
                Thread other = afterAWhile(repeated, () -> {
                    while (!receiver.isDone()) {
                        right().poll();
                        receiver.step();
                    }
                });
                while (!sender.step()) {
                    long startNs = System.nanoTime();
                    left().sleep(LONG_SLEEP_NS);
                    assertTrue(System.nanoTime() - startNs < LONG_SLEEP_NS, "room did not end the sleep");
                    left().poll();
                }
                while (other.isAlive()) {
                    left().poll(); // bytes that the system had not taken at the end leave in polls
                }
                join(other);
            }
        }
    }

    @Test
    default void shouldBeWokenWhenThePeerFinishes() {
        Thread other = afterAWhile(3, () -> left().connection().finish());
        sleepUntil(right(), () -> right().lossCount > 0);
        join(other);
        assertTrue(right().lossWasOrderly, right().lossReason);
    }

    @Test
    default void shouldBeWokenWhenThePeerCloses() {
        Thread other = afterAWhile(3, () -> {
            left().connection().close();
            while (right().lossCount == 0) {
                left().poll(); // closing may need further polls
            }
        });
        sleepUntil(right(), () -> right().lossCount > 0);
        join(other);
        assertFalse(right().lossReason.isBlank());
        assertFalse(right().seenAtLoss.isBlank());
    }

    @Test
    default void shouldBeWokenByTheReactorsWakeUp() {
        AtomicBoolean woken = new AtomicBoolean();
        Thread other = afterAWhile(3, () -> {
            woken.set(true);
            right().reactor.wakeUp();
        });
        sleepUntil(right(), woken::get);
        join(other);
    }

    private static Thread afterAWhile(int milliseconds, Runnable action) {
        return Thread.ofPlatform().start(() -> {
            try {
                Thread.sleep(milliseconds % 4);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            action.run();
        });
    }
}
