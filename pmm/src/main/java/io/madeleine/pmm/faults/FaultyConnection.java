package io.madeleine.pmm.faults;

import io.madeleine.api.LossKind;
import io.madeleine.pmm.spi.ConnectionListener;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.PostingLink;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.StaticLink;
import io.madeleine.pmm.spi.TransmissionLink;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A connection with faults in the direction to this process. What arrives is taken out of the links in the poll and
 * whenever a thread looks for it.
 *
 * <p>Threading: as the connection that it decorates; a lock guards the receiving halves, since the poll takes from
 * them, too.
 */
final class FaultyConnection implements ProtocolConnection, ConnectionListener {
    /** How often the poll checks whether all that came before a loss is due. */
    private static final long LOOK_NS = 10_000_000;

    private final ProtocolConnection inner;
    private final String direction;
    private final Timing timing;
    private final Consumer<FaultyConnection> whenClosed;
    private final ReentrantLock lock = new ReentrantLock();
    private final List<DelayedStream> streams = new ArrayList<>();
    private final List<TransmissionLink> links;
    private volatile @Nullable ConnectionListener listener;
    private volatile boolean wanted = true;
    private volatile @Nullable Loss loss;
    private volatile boolean cut;
    private boolean innerWanted = true;

    /** Whether nothing is handed on any more; guarded by the lock. */
    private boolean dropped;

    /** A loss that is told once everything that came before it is due. */
    private record Loss(LossKind kind, boolean orderly, String reason) {}

    /** Decorates a new connection; {@code whenClosed} is told when it is closed. */
    FaultyConnection(
            ProtocolConnection inner,
            DirectionFaults faults,
            String direction,
            RandomGenerator random,
            Consumer<FaultyConnection> whenClosed) {
        this.inner = inner;
        this.direction = direction;
        this.whenClosed = whenClosed;
        long nowNs = System.nanoTime();
        this.timing = new Timing(faults, random, nowNs);
        List<TransmissionLink> made = new ArrayList<>();
        for (TransmissionLink link : inner.links()) {
            DelayedStream stream = new DelayedStream(link, nowNs);
            streams.add(stream);
            made.add(around(link, stream));
        }
        this.links = List.copyOf(made);
    }

    private TransmissionLink around(TransmissionLink link, DelayedStream stream) {
        return switch (link) {
            case StaticLink fixed -> new FaultyStaticLink(this, fixed, stream);
            case DynamicLink dynamic ->
                dynamic instanceof PostingLink
                        ? new FaultyPostingLink(this, dynamic, stream)
                        : new FaultyDynamicLink(this, dynamic, stream);
        };
    }

    /** What a thread does with a stream while it holds the lock. */
    interface Use {
        long apply(DelayedStream stream, long nowNs);
    }

    /** Takes in what has arrived, and then uses the stream. */
    long use(DelayedStream stream, Use use) {
        lock.lock();
        try {
            long nowNs = System.nanoTime();
            int _ = stream.takeIn(nowNs, timing);
            long result = use.apply(stream, nowNs);
            adjustInterest();
            return result;
        } finally {
            lock.unlock();
        }
    }

    /** The network has to tell of further bytes only while there is room for them. */
    private void adjustInterest() {
        boolean room = true;
        for (DelayedStream stream : streams) {
            room &= stream.hasRoom();
        }
        if (room != innerWanted && !dropped) { // a closed connection gets no further calls
            innerWanted = room;
            inner.receiveInterest(room);
        }
    }

    /** If memory is short, what has arrived stays in the network until the next call. */
    private int takeIn(long nowNs) {
        int taken = 0;
        lock.lock();
        try {
            for (DelayedStream stream : streams) {
                taken += stream.takeIn(nowNs, timing);
            }
            adjustInterest();
        } catch (OutOfMemoryError _) {
            // as above
        } finally {
            lock.unlock();
        }
        return taken;
    }

    /** Takes in what has arrived, hands on what is due, and cuts the connection when the time has come. */
    int poll(long nowNs) {
        ConnectionListener told = listener;
        if (told == null) {
            return 0;
        }
        if (!cut && timing.isCut(nowNs)) {
            cutOff();
        }
        int _ = takeIn(nowNs);
        int events = wanted && untilArrivalNs(nowNs) <= 0 ? told.onReadable() : 0;
        Loss ended = loss;
        if (ended != null && isAllDue(nowNs)) {
            loss = null;
            told.onLost(ended.kind, ended.orderly, ended.reason);
            events++;
        }
        return events;
    }

    private void cutOff() {
        cut = true;
        inner.giveUp();
        drop();
        loss = new Loss(LossKind.CONNECTION, false, whatCut());
    }

    private String whatCut() {
        return "madeleine.faults.links." + direction + ".cut-after has cut the connection";
    }

    private void drop() {
        lock.lock();
        try {
            dropped = true;
            streams.forEach(DelayedStream::close);
        } finally {
            lock.unlock();
        }
    }

    private boolean isAllDue(long nowNs) {
        lock.lock();
        try {
            return streams.stream().allMatch(stream -> stream.isAllDue(nowNs));
        } finally {
            lock.unlock();
        }
    }

    private long untilArrivalNs(long nowNs) {
        lock.lock();
        try {
            long next = Long.MAX_VALUE;
            for (DelayedStream stream : streams) {
                next = Math.min(next, stream.untilNextNs(nowNs));
            }
            return next;
        } finally {
            lock.unlock();
        }
    }

    /** How long the engine may sleep: until something is due, or the connection is cut. */
    long untilNextNs(long nowNs) {
        if (loss != null) {
            return isAllDue(nowNs) ? 0 : Math.min(timing.untilCutNs(nowNs), LOOK_NS);
        }
        long untilCutNs = cut ? Long.MAX_VALUE : timing.untilCutNs(nowNs);
        return wanted ? Math.min(untilCutNs, untilArrivalNs(nowNs)) : untilCutNs;
    }

    // ---- the network's upcalls

    @Override
    public int onReadable() {
        return takeIn(System.nanoTime());
    }

    @Override
    public void onLost(LossKind kind, boolean orderly, String reason) {
        if (!cut && loss == null) {
            loss = new Loss(kind, orderly, reason);
        }
    }

    // ---- the connection

    @Override
    public ProcessIdentity peer() {
        return inner.peer();
    }

    @Override
    public boolean bidirectional() {
        return inner.bidirectional();
    }

    @Override
    public List<TransmissionLink> links() {
        return links;
    }

    @Override
    public void start(ConnectionListener above) {
        listener = above;
        inner.start(this);
    }

    @Override
    public void receiveInterest(boolean isWanted) {
        wanted = isWanted;
    }

    @Override
    public boolean hasArrivals() {
        return untilArrivalNs(System.nanoTime()) <= 0;
    }

    @Override
    public String seenOfLoss() {
        return cut ? whatCut() : inner.seenOfLoss();
    }

    @Override
    public boolean hasLostArrivals() {
        return inner.hasLostArrivals();
    }

    @Override
    public void finish() {
        inner.finish();
    }

    @Override
    public void giveUp() {
        inner.giveUp();
        drop();
    }

    @Override
    public void close() {
        whenClosed.accept(this);
        drop();
        inner.close();
    }
}
