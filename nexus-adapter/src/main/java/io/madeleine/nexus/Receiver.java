package io.madeleine.nexus;

import static io.madeleine.api.ReceiveMode.CHEAPER;
import static io.madeleine.api.ReceiveMode.EXPRESS;

import io.madeleine.am.HandlerRunner;
import io.madeleine.api.Completion;
import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.SendMode;
import io.madeleine.nexus.wire.BulkLengths;
import io.madeleine.nexus.wire.BulkSource;
import io.madeleine.nexus.wire.Bytes;
import io.madeleine.nexus.wire.MessageBulks;
import io.madeleine.nexus.wire.ReceivedBulks;
import io.madeleine.nexus.wire.RequestLayout;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Takes the requests of one sender out of the messages of one channel. The thread that drives the networks takes what
 * has arrived and runs the request. It never waits for the rest: the rest is received in the background, and the
 * request runs when it is complete. Meanwhile requests of other senders run, and this sender's next message waits.
 *
 * <p>The usual case, a single large argument of a non-threaded handler, needs no thread of its own: the polling thread
 * receives it. A virtual thread receives a request with several large arguments, or one whose small arguments are not
 * complete. A threaded handler takes its large arguments itself.
 *
 * <p>Threading: confined to the thread that runs handlers ({@link Inbound}); while {@code busy}, to the thread that
 * receives in the background.
 */
final class Receiver extends HandlerRunner.Step {
    /** Larger memory for small arguments is not kept for the next request. */
    private static final long KEPT_BYTES = 1 << 20;

    private final Node node;
    private final Inbound inbound;
    private final NextContext next;
    private final Request request;
    private final BulkLengths lengths = new BulkLengths();
    private final MessageBulks open;
    private final ReceivedBulks received;
    private final Runnable beside = this::receiveBesideNow;
    private final Runnable arrived = this::arrived;
    private final Bytes kept = Bytes.allocate(RequestLayout.FIRST_BYTES);
    private Bytes memory = kept;

    /** The number of bytes of header and small arguments that have been taken. */
    private int taken;

    private boolean busy;

    /** Whether the sender's context is closed: what follows is for the next one. */
    private boolean isOver;

    private boolean isReceived;
    private @Nullable IncomingMessage message;
    private @Nullable Completion completion;
    private @Nullable Throwable failure;

    /** The sender's next message, begun but untouched. */
    private @Nullable IncomingMessage following;

    /** @param next gets what the sender sends after it has closed its context */
    Receiver(Node node, Inbound inbound, NextContext next) {
        this.node = node;
        this.inbound = inbound;
        this.next = next;
        this.request = new Request(node);
        this.open = new MessageBulks(node.options().argumentTimeoutNs(), lengths);
        this.received = new ReceivedBulks(node.argumentMemory());
    }

    /** Takes a message that has begun. Called by the thread that runs handlers. */
    void receive(IncomingMessage begun) {
        if (busy) {
            following = begun;
            return;
        }
        if (isOver) {
            next.keep(begun);
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
        } catch (TooLargeException e) {
            tooLarge(begun, e);
            return;
        } catch (Throwable e) {
            dropped(begun, e);
            trim();
            return;
        }
        dispatch(begun);
    }

    /**
     * Whether the sender's next message has to stay begun: a request is being received, or the sender's context is
     * closed.
     */
    boolean holdsBack() {
        return busy || isOver;
    }

    /**
     * Takes a request without large arguments that has arrived as a whole. Called by the thread that runs handlers.
     *
     * @param whole the request; valid until its handler has returned
     */
    void receiveShort(int sender, Bytes whole, int bytes) {
        try {
            int inline = whole.getInt(RequestLayout.SIZES_OFFSET);
            if (bytes < RequestLayout.FIRST_BYTES
                    || inline < 0
                    || bytes != Math.max(RequestLayout.FIRST_BYTES, RequestLayout.HEADER_BYTES + inline)) {
                throw new NexusException("a request of " + bytes + " bytes announces " + Integer.toHexString(inline)
                        + " (hexadecimal) bytes of small arguments: expected the length of the request");
            }
            request.begin(whole, RequestLayout.HEADER_BYTES, RequestLayout.HEADER_BYTES + inline, sender);
            int handler = whole.getInt(RequestLayout.HANDLER_OFFSET);
            inbound.dispatch(request, whole.getInt(RequestLayout.ENDPOINT_OFFSET), handler);
            noteGoodbye(sender, handler);
        } catch (Throwable e) {
            if (e instanceof Error) {
                inbound.dropped(sender);
            }
            node.failures().notReceived(sender, e);
        }
    }

    /**
     * Drops a message. If an error of this process is the cause, calls that may wait for the message fail ({@link
     * Inbound#dropped}).
     */
    private void dropped(IncomingMessage dropped, Throwable why) {
        if (why instanceof Error) {
            inbound.dropped(dropped.remote());
        }
        dropped.close();
        node.failures().notReceived(dropped.remote(), why);
    }

