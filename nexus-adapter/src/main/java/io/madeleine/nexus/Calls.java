package io.madeleine.nexus;

import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.WaitInterruptedException;
import io.madeleine.nexus.wire.Link;
import io.madeleine.nexus.wire.RequestLayout;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The calls that this process makes: numbers them, sends them, and ends each exactly once: by its answer, its deadline,
 * its cancellation, or the death of the other process. The thread that removes a call from the table ends it.
 *
 * <p>Threading: thread-safe.
 */
final class Calls implements NodeListener {
    static final int CALL = RequestLayout.id("call");
    private static final int CANCEL = RequestLayout.id("cancel");

    /** Flag in the time to the deadline, which is never negative: metadata precede the arguments. */
    static final long HAS_METADATA = Long.MIN_VALUE;

    private static final int CALLS_BITS = 40;
    private static final AtomicLong CONTEXTS = new AtomicLong();

    /**
     * A waiting thread notices its deadline itself. If it has not done so this long afterwards, the sweeper ends the
     * call.
     */
    private static final long LEFT_NS = 1_000_000_000L;

    /** How long after the deadline of a call the notice that it is cancelled may still be sent. */
    private static final long NOTICE_NS = 1_000_000_000L;

    private final Node node;
    private final Uploads uploads;
    private final Map<Long, PendingCall> pending = new ConcurrentHashMap<>();

    /** Begins where no earlier context of this process has come: answers to calls of that one may still arrive. */
    private final AtomicLong lastId = new AtomicLong(CONTEXTS.getAndIncrement() << CALLS_BITS);

    private final Semaphore turns;

    /**
     * Bounds the calls that return futures and may be repeated; they hold a permit while they wait to be repeated, too.
     */
    private final Semaphore repeatedTurns;

    /** Calls that have been removed but not ended, because memory was short. */
    private final AtomicReference<@Nullable PendingCall> untold = new AtomicReference<>();

    private final Sweeper sweeper = new Sweeper(() -> pending.isEmpty() && untold.get() == null, this::sweep);

    Calls(Node node) {
        this.node = node;
        Endpoint system = node.systemEndpoint();
        this.turns = new Semaphore(node.options().maxOutstanding(), true);
        this.repeatedTurns = new Semaphore(node.options().maxOutstanding(), true);
        this.uploads = new Uploads(node, this, system);
        Answers _ = new Answers(this, system);
        node.add(this);
    }

    // ---- making calls

    /** Makes one attempt of a call and waits for its result. */
    @Nullable
    Object call(
            Target target,
            ServiceMethod method,
            @Nullable Object @Nullable [] parameters,
            long deadlineNs,
            @Nullable OutgoingCall outgoing) {
        node.checkMayWait();
        Route route = node.routeTo(target.rank());
        PendingCall.Sync call = new PendingCall.Sync(
                nextId(),
                target.rank(),
                method,
                deadlineNs,
                outgoing,
                route == null ? node.session().newSignal() : route.newSignal(),
                route == null ? -1 : route.rank());
        begin(call, target, parameters);
        boolean done;
        try {
            done = call.awaitDone(Math.max(0, deadlineNs - System.nanoTime()));
        } catch (RuntimeException | Error e) { // interrupted, or the session is closed, or out of memory
            if (!giveUp(call)) {
                awaitAnswered(call);
                call.drop();
            }
            throw e;
        }
        if (!done && giveUp(call)) {
            throw late(call);
        }
        awaitAnswered(call);
        call.take();
        Throwable failure = call.failure();
        if (failure != null) {
            throw Sneaky.asUnchecked(ExceptionCoding.withCallersStack(failure));
        }
        return call.value();
    }

    /** Waits until the thread that has removed the call has ended it. */
    private static void awaitAnswered(PendingCall.Sync call) {
        while (!call.isDone()) {
            Thread.onSpinWait();
        }
    }

