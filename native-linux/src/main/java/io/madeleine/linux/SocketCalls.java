package io.madeleine.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/**
 * The downcalls for sockets. Do not initialise this class without native access. A failed call returns errno as a
 * negative number.
 *
 * <pre>
 *   ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
 *   ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
 *   int getsockname(int fd, struct sockaddr *address, socklen_t *length)
 *   int getsockopt(int fd, int level, int name, void *value, socklen_t *length)
 *   int setsockopt(int fd, int level, int name, const void *value, socklen_t length)
 * </pre>
 *
 * <p>Threading: stateless.
 */
final class SocketCalls {
    /** errno: interrupted by a signal. */
    static final int EINTR = -4;

    /** errno: nothing has arrived, or there is no room. */
    static final int EAGAIN = -11;

    /** errno: the datagram is longer than the path permits. */
    static final int EMSGSIZE = -90;

    static final int SOL_SOCKET = 1;
    static final int SO_PROTOCOL = 38;
    static final int IPPROTO_UDP = 17;

    /** An option and a control message of the level of UDP: the size of the datagrams into which a message is cut. */
    static final int UDP_SEGMENT = 103;

    /** An option and a control message of the level of UDP: the size of the datagrams that were put together. */
    static final int UDP_GRO = 104;

    private static final int MSG_DONTWAIT = 0x40;

    private static final StructLayout STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

    /**
     * With an additional last argument, which the functions ignore: the segment into which the message points. A
     * segment that is an argument stays alive during the call; an address inside an iovec does not keep it alive.
     */
    private static final FunctionDescriptor MESSAGE =
            FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT, ADDRESS);

    private static final MethodHandle SENDMSG = handle("sendmsg", MESSAGE);
    private static final MethodHandle RECVMSG = handle("recvmsg", MESSAGE);
    private static final MethodHandle GETSOCKNAME =
            handle("getsockname", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));
    private static final MethodHandle GETSOCKOPT =
            handle("getsockopt", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));
    private static final MethodHandle SETSOCKOPT =
            handle("setsockopt", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));

    private SocketCalls() {}

    @SuppressWarnings("restricted") // downcalls are the purpose of this module
    private static MethodHandle handle(String name, FunctionDescriptor descriptor) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(
                linker.defaultLookup().findOrThrow(name), descriptor, Linker.Option.captureCallState("errno"));
    }

    /** The layout of the memory that each call needs for errno. */
    static MemoryLayout stateLayout() {
        return STATE;
    }

    /** Sends a message without waiting; returns the number of bytes. {@code payload} stays alive meanwhile. */
    static long send(MemorySegment state, int socket, MemorySegment message, MemorySegment payload) {
        try {
            long sent = (long) SENDMSG.invokeExact(state, socket, message, MSG_DONTWAIT, payload);
            return sent >= 0 ? sent : -(int) ERRNO.get(state, 0L);
        } catch (Throwable e) {
            throw Downcalls.unexpected(e);
        }
    }

    /** Receives a message without waiting; returns the number of bytes. {@code payload} stays alive meanwhile. */
    static long receive(MemorySegment state, int socket, MemorySegment message, MemorySegment payload) {
        try {
            long taken = (long) RECVMSG.invokeExact(state, socket, message, MSG_DONTWAIT, payload);
            return taken >= 0 ? taken : -(int) ERRNO.get(state, 0L);
        } catch (Throwable e) {
            throw Downcalls.unexpected(e);
        }
    }

    /** Reads the address of a socket. */
    static int name(MemorySegment state, int socket, MemorySegment address, MemorySegment length) {
        try {
            return result((int) GETSOCKNAME.invokeExact(state, socket, address, length), state);
        } catch (Throwable e) {
            throw Downcalls.unexpected(e);
        }
    }

    /** Reads an option. */
    static int option(MemorySegment state, int socket, int level, int name, MemorySegment value, MemorySegment length) {
        try {
            return result((int) GETSOCKOPT.invokeExact(state, socket, level, name, value, length), state);
        } catch (Throwable e) {
            throw Downcalls.unexpected(e);
        }
    }

    /** Sets an option to an int. */
    static int setOption(MemorySegment state, int socket, int level, int name, MemorySegment value) {
        try {
            int set = (int) SETSOCKOPT.invokeExact(state, socket, level, name, value, Integer.BYTES);
            return result(set, state);
        } catch (Throwable e) {
            throw Downcalls.unexpected(e);
        }
    }

    private static int result(int returned, MemorySegment state) {
        return returned >= 0 ? returned : -(int) ERRNO.get(state, 0L);
    }
}
