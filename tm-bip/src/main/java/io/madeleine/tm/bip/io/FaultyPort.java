package io.madeleine.tm.bip.io;

import io.madeleine.pmm.SpinLock;
import io.madeleine.tm.bip.protocol.Datagram;
import java.net.InetSocketAddress;
import java.nio.channels.SelectableChannel;
import java.util.PriorityQueue;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Injects faults into the datagrams of another port, for tests of programs that use bip. It copies datagrams that it
 * delays or changes, so it allocates; a port without faults is used without it.
 *
 * <p>Threading: as {@link DatagramPort}; a lock guards what is delayed.
 */
public final class FaultyPort implements DatagramPort {
    /** The most datagrams that are delayed at a time in one direction; more are lost. */
    private static final int MOST_DELAYED = 16_384;

    /** Another datagram of a stream takes about so long; one that many overtake does not wait for them. */
    private static final long OVERTAKING_NS = 20_000;

    private final DatagramPort port;
    private final Faults faults;
    private final long openedNs = System.nanoTime();
    private final Line out;
    private final Line in;

    /** A datagram on its way. */
    @SuppressWarnings("ArrayRecordComponent") // compared by time and order alone
    private record Flight(long dueNs, long order, byte[] bytes, InetSocketAddress peer) implements Comparable<Flight> {
        @Override
        public int compareTo(Flight other) {
            int byTime = Long.signum(dueNs - other.dueNs);
            return byTime != 0 ? byTime : Long.compare(order, other.order);
        }
    }

    /** The datagrams of one direction. */
    private final class Line {
        private final SpinLock lock = new SpinLock();
        private final Random random;
        private final PriorityQueue<Flight> flights = new PriorityQueue<>();
        private long order;

        Line(long seed) {
            random = new Random(seed);
        }

        /** Takes a datagram; returns whether it may pass at once and unchanged. */
        boolean passes(Faults.Direction what, Datagram datagram, InetSocketAddress peer, long nowNs) {
            lock.lock();
            try {
                boolean isLost = random.nextDouble() < what.loss() || what.isCut(nowNs - openedNs);
                boolean isCorrupt = random.nextDouble() < what.corruption();
                boolean isTwice = random.nextDouble() < what.duplication();
                boolean isLate = random.nextDouble() < what.reordering();
                long delayNs = what.delayNs() + (long) (random.nextDouble() * what.jitterNs());
                if (isLost || flights.size() >= MOST_DELAYED) {
                    return false;
                }
                byte[] bytes = new byte[datagram.length()];
                datagram.bytes().get(0, bytes);
                if (isTwice) {
                    add(delayNs, nowNs, bytes.clone(), peer, 0);
                }
                if (!isCorrupt && !isLate && delayNs == 0) {
                    return true;
                }
                if (isCorrupt) {
                    bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
                }
                add(delayNs, nowNs, bytes, peer, isLate ? 1 + random.nextInt(Math.max(1, what.reorderBy())) : 0);
                return false;
            } finally {
                lock.unlock();
            }
        }

        private void add(long delayNs, long nowNs, byte[] bytes, InetSocketAddress peer, int overtakenBy) {
            long lateNs = overtakenBy * OVERTAKING_NS;
            flights.add(new Flight(nowNs + delayNs + lateNs, order++, bytes, peer));
        }

        @Nullable
        Flight due(long nowNs) {
            lock.lock();
            try {
                Flight first = flights.peek();
                return first != null && first.dueNs - nowNs <= 0 ? flights.poll() : null;
            } finally {
                lock.unlock();
            }
        }

        long nextNs() {
            lock.lock();
            try {
                Flight first = flights.peek();
                return first == null ? Long.MAX_VALUE : first.dueNs;
            } finally {
                lock.unlock();
            }
        }
    }

    /** Injects faults into a port, which it owns from now on. */
    public FaultyPort(DatagramPort port, Faults faults) {
        this.port = port;
        this.faults = faults;
        this.out = new Line(faults.seed());
        this.in = new Line(faults.seed() + 1);
    }

    private static void fill(Datagram datagram, byte[] bytes) {
        datagram.clear();
        datagram.bytes().put(bytes);
        datagram.arrived();
    }

    @Override
    public int send(Datagram datagram, InetSocketAddress to) {
        return out.passes(faults.sendTo(to), datagram, to, System.nanoTime()) ? port.send(datagram, to) : SENT;
    }

    @Override
    public int flush() {
        return port.flush();
    }

    /** Sends what was delayed; uses this memory for it. */
    @Override
    public void pump(Datagram scratch, long nowNs) {
        for (Flight due = out.due(nowNs); due != null; due = out.due(nowNs)) {
            fill(scratch, due.bytes);
            int _ = port.send(scratch, due.peer);
        }
        int _ = port.flush();
    }

    @Override
    public @Nullable InetSocketAddress receive(Datagram into) {
        long nowNs = System.nanoTime();
        for (InetSocketAddress from = port.receive(into); from != null; from = port.receive(into)) {
            if (into.length() > 0 && in.passes(faults.receiveFrom(from), into, from, nowNs)) {
                return from;
            }
        }
        Flight due = in.due(nowNs);
        if (due == null) {
            return null;
        }
        fill(into, due.bytes);
        return due.peer;
    }

    @Override
    public InetSocketAddress address() {
        return port.address();
    }

    @Override
    public SelectableChannel channel() {
        return port.channel();
    }

    @Override
    public int receiveBufferBytes() {
        return port.receiveBufferBytes();
    }

    @Override
    public int sendBufferBytes() {
        return port.sendBufferBytes();
    }

    @Override
    public long nextDeadlineNs() {
        long outNs = out.nextNs();
        long inNs = in.nextNs();
        if (outNs == Long.MAX_VALUE || inNs == Long.MAX_VALUE) {
            return outNs == Long.MAX_VALUE ? inNs : outNs;
        }
        return outNs - inNs < 0 ? outNs : inNs;
    }

    @Override
    public void close() {
        port.close();
    }
}
