package io.madeleine.switching;

import io.madeleine.api.SendTask;
import org.jspecify.annotations.Nullable;

/**
 * A send task: the user's handle and the list node of its {@link TaskLine}.
 *
 * <p>Threading: thread-safe; the {@link TaskLine} guards the links and {@code scheduled}.
 */
final class ScheduledTask implements SendTask {
    final Runnable action;
    private final TaskLine line;

    @Nullable
    ScheduledTask before;

    @Nullable
    ScheduledTask behind;

    volatile boolean scheduled;

    ScheduledTask(TaskLine line, Runnable action) {
        this.line = line;
        this.action = action;
    }

    @Override
    public void schedule() {
        if (!scheduled) {
            line.schedule(this);
        }
    }

    @Override
    public boolean cancel() {
        return scheduled && line.cancel(this);
    }

    @Override
    public boolean isScheduled() {
        return scheduled;
    }
}
