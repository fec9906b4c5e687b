package io.madeleine.testkit.messages;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Runs an action at the end of the stack, again with some frames more room, and so on, until it has enough room.
 */
final class StackDive {
    /** How many calls must succeed, counted from the end of the stack upwards. */
    private static final int SUCCESSES = 6;

    /** The distance of attempts in frames: an overflow takes long. */
    private static final int FRAMES_PER_TRY = 3;

    private static final int CALLS_UNTIL_SETTLED = 1_000;

    /**
     * {@link Runnable#run}. The field is not a constant, so that no compiler inlines the call into {@link #dive}: a
     * frame of {@code dive} would then already contain the room that the action needs, and the action would never
     * be short of room.
     */
    @SuppressWarnings("FieldMayBeFinal")
    private static MethodHandle run = settled();

    private final Runnable action;
    private int frames;
    private int overflows;
    private int successes;

    StackDive(Runnable action) {
        this.action = action;
    }

    /**
     * Returns the handle after it has been linked and compiled, since that must not happen at the end of the stack.
     */
    private static MethodHandle settled() {
        try {
            MethodHandle run =
                    MethodHandles.publicLookup().findVirtual(Runnable.class, "run", MethodType.methodType(void.class));
            Runnable nothing = () -> {};
            for (int i = 0; i < CALLS_UNTIL_SETTLED; i++) {
                run.invokeExact(nothing);
            }
            return run;
        } catch (Throwable e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private void attempt() {
        try {
            run.invokeExact(action);
        } catch (Error | RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e); // a Runnable throws no checked exception
        }
    }

    @SuppressWarnings("InfiniteRecursion") // on purpose
    void dive() {
        try {
            dive();
        } catch (StackOverflowError _) {
            // attempts begin here, on the way up
        }
        if (successes < SUCCESSES && ++frames % FRAMES_PER_TRY == 0) {
            try {
                attempt();
                successes++;
            } catch (StackOverflowError _) {
                overflows++;
            }
        }
    }

    /** Checks that some calls ran out of stack and enough of them succeeded. */
    void check() {
        assertTrue(overflows > 0, "no call ran out of stack");
        assertEquals(SUCCESSES, successes);
    }
}
