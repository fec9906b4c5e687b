package io.madeleine.tm.bip.protocol;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;

/**
 * Several senders and one receiver behind a line with a queue, in virtual time. Some senders die with grants in hand.
 * The seed decides everything.
 */
final class IncastSimulation {
    private static final Arena ARENA = Arena.ofAuto();
    private static final RingPool POOL = new RingPool(() -> 0);
    private static final Datagram OUT = new Datagram(ARENA);
    private static final Datagram IN = new Datagram(ARENA);
    private static final MemorySegment SCRATCH = MemorySegment.ofArray(new byte[8192]);
    private static final long SECOND_NS = 1_000_000_000L;
    private static final int MOST_AT_ONCE = 4096;

    private record Flight(long atNs, long order, int sender, boolean toReceiver, byte[] bytes)
            implements Comparable<Flight> {
        @Override
        public int compareTo(Flight other) {
            int byTime = Long.compare(atNs, other.atNs);
            return byTime != 0 ? byTime : Long.compare(order, other.order);
        }
    }

    /** One of the senders, and the receiver's end for it. */
    private static final class Sender {
        final Endpoint end;
        final Endpoint peer;
        final long wanted;
        long appended;
        long read;
        boolean isDead;

        Sender(Endpoint end, Endpoint peer, long wanted) {
            this.end = end;
            this.peer = peer;
            this.wanted = wanted;
        }

        boolean isDone() {
            return isDead || read == wanted;
        }
    }

    private final long seed;
    private final Random random;
    private final GrantScheduler grants;
    private final List<Sender> senders = new ArrayList<>();
    private final PriorityQueue<Flight> flights = new PriorityQueue<>();
    private final long delayNs;
    private final long bytesPerSecond;
    private final long queueNs;
    private final double loss;
    private final long allowedBytes;
    private final long stepBytes;
    private long order;
    private long lineFreeNs;
    private long nowNs = SECOND_NS;

    IncastSimulation(long seed) {
        this.seed = seed;
        random = new Random(seed);
        delayNs = 2_000L << random.nextInt(9);
        bytesPerSecond = 12_500_000L << random.nextInt(5);
        queueNs = 20_000L * 1_000_000 / bytesPerSecond * 1000 * (1 + random.nextInt(10));
        loss = random.nextInt(3) == 0 ? random.nextInt(6) / 100.0 : 0;
        EndpointSettings settings = new EndpointSettings(
                16_384, 16_384 << random.nextInt(3), 1_432, 1_000_000, 20 * SECOND_NS, SECOND_NS, false);
        GrantScheduler ofSenders = new GrantScheduler(settings, 1 << 20, GrantScheduler.Order.SHORTEST);
        grants = new GrantScheduler(
                settings, (96 + random.nextInt(400)) * 1024, GrantScheduler.Order.values()[random.nextInt(2)]);
        int count = 2 + random.nextInt(24);
        for (int i = 0; i < count; i++) {
            Endpoint end = Endpoint.initiator(settings, POOL, ofSenders, 1000 + i, nowNs);
            Endpoint peer = Endpoint.acceptor(settings, POOL, grants, 2000 + i, 1000 + i, nowNs);
            senders.add(new Sender(end, peer, 1 + random.nextInt(random.nextInt(4) == 0 ? 200_000 : 30_000)));
        }
        allowedBytes = Math.max(grants.budgetBytes(), grants.outstandingBytes());
        stepBytes = 1 + random.nextInt(8192);
        if (random.nextInt(3) == 0) {
            senders.getFirst().end.out(DatagramLayout.LONG_STREAM).want(1 << 24); // it never sends so much
        }
    }

    /** All that live deliver everything, in time. */
    void run() {
        boolean someDie = random.nextInt(3) == 0;
        long startNs = nowNs;
        long movedNs = nowNs;
        long readBytes = 0;
        while (!senders.stream().allMatch(Sender::isDone)) {
            turn();
            long now = senders.stream().mapToLong(each -> each.read).sum();
            movedNs = now > readBytes ? nowNs : movedNs;
            readBytes = now;
            check(nowNs - movedNs < 3 * SECOND_NS, "no progress");
            if (someDie && nowNs - startNs > 2_000_000) {
                senders.stream().limit(senders.size() / 2).forEach(each -> each.isDead = true);
                someDie = false;
            }
        }
    }

