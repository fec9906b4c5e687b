package io.madeleine.nexus;

import static io.madeleine.api.ReceiveMode.CHEAPER;
import static io.madeleine.api.ReceiveMode.EXPRESS;

import io.madeleine.am.HandlerRunner;
import io.madeleine.api.Completion;
import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.SendMode;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Takes the requests of one sender out of the messages of one channel. What is there is taken and carried out by the thread that
 * drives the networks. Nobody waits there for what is not: it is received beside, the request is carried out when it is
 * whole, and until then other senders' are. That sender's next message waits for its turn.
 *
 * <p>A single large argument of a non-threaded handler, the usual case, is received by whoever polls, without a thread of
 * its own; a request that does not come whole up to there, or has several, is received by a virtual thread. A threaded handler
 * takes large arguments itself.
 *
 * <p>Threading: by whoever runs handlers ({@link Inbound}); while {@code busy} by who receives beside.
 */
final class Receiver extends HandlerRunner.Step {
    /** Memory for small arguments that is not kept for the next request. */
    private static final long KEPT_BYTES = 1 << 20;

    private final Node node;
    private final Inbound inbound;
    private final Request request;
    private final BulkLengths lengths = new BulkLengths();
    private final MessageBulks open;
    private final ReceivedBulks received;
    private final Runnable beside = this::receiveBesideNow;
    private final Runnable arrived = this::arrived;
    private Bytes memory = Bytes.allocate(Wire.FIRST_BYTES);

    /** How many bytes of the small arguments and what is before them have been taken. */
    private int taken;

    private boolean busy;
    private boolean isReceived;
    private @Nullable IncomingMessage message;
    private @Nullable Completion completion;
    private @Nullable Throwable failure;

    /** The sender's next message, begun but not touched. */
    private @Nullable IncomingMessage following;

    Receiver(Node node, Inbound inbound) {
        this.node = node;
        this.inbound = inbound;
        this.request = new Request(node);
        this.open = new MessageBulks(node.options().argumentTimeoutNs(), lengths);
        this.received = new ReceivedBulks(node.argumentMemory());
    }

    /** A message has begun. From a thread that runs handlers. */
    void receive(IncomingMessage begun) {
        if (busy) {
            following = begun;
            return;
        }
        taken = 0;
        try {
            begun.within(0, TimeUnit.NANOSECONDS); // never waits
            takeSmall(begun);
        } catch (DeadlineExceededException _) {
            becomeBusy(begun);
            receiveBeside();
            return;
        } catch (Throwable e) {
            dropped(begun, e);
            return;
        }
        dispatch(begun);
    }

    /** What waits for it, if it was a part of an answer or a stream, is told if it may be this process that is to blame. */
    private void dropped(IncomingMessage dropped, Throwable why) {
        if (why instanceof Error) {
            inbound.dropped(dropped.remote());
        }
        dropped.close();
        node.failures().notReceived(dropped.remote(), why);
    }

    /** From now on until {@link #run} the request is received beside. */
    private void becomeBusy(IncomingMessage begun) {
        busy = true;
        message = begun;
        failure = null;
    }

    // ---- small arguments

    /** Takes what comes before the large arguments; goes on where an earlier attempt did not find more. */
    private void takeSmall(IncomingMessage from) {
        if (taken == 0) {
            from.unpack(memory.segment(), 0, Wire.FIRST_BYTES, SendMode.SAFER, EXPRESS);
            checkInline();
            taken = Wire.FIRST_BYTES;
        }
        int end = inlineEnd();
        while (taken < end) {
            int to = Wire.pieceEnd(taken, end);
            makeRoom(to);
            from.unpack(memory.segment(), taken, to - taken, SendMode.SAFER, EXPRESS);
            taken = to;
        }
        if (sizes() >= 0) {
            from.endUnpacking();
        }
    }

    private void checkInline() {
        int inline = sizes() & ~Wire.HAS_BULKS;
        if (inline > node.options().maxRequestBytes()) {
            throw new NexusException("a request with " + inline + " bytes of small arguments was announced: expected at"
                    + " most " + node.options().maxRequestBytes() + " (ContextOptions.maxRequestBytes)");
        }
    }

    private int sizes() {
        return memory.getInt(Wire.SIZES_OFFSET);
    }

    private int inlineEnd() {
        return Wire.HEADER_BYTES + (sizes() & ~Wire.HAS_BULKS);
    }

    private void makeRoom(int bytes) {
        if (bytes > memory.size()) {
            Bytes larger = Bytes.allocate(bytes);
            MemorySegment.copy(memory.segment(), 0, larger.segment(), 0, taken);
            memory = larger;
        }
    }

    // ---- large arguments

