package io.madeleine.tm.bip.protocol;

import java.util.PriorityQueue;
import java.util.Random;

/**
 * A network in virtual time that loses, duplicates, reorders, delays, corrupts, truncates and replays datagrams, and
 * that fails altogether for a while. The seed decides everything.
 */
final class SimulatedNetwork {
    private static final int OLD_DATAGRAMS = 64;
    private static final int SOCKET_BYTES = 200_000;

    private record Flight(long atNs, long order, int to, byte[] bytes) implements Comparable<Flight> {
        @Override
        public int compareTo(Flight other) {
            int byTime = Long.compare(atNs, other.atNs);
            return byTime != 0 ? byTime : Long.compare(order, other.order);
        }
    }

    private final Random random;
    private final double loss;
    private final double duplication;
    private final double corruption;
    private final double replay;
    private final double reordering;
    private final long delayNs;
    private final long jitterNs;
    private int largestBytes;
    private final long bytesPerSecond;
    private final long[] lineFreeNs = {Long.MIN_VALUE, Long.MIN_VALUE};
    private final byte[][] old = new byte[OLD_DATAGRAMS][];
    private final PriorityQueue<Flight> flights = new PriorityQueue<>();
    private long order;
    private int oldCount;
    private long darkFromNs = Long.MAX_VALUE;
    private long darkToNs = Long.MAX_VALUE;

    private final long[] deafUntilNs = {Long.MIN_VALUE, Long.MIN_VALUE};
    private final int[] keptBytes = new int[2];
    final int[] sentCount = new int[2];
    int lostCount;
    int corruptCount;

    SimulatedNetwork(Random random) {
        this.random = random;
        boolean hostile = random.nextInt(4) != 0;
        loss = hostile ? random.nextInt(21) / 100.0 : 0;
        duplication = hostile && random.nextBoolean() ? 0.1 : 0;
        corruption = hostile && random.nextBoolean() ? 0.05 : 0;
        replay = hostile && random.nextBoolean() ? 0.05 : 0;
        reordering = hostile && random.nextBoolean() ? 0.2 : 0;
        delayNs = 5_000L << random.nextInt(13);
        jitterNs = random.nextInt(3) == 0 ? (long) (random.nextDouble() * 200_000_000L) : delayNs / 4;
        largestBytes = random.nextInt(3) == 0 ? 65_507 : 1_200 + random.nextInt(9_000);
        bytesPerSecond = random.nextInt(3) == 0 ? 1_250_000L << random.nextInt(6) : Long.MAX_VALUE;
    }

    /** An end takes no datagram before this time; its system keeps so many bytes. */
    void deafen(int end, long untilNs) {
        deafUntilNs[end] = untilNs;
        keptBytes[end] = 0;
    }

    /** The path carries only small datagrams from now on. */
    void shrink() {
        largestBytes = DatagramLayout.SAFE_DATAGRAM_BYTES;
    }

    /** Loses everything between these times. */
    void darken(long fromNs, long toNs) {
        darkFromNs = fromNs;
        darkToNs = toNs;
    }

    void send(long nowNs, int to, Datagram datagram) {
        sentCount[to]++;
        byte[] bytes = new byte[datagram.length()];
        datagram.toSend().duplicate().get(bytes);
        datagram.restoreRing();
        if (nowNs >= darkFromNs && nowNs < darkToNs || random.nextDouble() < loss || bytes.length > largestBytes) {
            lostCount++;
            return;
        }
        if (bytesPerSecond != Long.MAX_VALUE) {
            long busyNs = bytes.length * 1_000_000_000L / bytesPerSecond;
            long startNs = Math.max(nowNs, lineFreeNs[to]);
            if (startNs - nowNs > 20_000_000) { // the queue of the bottleneck is full
                lostCount++;
                return;
            }
            lineFreeNs[to] = startNs + busyNs;
        }
        byte[] carried = bytes;
        if (random.nextDouble() < corruption) {
            carried = corrupt(bytes.clone());
            corruptCount++;
        }
        deliver(nowNs, to, carried);
        if (random.nextDouble() < duplication) {
            deliver(nowNs, to, bytes);
        }
        old[oldCount++ % OLD_DATAGRAMS] = bytes;
        if (random.nextDouble() < replay) {
            deliver(nowNs, random.nextInt(2), old[random.nextInt(Math.min(oldCount, OLD_DATAGRAMS))]);
        }
    }

    private byte[] corrupt(byte[] bytes) {
        if (random.nextInt(4) == 0) {
            return java.util.Arrays.copyOf(bytes, random.nextInt(bytes.length));
        }
        for (int i = 1 + random.nextInt(3); i > 0; i--) {
            bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
        }
        return bytes;
    }

    private void deliver(long nowNs, int to, byte[] bytes) {
        long atNs = Math.max(nowNs, bytesPerSecond == Long.MAX_VALUE ? nowNs : lineFreeNs[to]) + delayNs;
        if (jitterNs > delayNs) {
            atNs += (long) (random.nextDouble() * jitterNs);
        } else if (random.nextDouble() < reordering) {
            atNs += (long) (random.nextDouble() * 3 * delayNs);
        }
        if (atNs < deafUntilNs[to]) {
            keptBytes[to] += bytes.length;
            if (keptBytes[to] > SOCKET_BYTES) {
                lostCount++;
                return;
            }
            atNs = deafUntilNs[to];
        }
        flights.add(new Flight(atNs, order++, to, bytes));
    }

    long nextNs() {
        Flight first = flights.peek();
        return first == null ? Long.MAX_VALUE : first.atNs;
    }

    /** Takes the next datagram that has arrived by now into memory; returns which end it is for, or -1. */
    int take(long nowNs, Datagram into) {
        Flight first = flights.peek();
        if (first == null || first.atNs > nowNs) {
            return -1;
        }
        flights.remove();
        into.clear();
        into.bytes().put(first.bytes);
        into.arrived();
        return first.to;
    }

    @Override
    public String toString() {
        return "loss " + loss + ", duplication " + duplication + ", corruption " + corruption + ", replay " + replay
                + ", reordering " + reordering + ", delay " + delayNs + " ns, jitter " + jitterNs + " ns, largest "
                + largestBytes + ", bytes/s " + bytesPerSecond + ", lost " + lostCount;
    }
}
