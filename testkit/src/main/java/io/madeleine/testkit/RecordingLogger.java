package io.madeleine.testkit;

import java.text.MessageFormat;
import java.util.List;
import java.util.ResourceBundle;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Keeps each log record as a line: the level, and then the text.
 *
 * <p>Threading: thread-safe.
 */
public final class RecordingLogger implements System.Logger {
    private final List<String> lines = new CopyOnWriteArrayList<>();

    /** The lines so far, oldest first; a live view. */
    public List<String> lines() {
        return lines;
    }

    @Override
    public String getName() {
        return "test";
    }

    @Override
    public boolean isLoggable(Level level) {
        return true;
    }

    @Override
    public void log(Level level, @Nullable ResourceBundle bundle, String message, @Nullable Throwable thrown) {
        lines.add(level + " " + message);
    }

    @Override
    public void log(Level level, @Nullable ResourceBundle bundle, String format, Object @Nullable ... params) {
        lines.add(level + " " + (params == null ? format : MessageFormat.format(format, params)));
    }
}
