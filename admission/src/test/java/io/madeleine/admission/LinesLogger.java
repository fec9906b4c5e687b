package io.madeleine.admission;

import java.util.Collection;
import java.util.ResourceBundle;
import org.jspecify.annotations.Nullable;

/**
 * Keeps each log record as a line: the level, and then the text.
 *
 * @param lines where to
 */
record LinesLogger(Collection<String> lines) implements System.Logger {
    @Override
    public String getName() {
        return "lines";
    }

    @Override
    public boolean isLoggable(Level level) {
        return true;
    }

    @Override
    public void log(Level level, @Nullable ResourceBundle texts, String line, @Nullable Throwable thrown) {
        lines.add(level + " " + line);
    }

    @Override
    public void log(Level level, @Nullable ResourceBundle texts, String line, Object @Nullable ... parts) {
        lines.add(level + " " + line);
    }
}
