package io.madeleine.bench.peer;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * How an MPI starts processes, each bound to a core where there are enough.
 *
 * <p>Threading: immutable.
 *
 * @param command the launcher's name
 * @param options for any machine
 * @param binding with a core for each process
 * @param crowding with fewer
 * @param environment variables
 */
record MpiLauncher(
        String command,
        List<String> options,
        List<String> binding,
        List<String> crowding,
        Map<String, String> environment) {
    private static final List<String> OVER_LOOPBACK =
            List.of("--allow-run-as-root", "--mca", "oob_tcp_if_include", "lo");

    /** MPICH by ways: "" with what it chooses itself, which is shared memory. */
    static final Map<String, MpiLauncher> MPICH = mpichWays();

    /** Open MPI by ways: "" with what it chooses itself, which is shared memory. */
    static final Map<String, MpiLauncher> OPEN_MPI = openMpiWays();

    private static Map<String, MpiLauncher> mpichWays() {
        Map<String, MpiLauncher> ways = new LinkedHashMap<>();
        ways.put("", mpich(Map.of()));
        ways.put("tcp", mpich(Map.of("UCX_TLS", "tcp,self", "UCX_NET_DEVICES", "lo", "MPIR_CVAR_NOLOCAL", "1")));
        return ways;
    }

    private static MpiLauncher mpich(Map<String, String> environment) {
        return new MpiLauncher("mpirun.mpich", List.of(), List.of("-bind-to", "core"), List.of(), environment);
    }

    private static Map<String, MpiLauncher> openMpiWays() {
        Map<String, MpiLauncher> ways = new LinkedHashMap<>();
        ways.put("", openMpi());
        ways.put("tcp", openMpi("pml", "ob1", "btl", "tcp,self", "btl_tcp_if_include", "lo"));
        ways.put("cma", openMpiByVader("cma"));
        ways.put("two-copies", openMpiByVader("none"));
        return ways;
    }

    /** Over shared memory; {@code singleCopy} says how large messages go. */
    private static MpiLauncher openMpiByVader(String singleCopy) {
        return openMpi("pml", "ob1", "btl", "vader,self", "btl_vader_single_copy_mechanism", singleCopy);
    }

    /** An MPI with these parameters, name and value in turn. */
    private static MpiLauncher openMpi(String... parameters) {
        List<String> options = new ArrayList<>(OVER_LOOPBACK);
        for (int i = 0; i < parameters.length; i += 2) {
            options.addAll(List.of("--mca", parameters[i], parameters[i + 1]));
        }
        return new MpiLauncher(
                "mpirun.openmpi",
                options,
                List.of("--bind-to", "core"),
                List.of("--bind-to", "none", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1"),
                Map.of());
    }

    /** Starts this many processes of a program. */
    List<String> command(Path program, int ranks) {
        List<String> line = new ArrayList<>(List.of(command));
        line.addAll(options);
        line.addAll(Runtime.getRuntime().availableProcessors() >= ranks ? binding : crowding);
        line.addAll(List.of("-n", Integer.toString(ranks), program.toString()));
        return line;
    }
}
