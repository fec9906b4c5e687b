package io.madeleine.bench.measure;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A subject whose processes, two as a rule, stay alive between measurements, blocked reading their {@link ControlLine}.
 *
 * <p>Threading: as {@link Subject}.
 */
public abstract class ResidentSubject implements Subject {
    private final Kind kind;
    private final String name;
    private final Variant variant;
    private volatile @Nullable Pair pair;
    private volatile @Nullable Running running;

    /** The two processes at work. */
    public interface Running extends AutoCloseable {
        /** Whether both run. */
        boolean alive();

        /** Waits for them to end by themselves for a moment, then makes them. Idempotent. */
        @Override
        void close();
    }

    /** A subject of that kind and name. */
    protected ResidentSubject(Kind kind, String name, Variant variant) {
        this.kind = kind;
        this.name = name;
        this.variant = variant;
    }

    /** Starts both processes; the variables lead them to {@link ControlLine#serve}. */
    protected abstract Running start(Map<String, String> environment);

    /** How many processes there are. */
    protected int ranks() {
        return 2;
    }

    /** Whether the processes have no loopback interface in common with this one. */
    protected boolean areApart() {
        return false;
    }

    @Override
    public final Kind kind() {
        return kind;
    }

    @Override
    public final String name() {
        return name;
    }

    @Override
    public final Variant variant() {
        return variant;
    }

    @Override
    public final void open(long memoryBytes) {
        Pair opened = new Pair(name + variant.suffix(), ranks(), areApart());
        pair = opened;
        Running started = start(opened.environment());
        running = started;
        opened.connect(memoryBytes, started::alive);
    }

    @Override
    public final Round measure(Order order) {
        Pair opened = pair;
        if (opened == null) {
            throw new IllegalStateException(name + " is not open");
        }
        return opened.measure(order);
    }

    @Override
    public final void close() {
        Pair opened = pair;
        if (opened != null) {
            opened.close();
        }
        Running started = running;
        if (started != null) {
            started.close();
        }
    }
}
