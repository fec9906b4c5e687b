package io.madeleine.tm.bip.protocol;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Streams of bip/long over a line of some rate, with a queue that drops what does not fit, and with losses that have
 * nothing to do with it, in virtual time. Each end looks at its socket and its timers now and then, as a busy process
 * does. The seed decides everything.
 */
final class GoodputSimulation {
    private static final Arena ARENA = Arena.ofAuto();
    private static final RingPool POOL = new RingPool(() -> 0);
    private static final Datagram OUT = new Datagram(ARENA);
    private static final Datagram IN = new Datagram(ARENA);
    private static final MemorySegment SCRATCH = MemorySegment.ofArray(new byte[8192]);
    private static final long SECOND_NS = 1_000_000_000L;
    private static final int FRAME_BYTES = 42; // headers of UDP, IP and Ethernet
    private static final int TCP_FRAME_BYTES = 66;
    private static final int LONGEST_BYTES = 1_472; // of UDP payload, on Ethernet
    private static final long INITIATOR = 1_000;
    private static final long ACCEPTOR = 2_000;

    /**
     * The path.
     *
     * @param bytesPerSecond the rate of the line, frames with their headers
     * @param queueBytes what its queue takes
     * @param roundTripNs the time of an empty line
     * @param loss the share of datagrams that are lost, each way
     * @param pollNs how long an end takes from one look to the next, on average
     */
    record Path(long bytesPerSecond, int queueBytes, long roundTripNs, double loss, long pollNs) {}

    private record Flight(long atNs, long order, int to, byte[] bytes) implements Comparable<Flight> {
        @Override
        public int compareTo(Flight other) {
            int byTime = Long.compare(atNs, other.atNs);
            return byTime != 0 ? byTime : Long.compare(order, other.order);
        }
    }

    /** A segment of TCP, or the answer to it. */
    private record Segment(long atNs, long number, boolean isAnswer) implements Comparable<Segment> {
        @Override
        public int compareTo(Segment other) {
            int byTime = Long.compare(atNs, other.atNs);
            return byTime != 0 ? byTime : Long.compare(number, other.number);
        }
    }

    /** A line in one direction. */
    private static final class Line {
        long freeNs;
        long sent;
        long dropped;
    }

    private final Random random;
    private final Path path;
    private final Line[] lines = {new Line(), new Line()};
    private final PriorityQueue<Flight> flights = new PriorityQueue<>();
    private final PriorityQueue<Segment> segments = new PriorityQueue<>();
    private @Nullable SimulatedReno tcp;
    private final List<List<byte[]>> arrived = List.of(new ArrayList<>(), new ArrayList<>()); // at each end's socket
    private final List<Endpoint> senders = new ArrayList<>();
    private final List<Endpoint> receivers = new ArrayList<>();
    private final long[] pollAtNs = {SECOND_NS, SECOND_NS}; // of the senders' end, and of the receivers'
    private final long[] read;
    private final long staggerNs;
    private final long beganNs = SECOND_NS;
    private long order;
    private long nowNs = beganNs;

    /** So many streams, each of which begins so much later than the one before. */
    GoodputSimulation(long seed, Path path, int windowBytes, int count, long staggerNs) {
        this.staggerNs = staggerNs;
        this.random = new Random(seed);
        this.path = path;
        this.read = new long[count];
        EndpointSettings settings =
                new EndpointSettings(65_536, windowBytes, 65_464, 1_000_000, 20 * SECOND_NS, SECOND_NS, false);
        GrantScheduler ofSenders = new GrantScheduler(settings, 4 << 20, GrantScheduler.Order.SHORTEST);
        GrantScheduler ofReceivers = new GrantScheduler(settings, 4 << 20, GrantScheduler.Order.FAIR);
        for (int i = 0; i < count; i++) {
            senders.add(Endpoint.initiator(settings, POOL, ofSenders, INITIATOR + i, nowNs));
            receivers.add(Endpoint.acceptor(settings, POOL, ofReceivers, ACCEPTOR + i, INITIATOR + i, nowNs));
        }
    }

    /** Runs for a time; returns how many bytes each receiver has read in it. */
    long[] run(long forNs) {
        long untilNs = nowNs + forNs;
        long[] before = read.clone();
        while (nowNs < untilNs) {
            int end = pollAtNs[0] <= pollAtNs[1] ? 0 : 1;
            Segment segment = segments.peek();
            if (segment != null && segment.atNs < pollAtNs[end]) {
                nowNs = Math.max(nowNs, segment.atNs);
                move(segments.remove());
            } else {
                nowNs = Math.max(nowNs, pollAtNs[end]);
                poll(end);
                pollAtNs[end] = nowNs + 1 + (long) (2 * random.nextDouble() * path.pollNs);
            }
            pump();
        }
        long[] moved = new long[read.length];
        for (int i = 0; i < moved.length; i++) {
            moved[i] = read[i] - before[i];
        }
        return moved;
    }

