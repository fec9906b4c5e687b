package io.madeleine.bench.peer;

import io.madeleine.bench.measure.Pattern;
import io.madeleine.bench.peer.JvmPeer.Kit;
import io.madeleine.bench.peer.JvmPeer.Library;
import io.madeleine.bench.peer.JvmPeer.Opener;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The peers that run in JVMs, by name.
 *
 * <p>Threading: stateless.
 */
final class JvmKits {
    /** All of them, in the order in which they are listed. */
    static final Map<String, Kit> ALL = all();

    private JvmKits() {}

    private static Map<String, Kit> all() {
        Map<String, Kit> kits = new LinkedHashMap<>();
        kits.put(
                "aeron-ipc",
                of(
                        "Aeron between two processes of a host",
                        JvmPeer.AERON,
                        (end, line) -> AeronWire.ipc(end.rank(), end.waiting(), end.folder(), line)));
        kits.put(
                "aeron-udp",
                of("Aeron over UDP", JvmPeer.AERON, (end, line) -> AeronWire.udp(end.waiting(), end.folder(), line)));
        kits.put(
                "nio",
                of(
                        "the JDK's non-blocking sockets",
                        JvmPeer.PLAIN,
                        (end, line) -> NioWire.open(end.rank(), end.waiting(), line)));
        kits.put(
                "nio-udp",
                of(
                        "the JDK's datagram sockets, with a window, without repetition",
                        JvmPeer.PLAIN,
                        (end, line) -> NioUdpWire.open(end.waiting(), line)));
        kits.put(
                "raw-mailbox",
                new Kit(
                        "a mailbox in memory that both processes map",
                        JvmPeer.PLAIN,
                        List.of(),
                        pattern -> pattern.isOfMessages() && !pattern.isBurst(), // a mailbox holds one message
                        true,
                        (end, line) -> MailboxWire.open(end.rank(), end.waiting(), line)));
        kits.put(
                "netty",
                new Kit(
                        "Netty, with an event loop that polls",
                        JvmPeer.NETTY,
                        List.of("nio", "epoll"),
                        Pattern::isOfMessages,
                        true,
                        (end, line) -> NettyWire.open(end.rank(), end.waiting(), end.argument(), line)));
        kits.put("grpc-tcp", grpc("gRPC-Java unary calls over TCP; patterns rsr...", false, false));
        kits.put("grpc-uds", grpc("gRPC-Java unary calls over a Unix-domain socket; patterns rsr...", true, false));
        kits.put("grpc-tcp-bidi", grpc("gRPC-Java, one bidirectional stream over TCP; patterns rsr...", false, true));
        kits.put(
                "grpc-uds-bidi",
                grpc("gRPC-Java, one bidirectional stream over a Unix-domain socket; patterns rsr...", true, true));
        return kits;
    }

    private static Kit of(String summary, Library library, Opener opener) {
        return new Kit(summary, library, List.of(), Pattern::isOfMessages, true, opener);
    }

    /** It has calls instead of messages, and an event loop that is another thread than its caller. */
    private static Kit grpc(String summary, boolean unix, boolean bidi) {
        return new Kit(
                summary,
                JvmPeer.GRPC,
                List.of(),
                pattern -> pattern.isCall() && !(bidi && pattern == Pattern.RSR_TYPED_RATE),
                false,
                (end, line) -> GrpcWire.open(unix, bidi, end.rank(), line));
    }
}
