package io.madeleine.bench.peer;

import io.madeleine.bench.measure.ControlLine;
import io.madeleine.bench.measure.Pinning;
import io.madeleine.pmm.WaitMode;

/**
 * One of the two JVMs of a peer.
 *
 * <p>Threading: confined to caller.
 */
public final class PeerProcess {
    private PeerProcess() {}

    /** Started by {@code mad perf} with peer, rank, wait mode, whether to pin, and the name of folders to use. */
    public static void main(String[] arguments) {
        Peers peer = Peers.valueOf(arguments[0]);
        int rank = Integer.parseInt(arguments[1]);
        WaitMode wait = WaitMode.valueOf(arguments[2]);
        if (Boolean.parseBoolean(arguments[3])
                && !peer.isGrpc()) { // whose event loop is another thread than its caller
            Pinning.pinThisProcess(rank);
        }
        String folder = arguments[4] + "-" + rank;
        ControlLine.serve(rank, (_, line) -> switch (peer) {
            case AERON_IPC -> AeronWire.ipc(rank, wait, folder, line);
            case AERON_UDP -> AeronWire.udp(wait, folder, line);
            case NIO -> NioWire.open(rank, wait, line);
            case RAW_MAILBOX -> MailboxWire.open(rank, wait, line);
            case NETTY -> NettyWire.open(rank, wait, line);
            case GRPC_TCP, GRPC_UDS, GRPC_TCP_BIDI, GRPC_UDS_BIDI -> GrpcWire.open(peer, rank, line);
            default -> throw new IllegalArgumentException(peer.word() + " does not run in a JVM");
        });
        System.exit(0); // whatever threads a library has left
    }
}
