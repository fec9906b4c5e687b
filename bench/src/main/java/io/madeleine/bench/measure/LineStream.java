package io.madeleine.bench.measure;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/**
 * A stream that hands each line to a consumer.
 *
 * <p>Threading: confined to one thread at a time, as its {@link PrintStream} sees to.
 */
public final class LineStream extends OutputStream {
    private final Consumer<String> consumer;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();

    private LineStream(Consumer<String> consumer) {
        this.consumer = consumer;
    }

    /** Creates a stream that hands its lines to the consumer. */
    public static PrintStream to(Consumer<String> consumer) {
        return new PrintStream(new LineStream(consumer), true, StandardCharsets.UTF_8);
    }

    @Override
    public void write(int next) {
        if (next == '\n') {
            consumer.accept(line.toString(StandardCharsets.UTF_8));
            line.reset();
        } else {
            line.write(next);
        }
    }
}