    /** The share of the line's rate that so many bytes in this time are. */
    double share(long bytes, long inNs) {
        return (double) bytes * SECOND_NS / inNs / path.bytesPerSecond;
    }

    /** The share of the datagrams that the queue had no room for. */
    double droppedShare() {
        return (double) lines[1].dropped / lines[1].sent;
    }

    /** The longest datagrams that the first sender makes. */
    int datagramBytes() {
        return senders.getFirst().datagramBytes();
    }

    private void poll(int end) {
        while (!flights.isEmpty() && flights.peek().atNs <= nowNs) {
            Flight first = flights.remove();
            arrived.get(first.to).add(first.bytes);
        }
        for (byte[] bytes : arrived.get(end)) {
            IN.clear();
            IN.bytes().put(bytes);
            IN.arrived();
            receive(end);
        }
        arrived.get(end).clear();
        for (int i = 0; i < read.length; i++) {
            if (end == 0) {
                SendStream out = senders.get(i).out(DatagramLayout.LONG_STREAM);
                boolean begins = nowNs - beganNs >= i * staggerNs;
                out.want(begins ? 1 << 24 : 0);
                for (int room = out.room(); begins && room > 0; room = out.room()) {
                    out.append(SCRATCH, 0, (int) Math.min(room, SCRATCH.byteSize()));
                }
                flush(senders.get(i), 1);
            } else {
                ReceiveStream in = receivers.get(i).in(DatagramLayout.LONG_STREAM);
                while (in.readableBytes() > 0) {
                    int bytes = (int) Math.min(in.pieceBytes(in.readableBytes()), SCRATCH.byteSize());
                    in.take(SCRATCH, 0, bytes);
                    read[i] += bytes;
                }
                flush(receivers.get(i), 0);
            }
        }
    }

    private void receive(int end) {
        if (IN.kind() == DatagramLayout.INIT || IN.kind() == DatagramLayout.OPEN) {
            receivers.get((int) (IN.number() - INITIATOR)).acceptAgain(); // cookies are tested elsewhere
        } else {
            Endpoint to = end == 0
                    ? senders.get((int) (IN.destination() - INITIATOR))
                    : receivers.get((int) (IN.destination() - ACCEPTOR));
            boolean _ = to.receive(nowNs, IN);
        }
    }

    private void flush(Endpoint end, int to) {
        while (end.produce(nowNs, OUT, false) > 0) {
            if (OUT.length() > LONGEST_BYTES) {
                end.refusedAsTooLarge();
                continue;
            }
            long atNs = pass(lines[to], OUT.length() + FRAME_BYTES);
            if (atNs > 0) {
                byte[] bytes = new byte[OUT.length()];
                OUT.bytes().get(0, bytes);
                flights.add(new Flight(atNs, order++, to, bytes));
            }
        }
    }

    /** When a frame arrives, or 0 if it does not. */
    private long pass(Line line, int frameBytes) {
        line.sent++;
        long startNs = Math.max(nowNs, line.freeNs);
        if ((startNs - nowNs) * path.bytesPerSecond / SECOND_NS + frameBytes > path.queueBytes) {
            line.dropped++;
            return 0;
        }
        line.freeNs = startNs + frameBytes * SECOND_NS / path.bytesPerSecond;
        return random.nextDouble() < path.loss ? 0 : line.freeNs + path.roundTripNs / 2;
    }

    // ---- the stream over TCP

    /** Lets a stream over TCP share the line. */
    void add(SimulatedReno stream) {
        tcp = stream;
    }

    private void pump() {
        SimulatedReno stream = tcp;
        while (stream != null && stream.permits(nowNs)) {
            long number = stream.send(nowNs);
            long atNs = pass(lines[1], SimulatedReno.SEGMENT_BYTES + TCP_FRAME_BYTES);
            if (atNs > 0) {
                segments.add(new Segment(atNs, number, false));
            }
        }
    }

    private void move(Segment segment) {
        SimulatedReno stream = tcp;
        if (stream != null && segment.isAnswer) {
            stream.acknowledged(segment.number, nowNs);
        } else if (stream != null) {
            stream.arrived();
            segments.add(new Segment(nowNs + path.roundTripNs / 2, segment.number, true));
        }
    }

    @Override
    public String toString() {
        Endpoint first = senders.getFirst();
        return path + ": " + first.state() + ", datagrams of " + first.datagramBytes() + ", window "
                + first.congestionWindowBytes() + ", round trip " + first.roundTripNs() / 1000 + " us, in flight "
                + first.inFlightBytes() + ", dropped " + lines[1].dropped + " of " + lines[1].sent + ", time-outs "
                + first.timeoutCount();
    }
}
