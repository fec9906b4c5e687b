package io.madeleine.bench.peer;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * How an MPI starts two processes, each bound to a core where there are two.
 *
 * <p>Threading: immutable.
 *
 * @param command the launcher's name
 * @param options for any machine
 * @param binding with two cores or more
 * @param crowding with one core
 * @param environment variables
 */
record MpiLauncher(
        String command,
        List<String> options,
        List<String> binding,
        List<String> crowding,
        Map<String, String> environment) {
    private static final List<String> OPEN_MPI = List.of("--allow-run-as-root", "--mca", "oob_tcp_if_include", "lo");

    /** MPICH with what it chooses itself, which is shared memory. */
    static MpiLauncher mpich() {
        return new MpiLauncher("mpirun.mpich", List.of(), List.of("-bind-to", "core"), List.of(), Map.of());
    }

    /** MPICH over TCP. */
    static MpiLauncher mpichTcp() {
        return new MpiLauncher(
                "mpirun.mpich",
                List.of(),
                List.of("-bind-to", "core"),
                List.of(),
                Map.of("UCX_TLS", "tcp,self", "UCX_NET_DEVICES", "lo", "MPIR_CVAR_NOLOCAL", "1"));
    }

    /** Open MPI with what it chooses itself, which is shared memory. */
    static MpiLauncher openMpi() {
        return new MpiLauncher(
                "mpirun.openmpi",
                OPEN_MPI,
                List.of("--bind-to", "core"),
                List.of("--bind-to", "none", "--oversubscribe"),
                Map.of());
    }

    /** Open MPI over TCP. */
    static MpiLauncher openMpiTcp() {
        List<String> options = new ArrayList<>(OPEN_MPI);
        options.addAll(List.of("--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo"));
        MpiLauncher plain = openMpi();
        return new MpiLauncher(plain.command(), options, plain.binding(), plain.crowding(), Map.of());
    }

    /** Starts two processes of a program. */
    List<String> command(Path program) {
        List<String> line = new ArrayList<>(List.of(command));
        line.addAll(options);
        line.addAll(Runtime.getRuntime().availableProcessors() > 1 ? binding : crowding);
        line.addAll(List.of("-n", "2", program.toString()));
        return line;
    }
}
