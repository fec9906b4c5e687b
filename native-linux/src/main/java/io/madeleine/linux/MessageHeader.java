package io.madeleine.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A {@code struct msghdr} with one iovec and one control message, for {@code sendmsg} and {@code recvmsg}. Its memory
 * serves call after call.
 *
 * <pre>
 *   msghdr:   name (8), name length (4), -, iovecs (8), iovec count (8), control (8), control length (8), flags (4), -
 *   iovec:    base (8), length (8)
 *   cmsghdr:  length (8), level (4), type (4), data
 * </pre>
 *
 * <p>Threading: confined to one thread at a time.
 */
final class MessageHeader {
    /** The longest datagram, and the longest block that was put together. */
    static final int LONGEST_BYTES = 65_536;

    private static final long HEADER_BYTES = 56;
    private static final long NAME = 0;
    private static final long NAME_LENGTH = 8;
    private static final long IOVECS = 16;
    private static final long IOVEC_COUNT = 24;
    private static final long CONTROL = 32;
    private static final long CONTROL_LENGTH = 40;

    private static final long IOVEC_BYTES = 16;
    private static final long BASE = 0;
    private static final long LENGTH = 8;

    private static final long CONTROL_BYTES = 64;
    private static final long LEVEL = 8;
    private static final long TYPE = 12;
    private static final long DATA = 16;

    /** CMSG_LEN and CMSG_SPACE of a short. */
    private static final long SHORT_LENGTH = DATA + Short.BYTES;

    private static final long SHORT_SPACE = 24;

    private final MemorySegment header;
    private final MemorySegment iovec;
    private final MemorySegment control;
    private final MemorySegment name;
    private final MemorySegment state;
    private final int nameBytes;

    /**
     * Allocates the memory.
     *
     * @param nameBytes the length of the socket's addresses
     */
    MessageHeader(Arena arena, int nameBytes) {
        this.header = arena.allocate(HEADER_BYTES, Long.BYTES);
        this.iovec = arena.allocate(IOVEC_BYTES, Long.BYTES);
        this.control = arena.allocate(CONTROL_BYTES, Long.BYTES);
        this.name = arena.allocate(SocketAddresses.PLACE_BYTES, Long.BYTES);
        this.state = arena.allocate(SocketCalls.stateLayout());
        this.nameBytes = nameBytes;
        header.set(JAVA_LONG, IOVECS, iovec.address());
        header.set(JAVA_LONG, IOVEC_COUNT, 1);
    }

    /**
     * Describes a block to send.
     *
     * @param cutBytes the size of the datagrams into which the system cuts it; 0 for one datagram
     */
    void outgoing(long to, long address, int bytes, int cutBytes) {
        header.set(JAVA_LONG, NAME, to);
        header.set(JAVA_INT, NAME_LENGTH, nameBytes);
        iovec.set(JAVA_LONG, BASE, address);
        iovec.set(JAVA_LONG, LENGTH, bytes);
        if (cutBytes == 0) {
            header.set(JAVA_LONG, CONTROL_LENGTH, 0);
            return;
        }
        header.set(JAVA_LONG, CONTROL, control.address());
        header.set(JAVA_LONG, CONTROL_LENGTH, SHORT_SPACE);
        control.set(JAVA_LONG, 0, SHORT_LENGTH);
        control.set(JAVA_INT, LEVEL, SocketCalls.IPPROTO_UDP);
        control.set(JAVA_INT, TYPE, SocketCalls.UDP_SEGMENT);
        control.set(JAVA_SHORT, DATA, (short) cutBytes);
    }

    /** Sends what is described; returns the number of bytes, or errno as a negative number. */
    long send(int socket, MemorySegment payload) {
        long sent;
        do {
            sent = SocketCalls.send(state, socket, header, payload);
        } while (sent == SocketCalls.EINTR);
        return sent;
    }

    /** Describes the memory that takes what has arrived. */
    void incoming(MemorySegment into) {
        header.set(JAVA_LONG, NAME, name.address());
        header.set(JAVA_INT, NAME_LENGTH, nameBytes);
        iovec.set(JAVA_LONG, BASE, into.address());
        iovec.set(JAVA_LONG, LENGTH, into.byteSize());
        header.set(JAVA_LONG, CONTROL, control.address());
        header.set(JAVA_LONG, CONTROL_LENGTH, CONTROL_BYTES);
    }

    /** Receives into what is described; returns the number of bytes, or errno as a negative number. */
    long receive(int socket, MemorySegment payload) {
        long taken;
        do {
            taken = SocketCalls.receive(state, socket, header, payload);
        } while (taken == SocketCalls.EINTR);
        return taken;
    }

    /** The address of the sender of what was received. */
    MemorySegment sender() {
        return name;
    }

    /** The size of the datagrams that were put together into what was received; 0 if it is one datagram. */
    int putTogetherOf() {
        boolean isThere = header.get(JAVA_LONG, CONTROL_LENGTH) >= DATA + Integer.BYTES
                && control.get(JAVA_INT, LEVEL) == SocketCalls.IPPROTO_UDP
                && control.get(JAVA_INT, TYPE) == SocketCalls.UDP_GRO;
        return isThere ? control.get(JAVA_INT, DATA) : 0;
    }

    /** The exception for an error of {@link #receive}. */
    UncheckedIOException failure(long errno) {
        return new UncheckedIOException(
                "cannot receive datagrams", new IOException("recvmsg failed with errno " + -errno));
    }
}
