package io.madeleine.bench;

import io.madeleine.bench.RegisterProcess.Work;
import io.madeleine.bench.measure.Conditions;
import io.madeleine.bench.measure.Pattern;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Work that one process of a network does alone: it registers memory, or copies the same number of bytes.
 *
 * <p>Threading: as {@link io.madeleine.bench.measure.Subject}.
 */
final class RegisterSubject extends LinkSubject {
    /** The title of the rows of copies. */
    static final String COPIED = "copied instead";

    /** The end of the title of rows whose registrations lock their pages. */
    static final String LOCKED = "pin = mlock";

    private final Work work;

    /**
     * The answer of a network about its registrations.
     *
     * @param refusal why there are none; empty if there are
     * @param locks whether a setting makes them lock their pages
     */
    record Answer(Optional<String> refusal, boolean locks) {}

    RegisterSubject(
            Network network,
            ProtocolSubject.Setup setup,
            Conditions conditions,
            Variant variant,
            Work work,
            PrintWriter err) {
        super(network, setup, conditions, variant, err);
        this.work = work;
    }

    /** Asks a process of the network, which first has to start a JVM and the adapter. */
    Answer ask() throws IOException {
        String said = LastLine.of(command(RegisterProcess.class, arguments(Work.ASK)), withConfiguration(Map.of()));
        return switch (said) {
            case RegisterProcess.REGISTERS -> new Answer(Optional.empty(), false);
            case RegisterProcess.LOCKS -> new Answer(Optional.empty(), true);
            default -> new Answer(Optional.of(said), false);
        };
    }

    /** Whether the registrations of a subject lock their pages. */
    static boolean isLocked(Variant variant) {
        return variant.setup().filter(title -> title.endsWith(LOCKED)).isPresent();
    }

    @Override
    public boolean has(Pattern pattern, long bytes) {
        return pattern == Pattern.REGISTER;
    }

    @Override
    public Optional<String> transmissionModule(long bytes) {
        return Optional.empty();
    }

    @Override
    protected int ranks() {
        return 1;
    }

    @Override
    Class<?> program() {
        return RegisterProcess.class;
    }

    @Override
    List<String> arguments(int rank) {
        return arguments(work);
    }

    private List<String> arguments(Work what) {
        return List.of(network.family(), what.name(), Boolean.toString(conditions.pin()));
    }
}
