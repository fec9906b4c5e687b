package io.madeleine.bench.peer;

import io.madeleine.bench.measure.Conditions;
import io.madeleine.bench.measure.LocalProcesses;
import io.madeleine.bench.measure.MeasuringException;
import io.madeleine.bench.measure.Pattern;
import io.madeleine.bench.measure.ResidentSubject;
import io.madeleine.bench.mpi.MpiBenchmarks;
import io.madeleine.bench.mpi.MpiBuffers;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * A peer that runs in two processes of one of our programs in C.
 *
 * <p>Threading: as {@link io.madeleine.bench.measure.Subject}.
 */
final class NativePeer extends ResidentSubject {
    /** The longest messages of programs that know round trips only: a datagram's payload, a cell. */
    private static final Map<String, Long> LONGEST_ROUND_TRIPS = Map.of("handler", 8_192L);

    private final Kit kit;
    private final Conditions conditions;
    private final PrintWriter err;

    /**
     * What it takes.
     *
     * @param program the program
     * @param packages the Debian packages that it needs
     * @param mpi how the processes are started, if by an MPI
     * @param options what else the program is told
     */
    record Kit(CProgram program, String packages, Optional<MpiLauncher> mpi, List<String> options) {
        /** A program of the system's own means. */
        static Kit plain(String wire, String... options) {
            return new Kit(new CProgram("gcc", wire), "gcc and libc6-dev", Optional.empty(), List.of(options));
        }

        /** The program of libfabric, told its provider, and whether it locks what it registers. */
        static Kit fabric(String provider, boolean locks) {
            List<String> options = locks ? List.of(provider, "mlock") : List.of(provider);
            return new Kit(Fabric.PROGRAM, Fabric.PACKAGES, Optional.empty(), options);
        }

        /** MPICH. */
        static final Kit MPICH = mpi("mpicc.mpich", "mpich and libmpich-dev");

        /** Open MPI. */
        static final Kit OPEN_MPI = mpi("mpicc.openmpi", "openmpi-bin and libopenmpi-dev");

        /** The program of MPI, which needs a launcher. */
        private static Kit mpi(String compiler, String packages) {
            return new Kit(new CProgram(compiler, CProgram.MPI), packages, Optional.empty(), List.of());
        }

        /** The same with a launcher. */
        Kit with(MpiLauncher launcher) {
            return new Kit(program, packages, Optional.of(launcher), options);
        }
    }

    NativePeer(String name, Kit kit, Conditions conditions, Variant variant, PrintWriter err) {
        super(Kind.PEER, name, variant);
        this.kit = kit;
        this.conditions = conditions;
        this.err = err;
    }

    @Override
    public Optional<String> absence() {
        List<String> commands = kit.mpi().isPresent()
                ? List.of(kit.program().compiler(), kit.mpi().get().command())
                : List.of(kit.program().compiler());
        for (String command : commands) {
            if (CProgram.find(command).isEmpty()) {
                return Optional.of("there is no command " + command + ": " + advice());
            }
        }
        try {
            kit.program().build();
            return kit.program().equals(Fabric.PROGRAM)
                    ? Fabric.absence(kit.options().getFirst())
                    : Optional.empty();
        } catch (MeasuringException e) {
            return Optional.of(e.getMessage() + " - " + advice());
        }
    }

    private String advice() {
        return "install the Debian packages " + kit.packages() + " (apt-get install "
                + kit.packages().replace(",", "").replace(" and ", " ") + ")";
    }

    @Override
    public boolean has(Pattern pattern, long bytes) {
        if (pattern.isLocal() || conditions.locks()) {
            return pattern.isLocal() && kit.program().equals(Fabric.PROGRAM);
        }
        if (pattern.isOfProgram()) {
            return kit.mpi().isPresent()
                    && MpiBenchmarks.has(pattern, bytes, conditions.ranks(), MpiBuffers.MPI_BUFFER);
        }
        if (!pattern.isRoundTrip() && pattern != Pattern.BANDWIDTH && pattern != Pattern.RATE) {
            return false; // the programs in C know these
        }
        Long longest = LONGEST_ROUND_TRIPS.get(kit.program().wire());
        return longest == null ? bytes <= Integer.MAX_VALUE : pattern.isRoundTrip() && bytes <= longest;
    }

    @Override
    protected int ranks() {
        return kit.mpi().isPresent() ? conditions.ranks() : 2;
    }

    @Override
    protected Running start(Map<String, String> environment) {
        Path program = kit.program().build();
        if (kit.mpi().isPresent()) {
            MpiLauncher launcher = kit.mpi().get();
            Map<String, String> all = new HashMap<>(environment);
            all.putAll(launcher.environment());
            return LocalProcesses.start(List.of(launcher.command(program, conditions.ranks())), all, List.of(), err);
        }
        return LocalProcesses.start(List.of(command(program, 0), command(program, 1)), environment, List.of(), err);
    }

    private List<String> command(Path program, int rank) {
        List<String> command = new ArrayList<>(List.of(
                program.toString(),
                Integer.toString(rank),
                conditions.waiting().name().toLowerCase(Locale.ROOT),
                conditions.pin() ? "pin" : "-"));
        command.addAll(kit.options());
        return command;
    }
}
