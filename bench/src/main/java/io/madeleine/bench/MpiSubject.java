package io.madeleine.bench;

import io.madeleine.bench.measure.Conditions;
import io.madeleine.bench.measure.Pattern;
import io.madeleine.bench.mpi.MpiBenchmarks;
import io.madeleine.bench.mpi.MpiBuffers;
import io.madeleine.bench.mpi.MpiProcess;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * One of our networks below a program of MPI for Java, whose messages are in one kind of buffers.
 *
 * <p>Threading: as {@link io.madeleine.bench.measure.Subject}.
 */
final class MpiSubject extends ProtocolSubject {
    /** The channel that {@code MPI.Init} takes. */
    private static final String CHANNEL = "default";

    private final MpiBuffers buffers;
    private final int ranks;
    private final boolean pin;

    MpiSubject(
            Network network, Setup setup, MpiBuffers buffers, Conditions conditions, Variant variant, PrintWriter err) {
        super(network, setup, conditions, variant, err);
        this.buffers = buffers;
        this.ranks = conditions.ranks();
        this.pin = conditions.pin();
    }

    @Override
    public boolean has(Pattern pattern, long bytes) {
        return MpiBenchmarks.has(pattern, bytes, ranks, buffers);
    }

    /** A message of MPI is a header and a body, which may take different modules. */
    @Override
    public Optional<String> transmissionModule(long bytes) {
        return Optional.empty();
    }

    @Override
    protected int ranks() {
        return ranks;
    }

    @Override
    Class<?> program() {
        return MpiProcess.class;
    }

    @Override
    List<String> programArguments() {
        List<String> arguments = new ArrayList<>(List.of(buffers.name()));
        if (pin) {
            arguments.add(MpiProcess.PIN);
        }
        return arguments;
    }

    @Override
    List<String> channels() {
        return List.of(CHANNEL);
    }
}