    /** Makes a call and returns its future; waits for its turn only. */
    PendingCall.Async.Future callAsync(
            Target target,
            ServiceMethod method,
            @Nullable Object @Nullable [] parameters,
            long deadlineNs,
            @Nullable OutgoingCall outgoing) {
        PendingCall.Async.Future future = new PendingCall.Async.Future();
        PendingCall.Async call = new PendingCall.Async(nextId(), target.rank(), method, deadlineNs, outgoing, future);
        future.whenGivenUp(() -> {
            if (remove(call) != null) {
                // the notice may wait, and the JDK's timer thread, which also completes futures, must not
                Thread.startVirtualThread(() -> tellGivenUp(call));
            }
        });
        begin(call, target, parameters);
        return future;
    }

    /** As {@link #callAsync}, for a method whose calls may be repeated. */
    PendingCall.Async.Future callAgainAsync(
            RetryPolicy policy,
            ServiceMethod method,
            @Nullable Object @Nullable [] parameters,
            long deadlineNs,
            @Nullable OutgoingCall outgoing) {
        takeTurn(repeatedTurns, method, deadlineNs - System.nanoTime());
        return new RetryingCall(this, repeatedTurns, policy, method, parameters, deadlineNs, outgoing).start();
    }

    /** The node and endpoint that a call goes to, and the communication methods that it may take. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Target(int rank, Link link, String[] methods) {}

    long nextId() {
        return lastId.incrementAndGet();
    }

    /** Sends a call; its answer or items go to {@code call}. */
    void begin(PendingCall call, Target target, @Nullable Object @Nullable [] parameters) {
        Request.beforeWaitFor(target.rank());
        long leftNs = call.deadlineNs() - System.nanoTime();
        call.begins(leftNs);
        if (leftNs <= 0) {
            throw late(call);
        }
        takeTurn(turns, call.method(), leftNs);
        enter(call);
        if (node.isOver() && remove(call) != null) {
            // tested after the call is in the table, so that either this or close() ends it
            throw notCarriedOut(call, "the context of rank " + node.rank() + ", which makes it, is closed");
        }
        try {
            OutgoingCall outgoing = call.outgoing();
            Metadata metadata = outgoing == null ? Metadata.EMPTY : outgoing.metadata();
            Arguments arguments = new Arguments()
                    .putLong(call.id())
                    .putInt(target.link().endpoint())
                    .putLong(call.method().id())
                    .putLong(metadata.isEmpty() ? leftNs : leftNs | HAS_METADATA);
            if (!node.nodes().isMember(target.rank())) { // the grant for the endpoint
                arguments.putLong(target.link().grant()).putLong(target.link().grantRest());
            }
            if (!metadata.isEmpty()) {
                metadata.write(arguments);
            }
            try {
                call.method().writeParameters(arguments, parameters);
            } catch (Throwable e) {
                throw new CodingException("the arguments of " + call.method(), "sent", e);
            }
            boolean hasStreams = call.method().streamParameters().length > 0;
            if (hasStreams) {
                uploads.begin(call, parameters);
            }
            arguments.sendBy(call.deadlineNs());
            Route route = node.send(target.rank(), Link.SYSTEM, CALL, arguments, target.methods());
            if (hasStreams) {
                uploads.start(call); // not before: a stream that ends at once would end before its call begins
                if (find(call.id()) == null) {
                    uploads.end(call); // the call may have ended before its streams were registered
                }
            }
            if (call.isGivenUp()) {
                tellGivenUp(call); // the first notice may have gone before the call
            }
            if (route != null && call.wentBy(route) && remove(call) != null) {
                fail(call, lost(call, String.valueOf(route.lost())));
            }
        } catch (RuntimeException | Error e) {
            if (remove(call) != null) {
                if (e instanceof WaitInterruptedException) {
                    tellGivenUp(call); // the call may have arrived
                }
                if (e instanceof PeerFailedException
                        && node.nodes().get(target.rank()).hasSaidGoodbye()) {
                    throw notCarriedOut(call, String.valueOf(e.getMessage()));
                }
                if (e instanceof DeadlineExceededException) {
                    throw unsent(call, e);
                }
                throw e;
            } else if (call.isGivenUp()) {
                tellGivenUp(call); // the call may have arrived, and the first notice before it
            } // else another thread has ended the call
        }
    }

