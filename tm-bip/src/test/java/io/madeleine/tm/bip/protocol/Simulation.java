package io.madeleine.tm.bip.protocol;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * Two ends of a connection, their users and the network between them, in one thread and in virtual time. The seed
 * decides everything, so a failure repeats exactly.
 */
final class Simulation {
    private static final Arena ARENA = Arena.ofAuto();
    private static final RingPool POOL = new RingPool(() -> 0);
    private static final Datagram OUT = new Datagram(ARENA);
    private static final Datagram IN = new Datagram(ARENA);
    private static final byte[] ADDRESS = {10, 0, 0, 1, 4, 2};
    private static final long SECOND_NS = 1_000_000_000L;
    private static final long PATIENCE_NS = 600 * SECOND_NS;
    private static final int LONGEST_BURST = 4096;

    /** The longest datagram with an acknowledgement of all ranges, credit for all streams, an end, and a question. */
    private static final int MOST_WITHOUT_DATA_BYTES = DatagramLayout.HEADER_BYTES
            + DatagramLayout.ACK_BYTES
            + DatagramLayout.MAX_ACK_RANGES * DatagramLayout.ACK_RANGE_BYTES
            + DatagramLayout.STREAM_COUNT * DatagramLayout.CREDIT_BYTES
            + DatagramLayout.END_BYTES
            + DatagramLayout.WANT_BYTES
            + DatagramLayout.PING_BYTES
            + DatagramLayout.TAG_BYTES;

    private static final Cookies COOKIES = new Cookies();

    /** Every fourth connection is encrypted, and takes new keys after so few datagrams. */
    private static final int SEALED_SHARE = 4;

    private static final int UPDATE_AFTER = 20;

    /** Numbers that were lost at last leave gaps until the peer hears that nobody waits for them. */
    private static final int MOST_QUIET_RANGES = 32;

    private final Random random;
    private final long seed;
    private final SimulatedNetwork network;
    private final EndpointSettings settings;
    private final Endpoint[] ends = new Endpoint[2];
    private final SimulatedUser[] users = new SimulatedUser[2];
    private long nowNs;
    private final List<Set<Long>> accepted = List.of(new HashSet<>(), new HashSet<>());
    private final Forger forger;
    private final List<Protection> protections = new ArrayList<>();
    private int acceptedCount;
    private int idleTurns;
    private int deafEnd = -1;
    private int sentBeforeDeaf = -1;
    private long deafFromNs;
    private long deafUntilNs;
    private int turns;

    Simulation(long seed) {
        this(seed, 60 * SECOND_NS);
    }

    Simulation(long seed, long peerTimeoutNs) {
        this.seed = seed;
        random = new Random(seed);
        network = new SimulatedNetwork(random);
        forger = new Forger(random, COOKIES);
        int scale = random.nextInt(40) == 0 ? 200_000 : 6_000;
        settings = new EndpointSettings(
                4096 << random.nextInt(5),
                4096 << random.nextInt(6),
                65_464,
                1_000_000,
                peerTimeoutNs,
                20 * SECOND_NS,
                seed % SEALED_SHARE == 0);
        nowNs = random.nextLong() >> 2; // a clock may begin anywhere
        long id = 1 + random.nextInt(1_000_000);
        if (settings.encrypts()) {
            for (int side = 0; side < 2; side++) {
                ends[side] = sealed(side, id);
            }
        } else {
            ends[0] = Endpoint.initiator(settings, POOL, scheduler(), id, nowNs);
        }
        users[0] = new SimulatedUser(random, 0, seed, scale);
        users[1] = new SimulatedUser(random, 1, seed, scale);
        users[0].open(ends[0]);
        if (settings.encrypts()) {
            users[1].open(ends[1]);
        }
        users[0].pauseUntilNs = nowNs;
        users[1].pauseUntilNs = nowNs;
    }

    private Endpoint sealed(int side, long id) {
        byte[][] secrets = new byte[2][Protection.SECRET_BYTES];
        secrets[0][0] = (byte) id;
        secrets[1][1] = 1;
        Protection protection = new Protection(secrets[side], secrets[1 - side], UPDATE_AFTER);
        protections.add(protection);
        return Endpoint.sealed(settings, POOL, scheduler(), id + side, id + 1 - side, protection, nowNs);
    }

    /** How often keys were changed. */
    int updateCount() {
        return protections.stream().mapToInt(Protection::updateCount).sum();
    }

    private GrantScheduler scheduler() {
        return new GrantScheduler(settings, 1 << 18, GrantScheduler.Order.values()[random.nextInt(2)]);
    }

