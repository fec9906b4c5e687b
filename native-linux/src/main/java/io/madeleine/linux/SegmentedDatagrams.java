package io.madeleine.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.madeleine.pmm.spi.DatagramEngine;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * The datagrams of one socket by segmentation offload. Datagrams of one size to one peer, and a shorter last one, are
 * kept side by side and leave by one call. Datagrams that the system has put together are handed out one by one. A long
 * datagram passes without a copy. Where the system refuses to cut, datagrams leave one by one.
 *
 * <p>Threading: as {@link io.madeleine.pmm.spi.DatagramEngine.Batches}.
 */
final class SegmentedDatagrams implements DatagramEngine.Batches {
    /** The system cuts a block into at most this many datagrams. */
    private static final int MOST_SEGMENTS = 64;

    /** The longest block: what one IPv6 packet carries. */
    private static final int MOST_BYTES = 65_487;

    /** Longer datagrams leave one by one: copying them costs more than the saved call. */
    private static final int MOST_KEPT_BYTES = 9_000;

    private final int socket;
    private final Outgoing out;
    private final Incoming in;

    /** Automatic: a call that is still running after {@link #close} keeps its memory. */
    private final Arena arena = Arena.ofAuto();

    private volatile boolean closed;

    SegmentedDatagrams(SocketSearch.Socket found) {
        this.socket = found.descriptor();
        this.out = new Outgoing(found.isInet6());
        this.in = new Incoming(found.isInet6());
        allowPuttingTogether();
    }

    private void allowPuttingTogether() {
        MemorySegment on = arena.allocate(JAVA_INT);
        on.set(JAVA_INT, 0, 1);
        int set = SocketCalls.setOption(
                arena.allocate(SocketCalls.stateLayout()), socket, SocketCalls.IPPROTO_UDP, SocketCalls.UDP_GRO, on);
        if (set < 0) {
            throw new IllegalStateException(
                    "this system cannot put datagrams together (UDP_GRO, Linux 5.0 or later; errno " + -set + ")");
        }
    }

    @Override
    public int send(MemorySegment memory, int bytes, InetSocketAddress to) {
        return closed ? SENT : out.send(memory, bytes, to);
    }

    @Override
    public int flush() {
        return closed ? SENT : out.flush();
    }

    @Override
    public @Nullable InetSocketAddress receive(MemorySegment into) {
        return closed ? null : in.receive(into);
    }

    @Override
    public int receivedBytes() {
        return in.receivedBytes;
    }

    @Override
    public void close() {
        closed = true;
    }

    /** The sending side. */
    private final class Outgoing {
        private final MemorySegment kept = arena.allocate(MOST_BYTES, 64);
        private final MessageHeader message;
        private final SocketAddresses addresses;
        private @Nullable InetSocketAddress target;

        /** The size of the datagrams that are kept; only the last one may be shorter. */
        private int segmentBytes;

        private int count;
        private int keptBytes;
        private boolean isEnded;

        /** While datagrams leave one by one, those before this offset have left; negative while they leave together. */
        private int singlyFrom = -1;

        private boolean foundTooLarge;
        private boolean foundFailure;
        private boolean isRefused;

        Outgoing(boolean isInet6) {
            this.addresses = new SocketAddresses(arena, isInet6);
            this.message = new MessageHeader(arena, addresses.bytes());
        }

        int send(MemorySegment memory, int bytes, InetSocketAddress to) {
            int before = SENT;
            if (count > 0 && !joins(bytes, to)) {
                before = flush();
                if (before == FULL) {
                    return FULL;
                }
            }
            if (count == 0 && (bytes > MOST_KEPT_BYTES || isRefused)) {
                int alone = outcome(transmit(memory, 0, bytes, to, 0));
                return alone == SENT ? before : alone;
            }
            MemorySegment.copy(memory, 0, kept, keptBytes, bytes);
            if (count == 0) {
                target = to;
                segmentBytes = bytes;
            }
            isEnded = bytes < segmentBytes;
            keptBytes += bytes;
            count++;
            return before;
        }

        private boolean joins(int bytes, InetSocketAddress to) {
            return !isEnded
                    && to == target
                    && bytes <= segmentBytes
                    && count < MOST_SEGMENTS
                    && keptBytes + bytes <= MOST_BYTES;
        }

        int flush() {
            InetSocketAddress to = target;
            if (count == 0 || to == null) {
                return SENT;
            }
            if (singlyFrom < 0) {
                long sent = transmit(kept, 0, keptBytes, to, count > 1 ? segmentBytes : 0);
                if (sent == SocketCalls.EAGAIN) {
                    return FULL;
                }
                if (sent >= 0 || count == 1) {
                    return emptied(outcome(sent));
                }
                singlyFrom = 0; // perhaps the error concerns one datagram only, or the system cannot cut for this path
                foundTooLarge = false;
                foundFailure = false;
                isEnded = true;
            }
            while (singlyFrom < keptBytes) {
                int bytes = Math.min(segmentBytes, keptBytes - singlyFrom);
                long sent = transmit(kept, singlyFrom, bytes, to, 0);
                if (sent == SocketCalls.EAGAIN) {
                    return FULL;
                }
                foundTooLarge |= sent == SocketCalls.EMSGSIZE;
                foundFailure |= sent < 0;
                singlyFrom += bytes;
            }
            isRefused = !foundFailure; // if each could leave alone, cutting was the cause; else the network may be down
            return emptied(foundTooLarge ? TOO_LARGE : SENT);
        }

        private int emptied(int status) {
            count = 0;
            keptBytes = 0;
            isEnded = false;
            singlyFrom = -1;
            return status;
        }

        private long transmit(MemorySegment memory, long offset, int bytes, InetSocketAddress to, int cutBytes) {
            message.outgoing(addresses.encoded(to), memory.address() + offset, bytes, cutBytes);
            return message.send(socket, memory);
        }

        /** Any other error, such as a network that is down, counts as a lost datagram. */
        private static int outcome(long sent) {
            if (sent == SocketCalls.EAGAIN) {
                return FULL;
            }
            return sent == SocketCalls.EMSGSIZE ? TOO_LARGE : SENT;
        }
    }

    /** The receiving side. */
    private final class Incoming {
        private final MemorySegment rest = arena.allocate(MessageHeader.LONGEST_BYTES, 64);
        private final MessageHeader message;
        private final SocketAddresses addresses;
        private @Nullable InetSocketAddress sender;
        private int restFrom;
        private int restTo;
        private int segmentBytes;
        private int receivedBytes;

        Incoming(boolean isInet6) {
            this.addresses = new SocketAddresses(arena, isInet6);
            this.message = new MessageHeader(arena, addresses.bytes());
        }

        @Nullable
        InetSocketAddress receive(MemorySegment into) {
            if (restFrom < restTo) {
                receivedBytes = Math.min(segmentBytes, restTo - restFrom);
                MemorySegment.copy(rest, restFrom, into, 0, receivedBytes);
                restFrom += receivedBytes;
                return sender;
            }
            message.incoming(into);
            long taken = message.receive(socket, into);
            if (taken == SocketCalls.EAGAIN || closed) {
                return null;
            }
            if (taken < 0) {
                throw message.failure(taken);
            }
            sender = addresses.decoded(message.sender());
            int cut = message.putTogetherOf();
            receivedBytes = (int) taken;
            if (cut > 0 && cut < taken) {
                segmentBytes = cut;
                receivedBytes = cut;
                restFrom = 0;
                restTo = (int) taken - cut;
                MemorySegment.copy(into, cut, rest, 0, restTo);
            }
            return sender;
        }
    }
}
