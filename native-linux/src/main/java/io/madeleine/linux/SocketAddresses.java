package io.madeleine.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * Internet addresses in the system's form ({@code struct sockaddr_in}, {@code sockaddr_in6}), with a cache of those
 * that were used before: another use allocates nothing. Two addresses that share a place in the cache displace each
 * other.
 *
 * <pre>
 *   sockaddr_in:   family (2), port (2, big-endian), address (4), zeros (8)
 *   sockaddr_in6:  family (2), port (2, big-endian), flow (4), address (16), scope (4)
 * </pre>
 *
 * <p>Threading: confined to one thread at a time.
 */
final class SocketAddresses {
    /** The length of the longest address. */
    static final int MOST_BYTES = 28;

    /** The size of a place, so that each is aligned. */
    static final int PLACE_BYTES = 32;

    private static final int PLACES = 256;
    private static final short AF_INET = 2;
    private static final short AF_INET6 = 10;
    private static final int INET_BYTES = 16;
    private static final long PORT_OFFSET = 2;
    private static final long INET_OFFSET = 4;
    private static final long INET6_OFFSET = 8;
    private static final long SCOPE_OFFSET = 24;
    private static final int MAPPED_PREFIX_BYTES = 12;
    private static final ValueLayout.OfShort PORT = JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN);

    private final MemorySegment memory;
    private final @Nullable InetSocketAddress[] known = new InetSocketAddress[PLACES];
    private final boolean isInet6;

    /**
     * Addresses of a socket.
     *
     * @param isInet6 whether the socket is of the family of IPv6, in which IPv4 addresses are mapped ones
     */
    SocketAddresses(Arena arena, boolean isInet6) {
        this.memory = arena.allocate((long) PLACES * PLACE_BYTES, PLACE_BYTES);
        this.isInet6 = isInet6;
    }

    /** Whether the address in this memory is of the family of IPv6. */
    static boolean isInet6(MemorySegment address) {
        return address.get(JAVA_SHORT, 0) == AF_INET6;
    }

    /** The length of the socket's addresses. */
    int bytes() {
        return isInet6 ? MOST_BYTES : INET_BYTES;
    }

    /**
     * The address in the system's form: the address of {@link #bytes} bytes of memory, until another one displaces it.
     */
    long encoded(InetSocketAddress address) {
        int place = System.identityHashCode(address) & PLACES - 1;
        long offset = (long) place * PLACE_BYTES; // no slice: a slice is an object
        if (known[place] != address) {
            known[place] = null; // in case that encoding fails
            encode(address, memory.asSlice(offset, PLACE_BYTES));
            known[place] = address;
        }
        return memory.address() + offset;
    }

    private void encode(InetSocketAddress address, MemorySegment target) {
        target.fill((byte) 0);
        InetAddress host = address.getAddress();
        byte[] bytes = host.getAddress();
        target.set(PORT, PORT_OFFSET, (short) address.getPort());
        if (!isInet6) {
            target.set(JAVA_SHORT, 0, AF_INET);
            MemorySegment.copy(bytes, 0, target, JAVA_BYTE, INET_OFFSET, bytes.length);
            return;
        }
        target.set(JAVA_SHORT, 0, AF_INET6);
        if (host instanceof Inet6Address inet6) {
            MemorySegment.copy(bytes, 0, target, JAVA_BYTE, INET6_OFFSET, bytes.length);
            target.set(JAVA_INT, SCOPE_OFFSET, inet6.getScopeId());
        } else {
            target.set(JAVA_SHORT, INET6_OFFSET + MAPPED_PREFIX_BYTES - Short.BYTES, (short) -1);
            MemorySegment.copy(bytes, 0, target, JAVA_BYTE, INET6_OFFSET + MAPPED_PREFIX_BYTES, bytes.length);
        }
    }

    /** The address that the system has written into the first {@link #bytes} bytes of this memory. */
    InetSocketAddress decoded(MemorySegment source) {
        int hash = source.get(PORT, PORT_OFFSET);
        for (long at = INET_OFFSET; at < bytes(); at += Integer.BYTES) {
            hash = 31 * hash + source.get(JAVA_INT, at);
        }
        int place = (hash ^ hash >>> 16 ^ hash >>> 8) & PLACES - 1;
        long offset = (long) place * PLACE_BYTES;
        InetSocketAddress found = known[place];
        if (found != null && MemorySegment.mismatch(source, 0, bytes(), memory, offset, offset + bytes()) < 0) {
            return found;
        }
        known[place] = null;
        MemorySegment.copy(source, 0, memory, offset, bytes());
        InetSocketAddress made = decode(source);
        known[place] = made;
        return made;
    }

    /** The address in this memory, in the form of its family. */
    static InetSocketAddress decode(MemorySegment source) {
        boolean inet6 = isInet6(source);
        byte[] bytes = source.asSlice(inet6 ? INET6_OFFSET : INET_OFFSET, inet6 ? 16 : 4)
                .toArray(JAVA_BYTE);
        int scope = inet6 ? source.get(JAVA_INT, SCOPE_OFFSET) : 0;
        try {
            InetAddress host = scope == 0 // a mapped IPv4 address becomes an IPv4 address
                    ? InetAddress.getByAddress(bytes)
                    : Inet6Address.getByAddress(null, bytes, scope);
            return new InetSocketAddress(host, Short.toUnsignedInt(source.get(PORT, PORT_OFFSET)));
        } catch (UnknownHostException e) {
            throw new IllegalStateException("an address of " + bytes.length + " bytes", e);
        }
    }
}
