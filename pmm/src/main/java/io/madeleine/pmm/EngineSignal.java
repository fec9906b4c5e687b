package io.madeleine.pmm;

import io.madeleine.api.Signal;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A signal on which a user waits, based on the engine.
 *
 * <p>Threading: thread-safe.
 */
public final class EngineSignal implements Signal {
    private final ProgressEngine engine;
    private final Waitable waitable;

    /**
     * The condition of the last wait, so that repeated waits for the same condition allocate nothing. A lost update
     * does no harm.
     */
    private @Nullable Adapted last;

    private record Adapted(BooleanSupplier condition) implements Condition {
        @Override
        public boolean isMet() {
            return condition.getAsBoolean();
        }
    }

    /** A signal without a wait hint: its waiters follow the hints of the other waiters. */
    public EngineSignal(ProgressEngine engine) {
        this(engine, null);
    }

    /** A signal with this wait hint; with null its waiters follow the hints of the other waiters. */
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

    /**
     * Waits like {@link #await(BooleanSupplier)} until a deadline in {@link System#nanoTime()} terms; returns whether
     * the condition held.
     */
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
