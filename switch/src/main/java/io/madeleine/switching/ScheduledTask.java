package io.madeleine.switching;

import io.madeleine.api.SendTask;
import org.jspecify.annotations.Nullable;

/**
 * A task as its user holds it, and its place among those of its connection.
 *
 * <p>Threading: thread-safe; the links and whether it is scheduled belong to the {@link TaskLine}.
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
