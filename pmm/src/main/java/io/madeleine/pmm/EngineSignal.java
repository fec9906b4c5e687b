package io.madeleine.pmm;

import io.madeleine.api.Signal;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What a user waits on, over the engine.
 *
 * <p>Threading: thread-safe.
 */
public final class EngineSignal implements Signal {
    private final ProgressEngine engine;
    private final Waitable waitable;

    /** The condition of the last wait: who waits for the same again and again allocates nothing. A lost update does no harm. */
    private @Nullable Adapted last;

    private record Adapted(BooleanSupplier condition) implements Condition {
        @Override
        public boolean isMet() {
            return condition.getAsBoolean();
        }
    }

    /** A signal nobody waits for yet. How its waiters wait is left to others that wait beside them. */
    public EngineSignal(ProgressEngine engine) {
        this(engine, null);
    }

    /** A signal nobody waits for yet, and what counts for those who will; null leaves that to others that wait beside them. */
    public EngineSignal(ProgressEngine engine, @Nullable WaitHint hint) {
        this.engine = engine;
        this.waitable =
                new Waitable(hint, "let another thread, one of Session.virtualThreads for instance, await the signal");
    }

    @Override
    public void await(BooleanSupplier condition) {
        boolean _ = awaitUntil(condition, ProgressEngine.NO_DEADLINE);
    }

    @Override
    public boolean await(BooleanSupplier condition, long timeout, TimeUnit unit) {
        return awaitUntil(condition, Deadlines.after(timeout, unit));
    }

    /** As {@link #await(BooleanSupplier)}, until a time of {@link System#nanoTime()}; returns whether the condition was met. */
    public boolean awaitUntil(BooleanSupplier condition, long deadlineNs) {
        return engine.await(waitable, adapt(condition), deadlineNs);
    }

    private Adapted adapt(BooleanSupplier condition) {
        Objects.requireNonNull(condition, "condition");
        Adapted adapted = last;
        if (adapted == null || adapted.condition() != condition) {
            adapted = new Adapted(condition);
            last = adapted;
        }
        return adapted;
    }

    @Override
    public void signal() {
        engine.signal(waitable);
    }
}