    /** Both users send, finish and read everything; then both ends close. */
    void runWhole() {
        long startNs = nowNs;
        if (random.nextInt(4) == 0) {
            long darkNs = startNs + (long) (random.nextDouble() * SECOND_NS);
            network.darken(darkNs, darkNs + 5 * SECOND_NS);
        }
        boolean shrinks = random.nextInt(8) == 0;
        if (random.nextInt(8) == 0) {
            deafEnd = random.nextInt(2);
            deafFromNs = startNs + random.nextInt(20_000_000);
            deafUntilNs = deafFromNs + 10 * SECOND_NS;
        }
        if (random.nextInt(8) == 0) {
            users[random.nextInt(2)].pauseUntilNs = startNs + 10 * SECOND_NS; // it computes
        }
        while (!isTransferred()) {
            check(nowNs - startNs < PATIENCE_NS, "no progress");
            turn();
            if (shrinks && nowNs - startNs > 10_000_000) {
                network.shrink();
                shrinks = false;
            }
        }
        quieten();
        ends[0].close(nowNs, random.nextBoolean());
        if (random.nextBoolean()) {
            flush(0);
            turn();
        }
        ends[1].close(nowNs, random.nextBoolean());
        long closedNs = nowNs;
        while (ends[0].state() != Endpoint.State.GONE || ends[1].state() != Endpoint.State.GONE) {
            check(nowNs - closedNs <= settings.longestLingerNs() + SECOND_NS, "a closed end stays");
            turn();
        }
    }

    /** One user sends and closes while the other computes for longer than a silent peer is waited for, but answers. */
    void runLeaving() {
        long startNs = nowNs;
        users[1].pauseUntilNs = startNs + 2 * settings.lingerNs();
        while (nowNs - startNs < SECOND_NS || ends[1] == null || ends[0].state() == Endpoint.State.CALLING) {
            check(nowNs - startNs < PATIENCE_NS, "no connection");
            turn();
        }
        ends[0].close(nowNs, true);
        while (!ends[1].hasPeerEnded()) {
            check(nowNs - startNs < PATIENCE_NS, "what was sent before the close did not arrive");
            check(ends[1].state() == Endpoint.State.ESTABLISHED, ends[1].lossReason());
            turn();
            if (nowNs - users[1].pauseUntilNs >= 0) {
                users[1].readRest(ends[1]);
                flush(1);
            }
        }
        users[1].readRest(ends[1]);
        check(users[1].hasReadWhatWasAppendedBy(users[0]), "not all that was sent before the close can be read");
    }

    /** The network fails for ever: both ends must notice within the time that was set, if something is under way. */
    void runDeath() {
        long startNs = nowNs;
        long deadNs = startNs + (long) (random.nextDouble() * SECOND_NS / 10);
        network.darken(deadNs, Long.MAX_VALUE);
        boolean wasWaiting = false;
        while (nowNs - deadNs < 2 * settings.peerTimeoutNs()) {
            turn();
            if (nowNs - deadNs >= SECOND_NS / 2 && ends[0].state() == Endpoint.State.ESTABLISHED) {
                wasWaiting |= ends[0].inFlightBytes() > 0;
            }
            if (ends[0].nextDeadlineNs() == Endpoint.NONE && nextNs() == Endpoint.NONE) {
                break;
            }
        }
        if (wasWaiting) {
            check(ends[0].state() == Endpoint.State.LOST, "the death was not noticed");
        }
    }

    private boolean isTransferred() {
        return ends[1] != null
                && users[0].hasReadAllOf(users[1])
                && users[1].hasReadAllOf(users[0])
                && ends[0].hasPeerEnded()
                && ends[1].hasPeerEnded();
    }

    /** With nothing left to do, no timer may remain, and memory goes back. */
    private void quieten() {
        long startNs = nowNs;
        while (ends[0].nextDeadlineNs() != Endpoint.NONE || ends[1].nextDeadlineNs() != Endpoint.NONE) {
            check(nowNs - startNs < PATIENCE_NS, "a quiet connection keeps a timer");
            turn();
        }
        for (Endpoint end : ends) {
            end.rest();
            check(end.inFlightBytes() == 0, "bytes under way in a quiet connection");
            check(end.receivedRanges() <= MOST_QUIET_RANGES, end.receivedRanges() + " ranges in a quiet connection");
        }
    }

    private long nextNs() {
        long next = network.nextNs() == Long.MAX_VALUE ? Endpoint.NONE : network.nextNs();
        for (int i = 0; i < 2; i++) {
            if (isDeaf(i)) {
                next = Endpoint.earlier(next, deafUntilNs);
            } else if (ends[i] != null) {
                next = Endpoint.earlier(next, ends[i].nextDeadlineNs());
                if (users[i].pauseUntilNs - nowNs > 0) {
                    next = Endpoint.earlier(next, users[i].pauseUntilNs);
                }
            }
        }
        return next;
    }

    /** Whether this end computes, and nobody drives its network. */
    private boolean isDeaf(int end) {
        if (end != deafEnd || nowNs < deafFromNs || nowNs >= deafUntilNs) {
            return false;
        }
        if (sentBeforeDeaf < 0) {
            sentBeforeDeaf = network.sentCount[end];
            network.deafen(end, deafUntilNs);
        }
        int most = (settings.windowBytes(1) + settings.windowBytes(3)) / 500 + 200;
        check(network.sentCount[end] - sentBeforeDeaf < most, "a storm towards an end that is busy");
        return true;
    }