    /** The small arguments are there. */
    private void dispatch(IncomingMessage from) {
        try {
            if (sizes() >= 0) {
                from.close();
                request.begin(memory, Wire.HEADER_BYTES, inlineEnd(), from.remote());
            } else if (!beginLarge(from)) {
                return;
            }
            inbound.dispatch(request, endpoint(), handler());
        } catch (Throwable e) {
            dropped(from, e);
        }
        if (memory.size() > KEPT_BYTES) {
            memory = Bytes.allocate(Wire.FIRST_BYTES);
        }
    }

    /** Begins a request with large arguments; false if it is received beside first, or is refused. */
    private boolean beginLarge(IncomingMessage from) {
        lengths.read(memory, Wire.HEADER_BYTES, inlineEnd());
        if (!inbound.takesLargeInPlace(endpoint(), handler())) {
            open.begin(from);
            beginRequest(from, open);
            return true;
        }
        long bytes = lengths.sum(0);
        if (node.argumentMemory().tryReserve(bytes)) {
            becomeBusy(from);
            received.begin(bytes);
            receiveLarge(from);
            return false;
        }
        from.close();
        if (endpoint() == Wire.SYSTEM_ENDPOINT) {
            beginRequest(from, BulkSource.NO_ROOM); // whoever is concerned hears of that when it is read
            return true;
        }
        inbound.refuse(from.remote(), endpoint(), handler(), Refusal.Reason.OVERLOADED);
        return false;
    }

    private int endpoint() {
        return memory.getInt(Wire.ENDPOINT_OFFSET);
    }

    private int handler() {
        return memory.getInt(Wire.HANDLER_OFFSET);
    }

    private void beginRequest(IncomingMessage from, BulkSource bulks) {
        int end = inlineEnd() - lengths.tableBytes();
        request.begin(memory, Wire.HEADER_BYTES, end, from.remote(), lengths.count(), bulks);
    }

    private void receiveLarge(IncomingMessage from) {
        isReceived = true;
        if (lengths.count() > 1) {
            receiveBeside();
            return;
        }
        long bytes = lengths.get(0);
        try {
            from.unpack(received.add(bytes), 0, bytes, SendMode.CHEAPER, CHEAPER);
            Completion end = from.endUnpackingAsync();
            completion = end;
            end.onDone(arrived);
        } catch (Throwable e) { // no memory, for instance
            failure = e;
            inbound.post(this);
        }
    }

    /** The large argument is there, or will never be; from any thread. */
    private void arrived() {
        Completion end = completion;
        IncomingMessage ended = message;
        try {
            if (end != null) {
                end.await(); // it is over: this says how
            }
        } catch (Throwable e) {
            failure = e;
        }
        try {
            if (ended != null) {
                ended.close();
            }
        } finally {
            inbound.post(this);
        }
    }

    // ---- beside

    private void receiveBeside() {
        try {
            Thread.ofVirtual().name("nexus-receive").start(beside);
        } catch (Throwable e) { // no memory for a thread
            failure = e;
            inbound.post(this);
        }
    }

    private void receiveBesideNow() {
        IncomingMessage from = message;
        try {
            if (from != null) {
                from.within(Long.MAX_VALUE, TimeUnit.NANOSECONDS);
                receiveAll(from);
            }
        } catch (Throwable e) {
            failure = e;
        }
        inbound.post(this);
    }

    private void receiveAll(IncomingMessage from) {
        if (!isReceived) {
            takeSmall(from);
            return;
        }
        for (int i = 0; i < lengths.count(); i++) {
            boolean isLast = i == lengths.count() - 1;
            long bytes = lengths.get(i);
            from.unpack(received.add(bytes), 0, bytes, SendMode.CHEAPER, isLast ? CHEAPER : EXPRESS);
        }
        from.endUnpacking();
        from.close();
    }

    /** What was received beside is there, or will never be. From a thread that runs handlers. */
    @Override
    protected void run() {
        IncomingMessage from = message;
        Throwable why = failure;
        boolean isWhole = isReceived;
        message = null;
        completion = null;
        isReceived = false;
        busy = false;
        try {
            if (from == null) {
                return;
            }
            if (why != null) {
                drop(from, why);
            } else if (isWhole) {
                dispatchWhole(from);
            } else {
                dispatch(from);
            }
        } finally {
            IncomingMessage begun = following;
            if (begun != null && !busy) {
                following = null;
                receive(begun);
            }
        }
    }

    private void dispatchWhole(IncomingMessage from) {
        try {
            beginRequest(from, received);
            inbound.dispatch(request, endpoint(), handler());
        } catch (Throwable e) {
            drop(from, e);
        }
    }

    private void drop(IncomingMessage from, Throwable why) {
        try {
            dropped(from, why); // before its memory serves others
        } finally {
            received.close();
        }
    }
}
