package io.madeleine.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Finds the descriptor of a socket of this process by the address to which it is bound, since a channel of the JDK does
 * not tell its own. No two sockets for datagrams are bound to one address, unless they ask to share it.
 *
 * <p>Threading: stateless.
 */
final class SocketSearch {
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");

    /**
     * A socket.
     *
     * @param isInet6 whether it is of the family of IPv6, as those that serve both families are
     */
    record Socket(int descriptor, boolean isInet6) {}

    private SocketSearch() {}

    /**
     * Finds the socket.
     *
     * @throws IllegalStateException if there is none, or the system does not show it
     */
    static Socket find(InetSocketAddress local) {
        try (Arena arena = Arena.ofConfined();
                DirectoryStream<Path> open = Files.newDirectoryStream(DESCRIPTORS)) {
            MemorySegment state = arena.allocate(SocketCalls.stateLayout());
            MemorySegment address = arena.allocate(SocketAddresses.PLACE_BYTES, SocketAddresses.PLACE_BYTES);
            MemorySegment length = arena.allocate(JAVA_INT);
            for (Path each : open) {
                int socket = Integer.parseInt(each.getFileName().toString());
                if (isForDatagrams(state, socket, address, length)
                        && isBoundTo(local, state, socket, address, length)) {
                    return new Socket(socket, SocketAddresses.isInet6(address));
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException("the system does not show the descriptors of this process: " + e, e);
        }
        throw new IllegalStateException("no socket of this process is bound to " + local);
    }

    private static boolean isForDatagrams(MemorySegment state, int socket, MemorySegment value, MemorySegment length) {
        length.set(JAVA_INT, 0, Integer.BYTES);
        return SocketCalls.option(state, socket, SocketCalls.SOL_SOCKET, SocketCalls.SO_PROTOCOL, value, length) == 0
                && value.get(JAVA_INT, 0) == SocketCalls.IPPROTO_UDP;
    }

    private static boolean isBoundTo(
            InetSocketAddress local, MemorySegment state, int socket, MemorySegment address, MemorySegment length) {
        length.set(JAVA_INT, 0, SocketAddresses.MOST_BYTES);
        return SocketCalls.name(state, socket, address, length) == 0
                && SocketAddresses.decode(address).equals(local);
    }
}