    /**
     * Ends a request with too many small arguments, of which only the first have been taken. Its sender learns why: a
     * request to an endpoint is refused, and whoever reads one of the adapter's own gets the exception as soon as it
     * reads more than has been taken.
     */
    private void tooLarge(IncomingMessage from, TooLargeException why) {
        int sender = from.remote();
        from.close();
        if (endpoint() == RequestLayout.SYSTEM_ENDPOINT) {
            request.begin(memory, RequestLayout.HEADER_BYTES, RequestLayout.FIRST_BYTES, sender);
            request.cutOff(String.valueOf(why.getMessage()));
            inbound.dispatch(request, endpoint(), handler());
        } else {
            inbound.refuse(sender, endpoint(), handler(), Refusal.Reason.TOO_LARGE);
        }
    }

    /** Notes that the sender has closed its context, if this was its goodbye. */
    private void noteGoodbye(int sender, int handler) {
        if (handler == SystemRequests.GOODBYE && node.nodes().get(sender).isClosed()) {
            isOver = true;
        }
    }

    /** Marks the request as received in the background, until {@link #run}. */
    private void becomeBusy(IncomingMessage begun) {
        busy = true;
        message = begun;
        failure = null;
    }

    // ---- small arguments

    /** Takes header and small arguments; continues where an earlier attempt ran out of data. */
    private void takeSmall(IncomingMessage from) {
        if (taken == 0) {
            from.unpack(memory.segment(), 0, RequestLayout.FIRST_BYTES, SendMode.SAFER, EXPRESS);
            checkInline();
            taken = RequestLayout.FIRST_BYTES;
        }
        int end = inlineEnd();
        while (taken < end) {
            int to = RequestLayout.pieceEnd(taken, end);
            makeRoom(to);
            from.unpack(memory.segment(), taken, to - taken, SendMode.SAFER, EXPRESS);
            taken = to;
        }
        if (sizes() >= 0) {
            from.endUnpacking();
        }
    }

    private void checkInline() {
        int inline = sizes() & ~RequestLayout.HAS_BULKS;
        if (inline > node.options().maxRequestBytes()) {
            throw new TooLargeException(inline, node.options().maxRequestBytes());
        }
    }

    private int sizes() {
        return memory.getInt(RequestLayout.SIZES_OFFSET);
    }

    private int inlineEnd() {
        return RequestLayout.HEADER_BYTES + (sizes() & ~RequestLayout.HAS_BULKS);
    }

    private void makeRoom(int bytes) {
        if (bytes > memory.size()) {
            Bytes larger = Bytes.allocate(bytes);
            MemorySegment.copy(memory.segment(), 0, larger.segment(), 0, taken);
            memory = larger;
        }
    }

    // ---- large arguments

    /** Continues when the small arguments are complete. */
    private void dispatch(IncomingMessage from) {
        try {
            boolean isBegun = true;
            if (sizes() >= 0) {
                from.close();
                request.begin(memory, RequestLayout.HEADER_BYTES, inlineEnd(), from.remote());
            } else {
                isBegun = beginLarge(from);
            }
            if (isBegun) {
                int handler = handler();
                inbound.dispatch(request, endpoint(), handler);
                noteGoodbye(from.remote(), handler);
            }
        } catch (Throwable e) {
            dropped(from, e);
        }
        if (!busy) {
            trim();
        }
    }

    /** Called when a request is over, however it has ended: frees memory that is too large to be kept. */
    private void trim() {
        if (memory.size() > KEPT_BYTES) {
            memory = kept;
            request.forget();
        }
    }

    /**
     * Begins a request with large arguments; false if they are received in the background first, or if it is refused.
     */
    private boolean beginLarge(IncomingMessage from) {
        lengths.read(memory, RequestLayout.HEADER_BYTES, inlineEnd());
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
        if (endpoint() == RequestLayout.SYSTEM_ENDPOINT) {
            beginRequest(from, BulkSource.NO_ROOM); // the reader of the argument gets the error
            return true;
        }
        inbound.refuse(from.remote(), endpoint(), handler(), Refusal.Reason.OVERLOADED);
        return false;
    }

    private int endpoint() {
        return memory.getInt(RequestLayout.ENDPOINT_OFFSET);
    }

    private int handler() {
        return memory.getInt(RequestLayout.HANDLER_OFFSET);
    }

    private void beginRequest(IncomingMessage from, BulkSource bulks) {
        int end = inlineEnd() - lengths.tableBytes();
        request.begin(memory, RequestLayout.HEADER_BYTES, end, from.remote(), lengths.count(), bulks);
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
        } catch (Throwable e) { // out of memory, for instance
            failure = e;
            inbound.post(this);
        }
    }

    /** Called when the large argument is complete or its reception has failed; from any thread. */
    private void arrived() {
        Completion end = completion;
        IncomingMessage ended = message;
        try {
            if (end != null) {
                end.await(); // does not wait: it is done; throws if it failed
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

    // ---- in the background

    private void receiveBeside() {
        try {
            Thread.ofVirtual().name("nexus-receive").start(beside);
        } catch (Throwable e) { // out of memory for a thread
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

    /**
     * Called by the thread that runs handlers when the reception in the background has ended, with or without success.
     */
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
            if (why instanceof TooLargeException tooLarge) {
                tooLarge(from, tooLarge);
            } else if (why != null) {
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
        trim();
    }

    private void drop(IncomingMessage from, Throwable why) {
        try {
            dropped(from, why); // first: it ends the message, which still references the memory
        } finally {
            received.close();
            trim();
        }
    }
}
