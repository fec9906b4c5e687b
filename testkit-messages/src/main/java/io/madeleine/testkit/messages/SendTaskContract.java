package io.madeleine.testkit.messages;

import static io.madeleine.testkit.messages.TestThreads.eventually;
import static io.madeleine.testkit.messages.TestThreads.join;
import static io.madeleine.testkit.messages.TestThreads.start;
import static io.madeleine.testkit.messages.TestThreads.together;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.SendTask;
import io.madeleine.api.SessionException;
import io.madeleine.api.WaitInterruptedException;
import io.madeleine.testkit.messages.TestThreads.Body;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * The contract of send tasks: each action runs once, with the connection's turn, and never within another action or a
 * handler.
 */
public interface SendTaskContract extends MessageFixture {
    int LAST = -1;
    int REPLIES = 5_000;
    int INSTANTS = 3_000;

    /** An action that must be able to begin a message, and sends a number. */
    private Runnable sending(int number, Failures failures) {
        return () -> {
            Optional<OutgoingMessage> begun = channel(0).tryBeginPacking(1);
            if (begun.isEmpty()) {
                failures.add(new AssertionError("no message could be begun for " + number));
            } else {
                end(begun.get(), number);
            }
        };
    }

    private static void end(OutgoingMessage out, int number) {
        out.packInt(number).endPackingAsync();
        out.close();
    }

    private static void sendInt(Channel channel, int number) {
        try (OutgoingMessage out = channel.beginPacking(1 - channel.session().rank(), 20, TimeUnit.SECONDS)) {
            out.packInt(number).endPacking(20, TimeUnit.SECONDS);
        }
    }

    private static int receiveInt(Channel channel) {
        try (IncomingMessage in = channel.beginUnpacking(20, TimeUnit.SECONDS)) {
            int number = in.unpackInt();
            in.endUnpacking();
            return number;
        }
    }

    @Test
    default void shouldRunAnActionAtOnceWhenTheConnectionIsFree() {
        open(2);
        Failures failures = new Failures();
        SendTask task = channel(0).whenFree(1, sending(7, failures));
        assertEquals(7, receiveInt(channel(1)));
        assertFalse(task.isScheduled());
        failures.assertNone();
    }

    @Test
    default void shouldRunActionsInTheirOrderOnceTheMessageInTheWayHasEnded() {
        open(2);
        Failures failures = new Failures();
        try (OutgoingMessage inTheWay = channel(0).beginPacking(1)) {
            List<SendTask> tasks = IntStream.range(1, 5)
                    .mapToObj(number -> channel(0).newSendTask(1, sending(number, failures)))
                    .toList();
            tasks.forEach(SendTask::schedule);
            tasks.reversed().forEach(SendTask::schedule); // no effect: they are already scheduled
            assertTrue(tasks.get(1).cancel());
            assertFalse(tasks.get(1).cancel());
            assertTrue(tasks.getFirst().isScheduled());
            inTheWay.packInt(0).endPackingAsync();
        }
        for (int number : new int[] {0, 1, 3, 4}) {
            assertEquals(number, receiveInt(channel(1)));
        }
        sendInt(channel(0), LAST);
        assertEquals(LAST, receiveInt(channel(1)));
        eventually("nothing is left to do", () -> sessions().demand(0) == 0);
        failures.assertNone();
    }

    @Test
    default void shouldKeepOthersWaitingWhileAnActionsMessageIsOpen() {
        open(2);
        Failures failures = new Failures();
        CompletableFuture<OutgoingMessage> left = new CompletableFuture<>();
        SendTask second = channel(0).newSendTask(1, sending(2, failures));
        channel(0).whenFree(1, () -> left.complete(channel(0).tryBeginPacking(1).orElseThrow()));
        second.schedule();
        CompletableFuture<Void> third = start(() -> sendInt(channel(0), 3));
        eventually("the action has run, here or in the leader", left::isDone);
        channel(0).session().progress();
        assertTrue(second.isScheduled());
        end(left.join(), 1);
        assertEquals(1, receiveInt(channel(1)));
        assertEquals(5, receiveInt(channel(1)) + receiveInt(channel(1)));
        join(third);
        failures.assertNone();
    }