    /** Puts a call, which has its turn, into the table. From now on the thread that removes it ends it. */
    private void enter(PendingCall call) {
        try {
            pending.put(call.key(), call);
        } catch (Throwable e) { // out of memory, for instance
            turns.release();
            throw e;
        }
        try {
            RemoteCall parent = RemoteCall.currentOrNull();
            if (parent != null && call instanceof PendingCall.Unattended unattended) {
                unattended.madeFor(parent, () -> giveUpWithParent(call));
            }
            sweeper.wake();
        } catch (Throwable e) {
            if (remove(call) != null) {
                throw e;
            } // else another thread has ended the call
        }
    }

    /** Takes a turn; the semaphore is fair. */
    private void takeTurn(Semaphore from, ServiceMethod method, long leftNs) {
        try {
            if (node.mayWait() ? from.tryAcquire(leftNs, TimeUnit.NANOSECONDS) : from.tryAcquire()) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new WaitInterruptedException("interrupted while a call of " + method + " waited for its turn");
        }
        throw new OverloadedException("a call of " + method + ": "
                + node.options().maxOutstanding()
                + " calls of this process are unanswered, the most allowed (ContextOptions.maxOutstanding)");
    }

    /** Removes a call from the table; null if another thread has. The thread that removes a call must end it. */
    @Nullable
    PendingCall remove(PendingCall call) {
        if (!pending.remove(call.key(), call)) {
            return null;
        }
        turns.release();
        try {
            if (call.method().streamParameters().length > 0) {
                uploads.end(call);
            }
            if (call instanceof PendingCall.Unattended unattended) {
                unattended.leaveParent();
            }
        } catch (Throwable e) { // the call has ended all the same
            node.failures().notEnded(call.method(), e);
        }
        return call;
    }

    /** Removes a call and ends it with a failure. Callers create the failure first, because memory may be short. */
    private boolean end(PendingCall call, Throwable failure) {
        if (remove(call) == null) {
            return false;
        }
        fail(call, failure);
        return true;
    }

    /** Ends a call that has been removed; if that runs out of memory, the sweeper does it later. */
    void fail(PendingCall call, Throwable failure) {
        try {
            call.fail(failure);
        } catch (Throwable _) {
            PendingCall next;
            do {
                next = untold.get();
                call.standsBefore(next, failure);
            } while (!untold.compareAndSet(next, call));
            sweeper.wake();
        }
    }

    /** As {@link #fail}, with a result. */
    void succeed(PendingCall call, @Nullable Object value) {
        try {
            call.succeed(value);
        } catch (Throwable e) {
            fail(call, e);
        }
    }

    @Nullable
    PendingCall find(long id) {
        return pending.get(id);
    }

    int outstandingCount() {
        return node.options().maxOutstanding() - turns.availablePermits();
    }

    static DeadlineExceededException late(PendingCall call) {
        String when = call.givenMs() > 0
                ? " was not answered within " + call.givenMs() + " ms, its deadline"
                : " was not sent: its deadline had passed already: interceptors, or the call it was made for, had"
                        + " used up its time, at most "
                        + TimeUnit.NANOSECONDS.toMillis(call.method().timeoutNs()) + " ms";
        return new DeadlineExceededException("the call of " + call.method() + " to rank " + call.rank() + when
                + " (@CallTimeout, ContextOptions.callTimeout, or the time left for the call it was made for)");
    }

    private static DeadlineExceededException unsent(PendingCall call, Throwable why) {
        return new DeadlineExceededException(
                "the call of " + call.method() + " to rank " + call.rank() + " could not be sent within "
                        + call.givenMs()
                        + " ms, its deadline (@CallTimeout, ContextOptions.callTimeout, or the time left for the call"
                        + " it was made for): the other side receives nothing, or too slowly",
                why);
    }

    /** Cancels a call and notifies the other side; false if the call has ended already. */
    boolean giveUp(PendingCall call) {
        if (remove(call) == null) {
            return false;
        }
        tellGivenUp(call);
        return true;
    }

