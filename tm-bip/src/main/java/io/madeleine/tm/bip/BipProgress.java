package io.madeleine.tm.bip;

import io.madeleine.pmm.SpinLock;
import io.madeleine.pmm.spi.PostingLink;
import io.madeleine.pmm.spi.ProgressSource;
import io.madeleine.tm.bip.io.DatagramPort;
import io.madeleine.tm.bip.io.FaultyPort;
import io.madeleine.tm.bip.protocol.Datagram;
import io.madeleine.tm.bip.protocol.DatagramLayout;
import io.madeleine.tm.bip.protocol.Endpoint;
import io.madeleine.tm.bip.protocol.GrantScheduler;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * Drives the connections of an adapter: reads the socket, keeps the timers, and makes upcalls.
 *
 * <p>Threading: as {@link ProgressSource}; any thread may call {@link #listReady}, {@link #remove} and {@link #wake}.
 */
final class BipProgress implements ProgressSource {
    /** When the system takes no datagram, the next attempt comes after this time. */
    static final long RETRY_NS = 100_000;

    /** A sender for whose bytes there is no memory tries again after this time. */
    static final long MEMORY_RETRY_NS = 10_000_000;

    /** One poll takes at most this many datagrams, so that timers and other networks get their turn. */
    private static final int MOST_DATAGRAMS = 64;

    /** After a datagram went or came, each poll looks at the socket for this time. */
    private static final long HOT_NS = 200_000;

    /**
     * Later a poll looks at the socket if the reactor says so, or after this time: the engine asks the reactor once in
     * many polls, and a program that polls a thousand times a second would wait for all of them.
     */
    private static final long COLD_LOOK_NS = 50_000;

    /** With more connections a thread that leaves wakes the sleeper instead: to check them all takes longer. */
    private static final int MOST_REARMED = 32;

    private final BipAdapter adapter;
    private final DatagramPort port;
    private final Datagram datagram;
    private final Output output;
    private final Timers timers;
    private final GrantScheduler grants;
    private final ConnectionTable connections = new ConnectionTable();
    private final ReadyList ready = new ReadyList();
    private final SpinLock polling = new SpinLock();
    private final AtomicLong polls = new AtomicLong(); // written by the thread that polls
    private final boolean delays;
    private final boolean followsPeers;
    private final long coalesceNs;
    private @Nullable BipConnection firstTouched;
    private @Nullable BipConnection firstReady;
    private volatile @Nullable BipConnection keeper; // the connection that held packets back last
    private volatile boolean readable;
    private volatile boolean armed;
    private boolean closed; // guarded by polling
    private long lastArrivalNs;
    private long lastLookNs;
    private long idleCheckNs;
    private int batch = 1;

    /**
     * @param coalesceNs how long a packet of a dense stream may wait for others
     * @param followsPeers whether a peer may change its address
     */
    BipProgress(
            BipAdapter adapter,
            DatagramPort port,
            Timers timers,
            GrantScheduler grants,
            Arena arena,
            long coalesceNs,
            boolean followsPeers) {
        this.adapter = adapter;
        this.port = port;
        this.datagram = new Datagram(arena);
        this.output = new Output(port, arena);
        this.timers = timers;
        this.grants = grants;
        this.coalesceNs = coalesceNs;
        this.followsPeers = followsPeers;
        this.delays = port instanceof FaultyPort;
        this.lastArrivalNs = System.nanoTime();
        this.lastLookNs = lastArrivalNs;
        this.idleCheckNs = lastArrivalNs;
    }

    Output output() {
        return output;
    }

    Timers timers() {
        return timers;
    }

    /** A connection has changed: perhaps others wait for room that it leaves. */
    void noteGrants() {
        timers.note(grants.nextDeadlineNs());
    }

    ConnectionTable connections() {
        return connections;
    }

    boolean followsPeers() {
        return followsPeers;
    }

    /** How long a packet of a dense stream may wait for others. */
    long coalesceNs() {
        return coalesceNs;
    }

    /** The calling thread is about to send: flushes what it has held back for another peer. */
    void sendsOver(BipConnection connection) {
        BipConnection before = keeper;
        if (before != null && before != connection) {
            before.flushOwn();
        }
    }

    /** Whether this connection has held something back last. */
    boolean isKeptBy(BipConnection connection) {
        return keeper == connection;
    }

    /** A connection holds something back. */
    void keeps(BipConnection connection) {
        if (keeper != connection) {
            keeper = connection;
        }
    }

    void listReady(BipConnection connection) {
        ready.push(connection);
    }

    void remove(BipConnection connection) {
        connections.remove(connection);
    }

    /** A handshake has failed. Under the manager's lock. */
    void refused(BipConnection connection) {
        adapter.refused(connection);
    }

    /** A closed connection is gone, and its peer lacks messages. */
    void undelivered(BipConnection connection, long bytes) {
        adapter.undelivered(connection, bytes);
    }

    /** The reactor found the socket ready. */
    void onReady() {
        readable = true;
    }

    /** How many polls there were; other threads may see the number a moment late. */
    long pollCount() {
        return polls.getOpaque();
    }

    /** Whether the session sleeps in its reactor, which watches the socket. */
    boolean isArmed() {
        return armed;
    }

    /** Something has arrived and nobody polls: the session's own thread does until the peer has its answers. */
    void ring() {
        readable = true;
        timers.note(System.nanoTime());
    }

    /** The endpoint of a connection whose TLS handshake is over. */
    Endpoint protectedEndpoint(SecureOpening opening, long nowNs) throws SSLException {
        return adapter.protectedEndpoint(opening, nowNs);
    }

    /** Tells the leader of an event. Any thread, after it has made the event visible. */
    void wake() {
        if (armed) {
            adapter.wakeReactor();
        }
    }

    // ---- the poll

    @Override
    public int poll(long nowNs) {
        return pollSocket(nowNs) + adapter.pollHandshakes(nowNs) + upcalls();
    }

    /** Reads the socket and serves the timers; also for the thread that closes the adapter. */
    int pollSocket(long nowNs) {
        if (!polling.tryLock()) {
            return 0; // another thread does it: the adapter is being closed
        }
        try {
            return closed ? 0 : pollAlone(nowNs);
        } finally {
            polling.unlock();
        }
    }

    /** Reads nothing more. When this returns, no thread uses the port to receive. */
    void close() {
        polling.lock();
        try {
            closed = true;
        } finally {
            polling.unlock();
        }
    }

    private int pollAlone(long nowNs) {
        polls.setOpaque(polls.getPlain() + 1);
        int work = 0;
        BipConnection keeping = keeper;
        if (keeping != null) {
            keeping.flushOwnOrOld(nowNs);
        }
        if (delays) {
            pumpDelayed(nowNs);
        }
        if (looksAtSocket(nowNs)) {
            work += read(nowNs);
        }
        if (timers.isDue(nowNs)) {
            work += flushDue(nowNs);
        }
        if (nowNs - idleCheckNs >= 0) {
            probeIdle(nowNs);
        }
        return work;
    }

    private boolean looksAtSocket(long nowNs) {
        return readable
                || nowNs - lastArrivalNs < HOT_NS
                || nowNs - output.lastSentNs() < HOT_NS
                || nowNs - lastLookNs >= COLD_LOOK_NS;
    }

    /** Lets the port send and deliver what it has delayed. */
    private void pumpDelayed(long nowNs) {
        output.pump(nowNs);
        readable = true;
        timers.note(port.nextDeadlineNs());
    }

    private int read(long nowNs) {
        int taken = 0;
        int most = nowNs - lastLookNs < COLD_LOOK_NS ? batch : MOST_DATAGRAMS; // all after a long pause
        long readNs = nowNs;
        readable = false;
        lastLookNs = nowNs;
        for (; taken < most; taken++) {
            InetSocketAddress from = port.receive(datagram);
            if (from == null) {
                break;
            }
            readNs = System.nanoTime(); // the poll may have begun long ago: round trips would seem too short
            if (datagram.isIntact()) {
                take(from, readNs);
            }
        }
        if (taken > 0) {
            lastArrivalNs = readNs;
        }
        if (taken == most) {
            readable = true;
            batch = Math.min(2 * most, MOST_DATAGRAMS);
        } else {
            batch = Math.max(1, taken); // a lone datagram is handled before the next look at the socket
        }
        touchRaised();
        return taken + flushTouched(readNs);
    }

    /** Handles a datagram. One for which there is no memory counts as lost: its sender repeats it, others go on. */
    private void take(InetSocketAddress from, long nowNs) {
        try {
            dispatch(from, nowNs);
        } catch (OutOfMemoryError e) {
            adapter.outOfMemory(e, nowNs);
        }
    }

    /** Marks the connections whose senders may send more because another one has moved. */
    private void touchRaised() {
        for (long id = grants.takeRaised(); id != 0; id = grants.takeRaised()) {
            BipConnection found = connections.find(id);
            if (found != null) {
                touch(found);
            }
        }
    }

    private int flushTouched(long nowNs) {
        int work = 0;
        for (BipConnection each = firstTouched; each != null; ) {
            BipConnection next = each.nextTouched;
            each.nextTouched = null;
            each.isTouched = false;
            work += each.flushAfterArrival(nowNs) ? 1 : 0;
            if (each.hasWork()) {
                ready.push(each);
            }
            each = next;
        }
        firstTouched = null;
        return work;
    }

    private void dispatch(InetSocketAddress from, long nowNs) {
        int kind = datagram.kind();
        switch (kind) {
            case DatagramLayout.INIT, DatagramLayout.OPEN -> adapter.onRequest(datagram, from, nowNs);
            case DatagramLayout.COOKIE, DatagramLayout.ACCEPT, DatagramLayout.DATA, DatagramLayout.SEALED -> {
                BipConnection found = connections.find(datagram.destination());
                if (found != null) {
                    touch(found); // before what may fail
                    found.receive(datagram, from, nowNs);
                } else if (kind == DatagramLayout.DATA) {
                    adapter.answer(from, DatagramLayout.UNKNOWN, 0, datagram.destination(), BipAdapter.NOTHING, nowNs);
                }
            }
            case DatagramLayout.UNKNOWN -> {
                BipConnection found = connections.findByPeer(datagram.number(), from);
                if (found != null) {
                    found.onUnknown();
                    touch(found);
                }
            }
            default -> {
                // a kind of a later version
            }
        }
    }

    /** Marks a connection to be flushed at the end of the read. */
    void touch(BipConnection connection) {
        if (!connection.isTouched) {
            connection.isTouched = true;
            connection.nextTouched = firstTouched;
            firstTouched = connection;
        }
    }

    private int flushDue(long nowNs) {
        int work = 0;
        timers.begin();
        grants.onTime(nowNs);
        touchRaised();
        work += flushTouched(nowNs);
        noteGrants();
        boolean isMemoryShort = false;
        for (BipConnection each : connections.all()) {
            long dueNs = each.dueNs();
            if (dueNs != Endpoint.NONE && dueNs - nowNs <= 0) {
                work += each.flush(nowNs, false) ? 1 : 0;
                isMemoryShort |= each.waitsForMemory();
            } else {
                timers.note(dueNs);
            }
        }
        timers.note(port.nextDeadlineNs());
        if (isMemoryShort) {
            memoryIsShort(nowNs);
        }
        if (timers.end(nowNs)) {
            for (BipConnection each : connections.all()) {
                each.rest();
            }
        }
        return work;
    }

    /** Senders wait for memory: what others do not need now is for them. */
    private void memoryIsShort(long nowNs) {
        adapter.lacksMemoryToSend(nowNs);
        for (BipConnection each : connections.all()) {
            each.giveMemoryBack();
        }
    }

    /** Probes peers that have been silent: somebody waits, perhaps for one of them. */
    private void probeIdle(long nowNs) {
        long nextNs = nowNs + adapter.idleCheckNs() / 2;
        for (BipConnection each : connections.all()) {
            if (each.idleProbeAtNs() != Endpoint.NONE && each.idleProbeAtNs() - nowNs <= 0) {
                boolean _ = each.flush(nowNs, true);
            }
            nextNs = Endpoint.earlier(nextNs, each.idleProbeAtNs());
        }
        idleCheckNs = nextNs;
    }

    private int upcalls() {
        int work = 0;
        if (firstReady == null) {
            firstReady = ready.takeAll();
        }
        for (BipConnection each = firstReady; each != null; each = firstReady) {
            firstReady = each.nextListed; // a handler may wait, and poll: that poll goes on with the next connection
            each.nextListed = null;
            each.isListed.set(false);
            work += each.upcall();
            if (each.hasWork()) {
                ready.push(each);
            }
        }
        return work;
    }

    // ---- sleeping

    @Override
    public boolean armForBlocking() {
        armed = true;
        BipConnection keeping = keeper;
        if (keeping != null) {
            keeping.flushHeldBack();
        }
        return !readable && firstReady == null && ready.isEmpty() && adapter.isQuiet();
    }

    /** The sleeper watches the socket. It may not know of a link that has to be looked at soon. */
    @Override
    public boolean rearm() {
        return connections.all().length <= MOST_REARMED && !isExpecting() && armForBlocking();
    }

    @Override
    public long longestSleepNs() {
        long nowNs = System.nanoTime();
        long longestNs = Math.min(adapter.untilHandshakesNs(nowNs), Math.max(0, idleCheckNs - nowNs));
        return isExpecting() ? Math.min(longestNs, PostingLink.LONGEST_SLEEP_NS) : longestNs;
    }

    private boolean isExpecting() {
        for (BipConnection each : connections.all()) {
            if (each.isExpecting()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public void disarm() {
        armed = false;
    }
}