    @Test
    default void shouldRunActionsWithinNoHandlerAndNoOtherAction() {
        open(2);
        Failures failures = new Failures();
        AtomicInteger depth = new AtomicInteger();
        AtomicInteger runs = new AtomicInteger();
        SendTask[] other = new SendTask[1];
        ThreadLocal<Boolean> within = ThreadLocal.withInitial(() -> false);
        Channel channel = channel(1);
        Runnable action = () -> {
            if (within.get() || depth.incrementAndGet() != 1) {
                failures.add(new AssertionError("an action runs within a handler or another action"));
            }
            within.set(true);
            if (runs.incrementAndGet() < 100) {
                other[0].schedule();
            }
            end(channel.tryBeginPacking(0).orElseThrow(), 0); // frees the connection for the next action
            channel.session().progress();
            within.set(false);
            depth.decrementAndGet();
        };
        other[0] = channel.newSendTask(0, action);
        channel.onMessage(message -> {
            try (message) {
                within.set(true);
                other[0].schedule();
                channel.session().progress();
                within.set(false);
                message.unpackInt();
                message.endUnpacking();
            }
        });
        sendInt(channel(0), 1);
        for (int i = 0; i < 100; i++) {
            assertEquals(0, receiveInt(channel(0)));
        }
        failures.assertNone();
    }

    /** Threads that send without a pause, a thread that waits in line, and actions: all get their turns. */
    @Test
    default void shouldLetActionsAndThreadsTakeTurns() {
        open(2);
        Failures failures = new Failures();
        AtomicBoolean over = new AtomicBoolean();
        AtomicInteger actions = new AtomicInteger();
        SendTask[] again = new SendTask[1];
        again[0] = channel(0).newSendTask(1, () -> {
            sending(1, failures).run();
            if (actions.incrementAndGet() < 100) {
                again[0].schedule();
            } else {
                over.set(true);
            }
        });
        Body floods = () -> {
            while (!over.get()) {
                sendInt(channel(0), 0);
            }
        };
        AtomicInteger received = new AtomicInteger();
        CompletableFuture<Void> receiver = start(() -> {
            for (int number = 0; number != LAST; ) {
                number = receiveInt(channel(1));
                received.addAndGet(number == 1 ? 1 : 0);
            }
        });
        together(floods, floods, () -> again[0].schedule());
        sendInt(channel(0), LAST);
        join(receiver);
        assertEquals(100, received.get());
        failures.assertNone();
    }

    /** The connection becomes free just as a task is scheduled: no action is lost, and none runs twice. */
    @Test
    default void shouldRunEachActionOnceThoughTheConnectionBecomesFreeAtThatInstant() {
        open(2);
        AtomicInteger runs = new AtomicInteger();
        AtomicBoolean over = new AtomicBoolean();
        CompletableFuture<Void> receiver = start(() -> {
            while (receiveInt(channel(1)) != LAST) {
                Thread.onSpinWait();
            }
        });
        together(
                () -> {
                    while (!over.get()) {
                        sendInt(channel(0), 0);
                        pauseAMoment();
                    }
                },
                () -> {
                    SendTask task = channel(0).newSendTask(1, runs::incrementAndGet);
                    try {
                        for (int i = 1; i <= INSTANTS; i++) {
                            int expected = i;
                            task.schedule();
                            eventually("action " + i + " is run", () -> runs.get() >= expected);
                            assertEquals(expected, runs.get());
                        }
                    } finally {
                        over.set(true);
                    }
                });
        sendInt(channel(0), LAST);
        join(receiver);
        assertEquals(INSTANTS, runs.get());
    }

    private static void pauseAMoment() {
        for (int i = 0; i < 50; i++) {
            Thread.onSpinWait();
        }
    }