    private void giveUpWithParent(PendingCall call) {
        if (end(
                call,
                new CancellationException("the call of " + call.method()
                        + " is cancelled: the call that it was made for is cancelled"))) {
            tellGivenUp(call);
        }
    }

    /** Notifies the other side that a call is cancelled; {@link #begin} repeats the notice behind the call. */
    void tellGivenUp(PendingCall call) {
        call.givenUp();
        // the interrupt may be the reason; the notice must be sent nevertheless
        boolean interrupted = Thread.interrupted();
        try {
            tellCancelled(call);
        } catch (MadeleineException e) {
            // the other side is gone
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Sends the notice, which nobody needs long after the deadline: the other side cancels the call then by itself. */
    private void tellCancelled(PendingCall call) {
        Arguments notice = new Arguments().putLong(call.id());
        notice.sendSoonAfter(call.deadlineNs(), NOTICE_NS);
        node.tellWithoutWait(call.rank(), CANCEL, notice);
    }

    // ---- ends of calls

    /** Fails the calls that took a route that is lost. */
    @Override
    public void routeLost(Peer peer, Route route, String why) {
        for (PendingCall call : pending.values()) {
            if (call.route() == route) {
                end(call, lost(call, why));
            }
        }
    }

    PeerFailedException lost(PendingCall call, String why) {
        return new PeerFailedException(
                call.rank(),
                "the call of " + call.method() + " will not be answered: "
                        + node.nodes().get(call.rank()) + " is gone, or the connection to it is lost: " + why);
    }

    /**
     * Fails the calls to a peer whose context is closed: it has answered all calls that it had begun before its
     * goodbye.
     */
    @Override
    public void peerClosed(Peer peer) {
        for (PendingCall call : pending.values()) {
            if (call.rank() == peer.number()) {
                end(call, notCarriedOut(call, "the context of " + peer + " has been closed"));
            }
        }
    }

    static UnavailableException notCarriedOut(PendingCall call, String why) {
        return new UnavailableException(
                "the call of " + call.method() + " has not been carried out, and may be made again elsewhere: " + why);
    }

    /** Fails all calls, because the context of this process is closed. */
    @Override
    public void closed() {
        for (PendingCall call : pending.values()) {
            end(
                    call,
                    new CallException(
                            ErrorCode.CANCELLED,
                            "the call of " + call.method() + " to rank " + call.rank()
                                    + " is cancelled: the context of rank " + node.rank()
                                    + ", which has made it, is closed"));
        }
    }

    /**
     * Ends calls whose deadline has passed and for which no thread waits, and calls to peers that are gone without a
     * goodbye.
     */
    private void sweep(long nowNs) {
        PendingCall next;
        for (PendingCall call = untold.getAndSet(null); call != null; call = next) {
            next = call.nextUntold();
            Throwable failure = call.untold();
            if (failure != null) {
                fail(call, failure);
            }
        }
        for (PendingCall call : pending.values()) {
            try {
                sweep(call, nowNs);
            } catch (Throwable _) {
                // the next sweep tries again
            }
        }
    }

    private void sweep(PendingCall call, long nowNs) {
        Route route = call.route();
        String why = route == null ? null : route.whyDisconnected();
        if (route != null && why != null) {
            route.lose(why);
        } else if (route != null && route.peer.hasDroppedSince(call.id())) {
            end(call, lost(call, "a message from it was dropped, perhaps for lack of memory; the log says why"));
        } else if (call.deadlineNs() - nowNs <= (call instanceof PendingCall.Sync ? -LEFT_NS : 0)
                && end(call, late(call))) {
            call.givenUp();
            // without a wait: other deadlines are due
            tellCancelled(call);
        }
    }

    /** The id of the call that has begun last. */
    long lastId() {
        return lastId.get();
    }

    /** Notes which calls have begun until now: the dropped message may have been the answer of one of them. */
    @Override
    public void messageDropped(Peer peer) {
        peer.droppedAfter(lastId());
    }
}
