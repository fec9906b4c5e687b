package io.madeleine.bench.peer;

import io.madeleine.bench.measure.Conditions;
import io.madeleine.bench.measure.Subject;
import io.madeleine.bench.measure.Subject.Variant;
import java.io.PrintWriter;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * All peers there are, by name.
 *
 * <p>Threading: stateless.
 */
public enum Peers {
    /** Aeron over shared memory. */
    AERON_IPC("Aeron between two processes of a host"),
    /** Aeron over UDP. */
    AERON_UDP("Aeron over UDP"),
    /** The JDK's sockets. */
    NIO("the JDK's non-blocking sockets"),
    /** Shared memory without a library. */
    RAW_MAILBOX("a mailbox in memory that both processes map"),
    /** Netty. */
    NETTY("Netty, with an event loop that polls"),
    /** gRPC-Java over TCP. */
    GRPC_TCP("gRPC-Java unary calls over TCP; patterns rsr..."),
    /** gRPC-Java over a Unix-domain socket. */
    GRPC_UDS("gRPC-Java unary calls over a Unix-domain socket; patterns rsr..."),
    /** gRPC-Java over TCP, one stream for all calls. */
    GRPC_TCP_BIDI("gRPC-Java, one bidirectional stream over TCP; patterns rsr..."),
    /** gRPC-Java over a Unix-domain socket, one stream for all calls. */
    GRPC_UDS_BIDI("gRPC-Java, one bidirectional stream over a Unix-domain socket; patterns rsr..."),
    /** TCP without a JVM. */
    C_TCP("non-blocking TCP sockets in C"),
    /** TCP without a JVM, waiting in the kernel. */
    C_TCP_BLOCKING("blocking TCP sockets in C, whatever --wait says"),
    /** UDP without a JVM. */
    C_UDP("non-blocking UDP sockets in C, round trips only"),
    /** Shared memory without a JVM, two copies. */
    C_SHM("two copies through shared memory in C, pipelined: the least that takes"),
    /** Shared memory without a JVM, two copies, the second one past the caches. */
    C_SHM_STREAMING("the same in C, the receiver's copy with streaming stores"),
    /** Shared memory without a JVM, a single copy. */
    C_CMA("in C with a single copy, process_vm_readv, from 32 KiB on"),
    /** MPICH. */
    MPICH("MPICH with its defaults"),
    /** MPICH over TCP. */
    MPICH_TCP("MPICH over TCP"),
    /** Open MPI. */
    OPENMPI("Open MPI with its defaults"),
    /** Open MPI over TCP. */
    OPENMPI_TCP("Open MPI over TCP");

    private final String summary;

    Peers(String summary) {
        this.summary = summary;
    }

    /** As in options and results. */
    public String word() {
        return name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
    }

    /** What it is, in a few words. */
    public String summary() {
        return summary;
    }

    /** Whether it has calls instead of messages. */
    boolean isGrpc() {
        return this == GRPC_TCP || this == GRPC_UDS || isBidi();
    }

    /** Whether its calls are messages of one stream. */
    boolean isBidi() {
        return this == GRPC_TCP_BIDI || this == GRPC_UDS_BIDI;
    }

    /** The one of that name. */
    public static Optional<Peers> of(String word) {
        return Arrays.stream(values()).filter(peer -> peer.word().equals(word)).findFirst();
    }

    /** All names. */
    public static List<String> words() {
        return Arrays.stream(values()).map(Peers::word).toList();
    }

    /** To be measured under these conditions; what it prints goes to {@code err}. */
    public Subject subject(Conditions conditions, Variant variant, PrintWriter err) {
        return switch (this) {
            case AERON_IPC, AERON_UDP -> new JvmPeer(this, JvmPeer.AERON, conditions, variant, err);
            case NIO, RAW_MAILBOX -> new JvmPeer(this, JvmPeer.PLAIN, conditions, variant, err);
            case NETTY -> new JvmPeer(this, JvmPeer.NETTY, conditions, variant, err);
            case GRPC_TCP, GRPC_UDS, GRPC_TCP_BIDI, GRPC_UDS_BIDI ->
                new JvmPeer(this, JvmPeer.GRPC, conditions, variant, err);
            case C_TCP -> new NativePeer(word(), NativePeer.Kit.plain("tcp"), conditions, variant, err);
            case C_TCP_BLOCKING ->
                new NativePeer(word(), NativePeer.Kit.plain("tcp", "blocking"), conditions, variant, err);
            case C_UDP -> new NativePeer(word(), NativePeer.Kit.plain("udp"), conditions, variant, err);
            case C_SHM -> new NativePeer(word(), NativePeer.Kit.plain("shm"), conditions, variant, err);
            case C_SHM_STREAMING ->
                new NativePeer(word(), NativePeer.Kit.plain("shm", "streaming"), conditions, variant, err);
            case C_CMA -> new NativePeer(word(), NativePeer.Kit.plain("shm", "single-copy"), conditions, variant, err);
            case MPICH -> new NativePeer(word(), mpich(MpiLauncher.mpich()), conditions, variant, err);
            case MPICH_TCP -> new NativePeer(word(), mpich(MpiLauncher.mpichTcp()), conditions, variant, err);
            case OPENMPI -> new NativePeer(word(), openMpi(MpiLauncher.openMpi()), conditions, variant, err);
            case OPENMPI_TCP -> new NativePeer(word(), openMpi(MpiLauncher.openMpiTcp()), conditions, variant, err);
        };
    }

    private static NativePeer.Kit mpich(MpiLauncher launcher) {
        return NativePeer.Kit.mpi("mpicc.mpich", "mpich and libmpich-dev", launcher);
    }

    private static NativePeer.Kit openMpi(MpiLauncher launcher) {
        return NativePeer.Kit.mpi("mpicc.openmpi", "openmpi-bin and libopenmpi-dev", launcher);
    }
}