    /**
     * The pattern of a protocol's control messages: send at once if possible, else through a queue that a task empties.
     */
    @Test
    default void shouldSendAllThatHandlersReplyOnABusyConnection() {
        open(2);
        Failures failures = new Failures();
        Channel replier = channel(1);
        Queue<Integer> queue = new ConcurrentLinkedQueue<>();
        SendTask[] drain = new SendTask[1];
        drain[0] = replier.newSendTask(0, () -> {
            for (Integer first = queue.peek(); first != null; first = queue.peek()) {
                Optional<OutgoingMessage> begun = replier.tryBeginPacking(0);
                if (begun.isEmpty()) {
                    drain[0].schedule();
                    return;
                }
                queue.poll();
                end(begun.get(), first);
            }
        });
        replier.onMessage(message -> {
            try (message) {
                int number = message.unpackInt();
                message.endUnpacking();
                Optional<OutgoingMessage> begun = queue.isEmpty() ? replier.tryBeginPacking(0) : Optional.empty();
                if (begun.isPresent()) {
                    end(begun.get(), number);
                } else {
                    queue.add(number);
                    drain[0].schedule();
                }
            }
        });
        AtomicBoolean over = new AtomicBoolean();
        AtomicBoolean wayFree = new AtomicBoolean();
        together(
                () -> {
                    for (int i = 0; i < REPLIES; i++) {
                        sendInt(channel(0), i);
                    }
                },
                () -> { // keeps the connection busy
                    try {
                        while (!over.get()) {
                            try (OutgoingMessage out = replier.beginPacking(0)) {
                                out.packInt(LAST).endPacking();
                            }
                        }
                    } finally {
                        wayFree.set(true);
                    }
                },
                () -> {
                    try {
                        for (int expected = 0; expected < REPLIES; ) {
                            int number = receiveInt(channel(0));
                            if (number != LAST) {
                                assertEquals(expected++, number);
                            }
                        }
                    } finally {
                        over.set(true);
                        eventually("the busy sender has ended", () -> drainBusyWay(failures) && wayFree.get());
                    }
                });
        failures.assertNone();
    }

    /**
     * The message of the busy sender may have to be received before that sender sees the end; returns true if there is
     * none.
     */
    private boolean drainBusyWay(Failures failures) {
        try {
            return channel(0)
                    .tryBeginUnpacking(1)
                    .map(SendTaskContract::discard)
                    .isEmpty();
        } catch (PeerFailedException | WaitInterruptedException e) {
            failures.add(e);
            return true;
        }
    }

    private static boolean discard(IncomingMessage message) {
        message.close();
        return true;
    }

    @Test
    default void shouldFailWhatAnActionBeginsWhenThePeerHasDied() {
        open(2);
        AtomicInteger runs = new AtomicInteger();
        AtomicReference<Throwable> seen = new AtomicReference<>();
        OutgoingMessage inTheWay = channel(1).beginPacking(0);
        SendTask task = channel(1).whenFree(0, () -> {
            try {
                channel(1).tryBeginPacking(0);
            } catch (PeerFailedException e) {
                seen.set(e);
            } finally {
                runs.incrementAndGet();
            }
        });
        sessions().die(0);
        eventually("the action is run", () -> runs.get() > 0);
        assertEquals(
                PeerFailedException.class, Objects.requireNonNull(seen.get()).getClass());
        assertThrows(PeerFailedException.class, task::schedule);
        inTheWay.close();
        assertEquals(1, runs.get());
        eventually("nothing is left to do", () -> sessions().demand(1) == 0);
    }

    @Test
    default void shouldRunWhatIsScheduledBeforeTheSessionIsClosed() {
        open(2);
        AtomicInteger runs = new AtomicInteger();
        SendTask[] again = new SendTask[1];
        again[0] = channel(0).newSendTask(1, () -> {
            end(channel(0).tryBeginPacking(1).orElseThrow(), runs.get());
            if (runs.incrementAndGet() < 300) {
                again[0].schedule();
            }
        });
        CompletableFuture<Void> receiver = start(() -> {
            for (int i = 0; i < 300; i++) {
                assertEquals(i, receiveInt(channel(1)));
            }
        });
        again[0].schedule();
        CompletableFuture<Void> closer = start(() -> sessions().session(0).close());
        join(receiver);
        join(closer);
        assertEquals(300, runs.get());
        assertThrows(SessionException.class, () -> again[0].schedule());
    }
}