    /** Goes to the next event and handles what is due. */
    private void turn() {
        boolean moved = false;
        for (int i = 0; i < 2; i++) {
            if (isDeaf(i)) {
                continue;
            }
            if (ends[i] != null && ends[i].state() == Endpoint.State.ESTABLISHED) {
                for (int steps = 0; steps < 4 && users[i].step(ends[i], nowNs); steps++) {
                    moved = true;
                    flush(i);
                }
            }
            flush(i);
        }
        long next = nextNs();
        if (next == Endpoint.NONE) {
            idleTurns = moved ? 0 : idleTurns + 1;
            check(idleTurns < 4, "nothing left to wait for, and not done");
            return;
        }
        idleTurns = 0;
        check(++turns < 2_000_000, "turns without end");
        nowNs = next - nowNs > 0 ? next : nowNs;
        for (int to = network.take(nowNs, IN); to >= 0; to = network.take(nowNs, IN)) {
            receive(to);
        }
        checkBounds();
        int victim = random.nextInt(2);
        if (ends[victim] != null && !isDeaf(victim)) {
            check(!forger.isBelieved(ends[victim], IN, nowNs, settings.encrypts()), "a forged datagram was believed");
        }
    }

    private void receive(int to) {
        if (!IN.isIntact()) {
            return;
        }
        boolean isRequest = IN.kind() == DatagramLayout.INIT || IN.kind() == DatagramLayout.OPEN;
        if (to == 1 && isRequest) {
            onRequest();
        } else if (!isRequest && ends[to] != null && IN.destination() == ends[to].ownId()) {
            boolean isData = IN.hasFrames();
            boolean taken = ends[to].receive(nowNs, IN);
            check(!taken || !isData || accepted.get(to).add(IN.number()), "a packet number was taken twice");
        } else if (IN.kind() == DatagramLayout.UNKNOWN && ends[to] != null && IN.number() == ends[to].remoteId()) {
            ends[to].onUnknown();
        }
        if (ends[to] != null && ends[to].state() == Endpoint.State.GONE && IN.hasFrames()) {
            OUT.begin(DatagramLayout.UNKNOWN, 0, IN.destination(), 0);
            OUT.seal();
            network.send(nowNs, 1 - to, OUT);
        }
    }

    private void onRequest() {
        if (IN.kind() == DatagramLayout.INIT) {
            OUT.begin(DatagramLayout.COOKIE, IN.number(), 0, 0);
            OUT.bytes().put(COOKIES.make(ADDRESS, IN.number(), nowNs));
            check(OUT.seal() <= IN.length(), "the answer to a stranger is longer than its request");
            network.send(nowNs, 0, OUT);
            return;
        }
        byte[] cookie = new byte[DatagramLayout.COOKIE_BYTES];
        IN.bytes().get(DatagramLayout.HEADER_BYTES, cookie);
        if (!COOKIES.isValid(cookie, ADDRESS, IN.number(), nowNs)) {
            return;
        }
        if (ends[1] == null) {
            acceptedCount++;
            ends[1] = Endpoint.acceptor(
                    settings, POOL, scheduler(), 2_000_000 + random.nextInt(1000), IN.number(), nowNs);
            users[1].open(ends[1]);
        } else {
            ends[1].acceptAgain();
        }
    }

    private void flush(int side) {
        Endpoint end = ends[side];
        if (end == null) {
            return;
        }
        int sent = 0;
        for (int bytes = end.produce(nowNs, OUT, false); bytes > 0; bytes = end.produce(nowNs, OUT, false)) {
            check(++sent < LONGEST_BURST, "datagrams without end");
            check(end.timeoutCount() <= 1 || bytes <= MOST_WITHOUT_DATA_BYTES, "data to an end that does not answer");
            network.send(nowNs, 1 - side, OUT);
        }
        long due = end.nextDeadlineNs();
        if (due != Endpoint.NONE && (due - nowNs <= 0 || due - nowNs > 20 * SECOND_NS)) { // the text takes long to make
            check(false, "a deadline " + (due - nowNs) + " ns away, " + end.describeTimers(nowNs));
        }
    }

    private void checkBounds() {
        for (Endpoint end : ends) {
            if (end == null) {
                continue;
            }
            for (int i = 0; i < DatagramLayout.STREAM_COUNT; i++) {
                check(end.in(i).readableBytes() <= settings.windowBytes(i), "more bytes than the window");
                check(end.out(i).room() >= 0, "more bytes than the ring");
            }
            check(end.recordCount() <= 2 * SentPackets.MOST_RECORDS, "too many records");
            check(end.receivedRanges() <= 257, "too many ranges");
            check(end.state() != Endpoint.State.LOST || end.lossReason().contains("peer-timeout"), end.lossReason());
        }
    }

    private void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError("seed " + seed + ": " + what + "; " + this);
        }
    }

    @Override
    public String toString() {
        return network + "; " + users[0] + "; " + users[1] + "; " + settings + "; " + ends[0].state() + " "
                + (ends[1] == null ? "" : ends[1].state()) + ", accepted " + acceptedCount;
    }
}
