package io.madeleine.nexus.wan;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Hears during a test what the adapter logs, in place of the console. */
final class HeardWarnings extends Handler implements BeforeEachCallback, AfterEachCallback {
    final BlockingQueue<String> warnings = new LinkedBlockingQueue<>();

    private final Logger logger = Logger.getLogger("io.madeleine.nexus");

    @Override
    public void beforeEach(ExtensionContext test) {
        logger.addHandler(this);
        logger.setUseParentHandlers(false);
    }

    @Override
    public void afterEach(ExtensionContext test) {
        logger.removeHandler(this);
        logger.setUseParentHandlers(true);
    }

    @Override
    public void publish(LogRecord line) {
        // The tests that hear send nothing: what is lost is of an earlier test, whose session is late to tell.
        String text = line.getMessage();
        if (!text.startsWith("a request from rank ") && !text.startsWith("an answer ")) {
            warnings.add(text);
        }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
}