    private void turn() {
        for (int i = 0; i < senders.size(); i++) {
            serve(i);
        }
        for (long id = grants.takeRaised(); id != 0; id = grants.takeRaised()) {
            int sender = (int) (id - 2000);
            flush(sender, senders.get(sender).peer, false);
        }
        long next = grants.nextDeadlineNs();
        for (Sender each : senders) {
            next = Endpoint.earlier(next, each.isDead ? Endpoint.NONE : each.end.nextDeadlineNs());
            next = Endpoint.earlier(next, each.peer.nextDeadlineNs());
        }
        next = flights.isEmpty() ? next : Endpoint.earlier(next, flights.peek().atNs);
        check(next != Endpoint.NONE, "nothing left to wait for, and not done");
        nowNs = Math.max(nowNs, next);
        for (Flight first = flights.peek(); first != null && first.atNs <= nowNs; first = flights.peek()) {
            flights.remove();
            receive(first);
        }
        grants.onTime(nowNs);
        if (grants.stallCount() == 0) {
            check(grants.outstandingBytes() <= allowedBytes, grants.outstandingBytes() + " bytes granted");
        }
    }

    private void serve(int sender) {
        Sender each = senders.get(sender);
        if (!each.isDead) {
            SendStream out = each.end.out(DatagramLayout.LONG_STREAM);
            out.want(each.wanted - each.appended);
            while (each.appended < each.wanted && out.room() > 0) {
                int bytes = (int) Math.min(Math.min(each.wanted - each.appended, out.room()), stepBytes);
                for (int i = 0; i < bytes; i++) {
                    SCRATCH.set(ValueLayout.JAVA_BYTE, i, at(sender, each.appended + i));
                }
                out.append(SCRATCH, 0, bytes);
                each.appended += bytes;
            }
            flush(sender, each.end, true);
        }
        ReceiveStream in = each.peer.in(DatagramLayout.LONG_STREAM);
        while (in.readableBytes() > 0) {
            int bytes = (int) Math.min(in.pieceBytes(in.readableBytes()), SCRATCH.byteSize());
            in.take(SCRATCH, 0, bytes);
            for (int i = 0; i < bytes; i++) {
                check(SCRATCH.get(ValueLayout.JAVA_BYTE, i) == at(sender, each.read + i), "a wrong byte");
            }
            each.read += bytes;
        }
        flush(sender, each.peer, false);
    }

    private static byte at(int sender, long offset) {
        return (byte) (sender * 31 + offset * 13 + (offset >>> 8) * 17);
    }

    private void flush(int sender, Endpoint end, boolean toReceiver) {
        int sent = 0;
        while (end.produce(nowNs, OUT, false) > 0) {
            check(++sent < MOST_AT_ONCE, "datagrams without end");
            long atNs = nowNs + delayNs;
            if (toReceiver) {
                long startNs = Math.max(nowNs, lineFreeNs);
                if (startNs - nowNs > queueNs || random.nextDouble() < loss) {
                    continue; // the queue is full
                }
                lineFreeNs = startNs + OUT.length() * SECOND_NS / bytesPerSecond;
                atNs = lineFreeNs + delayNs;
            }
            byte[] bytes = new byte[OUT.length()];
            OUT.bytes().get(0, bytes);
            flights.add(new Flight(atNs, order++, sender, toReceiver, bytes));
        }
    }

    private void receive(Flight flight) {
        Sender each = senders.get(flight.sender);
        if (!flight.toReceiver && each.isDead) {
            return;
        }
        IN.clear();
        IN.bytes().put(flight.bytes);
        IN.arrived();
        check(IN.isIntact(), "a datagram was changed");
        if (IN.kind() == DatagramLayout.INIT) {
            each.peer.acceptAgain(); // cookies are tested elsewhere
        } else {
            boolean _ = (flight.toReceiver ? each.peer : each.end).receive(nowNs, IN);
        }
    }

    private void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError("seed " + seed + ": " + what + "; " + senders.size() + " senders, delay " + delayNs
                    + " ns, " + bytesPerSecond + " bytes/s, queue " + queueNs + " ns, loss " + loss + ", window "
                    + grants.windowBytes() + ", budget " + grants.budgetBytes() + ", outstanding "
                    + grants.outstandingBytes() + ", read "
                    + senders.stream()
                            .map(some -> some.read + "/" + some.wanted + (some.isDead ? " dead" : ""))
                            .toList());
        }
    }
}
