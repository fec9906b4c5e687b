package io.madeleine.switching;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.SelectorReactor;
import io.madeleine.pmm.WaitMode;
import io.madeleine.pmm.WaitPolicy;
import io.madeleine.pmm.Waitable;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HandlesTest {
    private final SelectorReactor reactor = new SelectorReactor();
    private final ProgressEngine engine = new ProgressEngine("test", reactor, new WaitPolicy(WaitMode.BLOCK, 0, 0));
    private int orders;

    private final class Handle extends MessageHandle {
        @SuppressWarnings("DataFlowIssue")
        Handle(MemorySegment scratch) {
            super(null, new MessageCompletion(engine, new Waitable()), scratch);
        }
    }

    @AfterEach
    void close() {
        engine.close();
        reactor.close();
    }

    private Handles<Handle> handles() {
        return new Handles<>(Handle::new);
    }

    private static Handle begin(Handles<Handle> handles, int number) {
        Handle begun = handles.take();
        begun.begin(number);
        return begun;
    }

    private static void end(Handle handle) {
        handle.end(null);
        handle.completion().leave();
    }

    @Test
    void shouldServeOneThreadThatClosesItsMessagesByOneObject() {
        Handles<Handle> handles = handles();
        Handle first = begin(handles, 0);
        for (int i = 1; i < 100; i++) {
            end(first);
            first.leaveToNext();
            assertSame(first, begin(handles, i));
        }
    }

    @Test
    void shouldServeThreadsThatCloseWhatOthersHaveBegunByAFewObjects() throws InterruptedException {
        Handles<Handle> handles = handles();
        List<Handle> seen = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            Handle handle = begin(handles, i);
            assertFalse(seen.subList(Math.max(0, i - Handles.MOST + 1), i).contains(handle), "not before others");
            seen.add(handle);
            end(handle);
            Thread.ofPlatform().start(handle::leaveToNext).join();
        }
        assertEquals(Handles.MOST, seen.stream().distinct().count());
    }

    @Test
    void shouldLeaveAnObjectAloneThatIsNotClosed() {
        Handles<Handle> handles = handles();
        List<Handle> seen = new ArrayList<>();
        for (int i = 0; i < 3 * Handles.MOST; i++) {
            Handle handle = begin(handles, i);
            assertFalse(seen.contains(handle));
            seen.add(handle);
            end(handle);
        }
    }

    @Test
    void shouldNotUseAnObjectWhoseCompletionSomebodyMayHoldBeforeOthers() {
        Handles<Handle> handles = handles();
        Handle first = begin(handles, 0);
        first.startEndingAsync();
        end(first);
        first.leaveToNext();
        assertNotSame(first, begin(handles, 1));
    }

    /**
     * Whatever the order in which the user and another thread wait, the end comes and is left, the user closes, and
     * next messages begin: an object never stands for a next message while somebody has to do with the one before, and
     * always may after that.
     */
    @Test
    void shouldServeAgainInNoOrderTooEarly() {
        orderFrom(new int[Script.values().length], new ArrayList<>());
        assertTrue(orders > 5_000, () -> orders + " orders");
    }

    /** What each of those does, step by step. */
    private enum Script {
        USER("enter", "exit", "close"),
        WAITER("enter", "exit"),
        ENDER("end", "leave"),
        NEXT("begin", "begin", "begin");

        private final List<String> steps;

        Script(String... steps) {
            this.steps = List.of(steps);
        }
    }

    private void orderFrom(int[] done, List<Script> order) {
        boolean whole = true;
        for (Script script : Script.values()) {
            int at = done[script.ordinal()];
            if (at < script.steps.size()) {
                whole = false;
                done[script.ordinal()]++;
                order.add(script);
                orderFrom(done, order);
                order.removeLast();
                done[script.ordinal()]--;
            }
        }
        if (whole) {
            orders++;
            play(order);
        }
    }

    private void play(List<Script> order) {
        Handles<Handle> handles = handles();
        Handle first = begin(handles, 0);
        MessageCompletion completion = first.completion();
        List<Handle> begun = new ArrayList<>(List.of(first));
        int[] at = new int[Script.values().length];
        int inside = 0;
        boolean closed = false;
        boolean over = false;
        boolean reused = false;
        int[] actions = new int[1];
        completion.onDone(() -> actions[0]++);
        for (Script script : order) {
            switch (script.steps.get(at[script.ordinal()]++)) {
                case "enter" -> {
                    if (!reused) { // who comes later has been told that the message was closed
                        completion.enter();
                        inside++;
                    } else {
                        inside = Integer.MIN_VALUE;
                    }
                }
                case "exit" -> {
                    if (inside > 0) {
                        completion.exit();
                        inside--;
                    }
                }
                case "close" -> {
                    first.leaveToNext();
                    closed = true;
                }
                case "end" -> completion.end(null);
                case "leave" -> {
                    completion.leave();
                    over = true;
                }
                default -> {
                    Handle next = begin(handles, begun.size());
                    boolean mayBeFirst = closed && over && inside <= 0 && !reused;
                    if (next == first) {
                        assertTrue(mayBeFirst, () -> "given too early: " + order);
                        reused = true;
                    } else {
                        assertFalse(begun.contains(next), () -> "given though open: " + order);
                    }
                    begun.add(next);
                }
            }
        }
        assertEquals(1, actions[0], () -> "the action: " + order);
        if (!reused) {
            assertTrue(first.isFree(), () -> "never free: " + order);
        }
    }
}
