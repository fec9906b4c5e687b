package io.madeleine.nexus;

import io.madeleine.api.Channel;
import io.madeleine.api.Completion;
import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.Signal;
import io.madeleine.api.WaitInterruptedException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The way to another process of the session, over a channel. Who may wait sends and waits; who may not, a non-threaded handler, sends what can go at once,
 * and leaves the rest in a bounded queue that is emptied as soon as the connection takes more. When the way is lost, what
 * is queued goes another way.
 *
 * <p>The queue cannot be forgotten: whoever ends a message looks at it afterwards, and whoever adds to it tries to send
 * afterwards. Nobody ends a message that was given up: a thread of its own looks after the queue then.
 *
 * <p>Threading: thread-safe.
 */
final class MadWay extends Way {
    private static final VarHandle UNCLOSED = unclosedHandle();

    /** What a queued request costs beside its arguments. */
    private static final long ENTRY_BYTES = 160;

    private static final long LOOK_AGAIN_NS = 200_000;

    private final Channel channel;
    private final int rank;
    private final Signal signal;
    private final long maxQueuedBytes;
    private final Queue<Entry> queue = new ConcurrentLinkedQueue<>();
    private final AtomicLong queuedBytes = new AtomicLong();

    /** How often it has been asked to drain since the thread that does began its last attempt; 0 if none does. */
    private final AtomicInteger drains = new AtomicInteger();

    private final Runnable drain = this::drain;

    /** Whether a message was given up and the connection may still be busy with that. */
    private volatile boolean gaveUp;

    /** A message that has failed and is still to be closed. */
    private volatile @Nullable OutgoingMessage unclosed;

    private final AtomicBoolean watching = new AtomicBoolean();

    private enum Attempt {
        SENT,
        BUSY,
        LOST
    }

    private sealed interface Entry {}

    /** A thread that waits for what was queued before: it alone is woken, and sends by itself. */
    private static final class Turn implements Entry {
        private final Thread thread = Thread.currentThread();
        private volatile boolean come;

        /** From whoever drains; perhaps several times. */
        void comes() {
            if (!come) {
                come = true;
                LockSupport.unpark(thread);
            }
        }

        void await(Arguments arguments) {
            while (!come) {
                if (!arguments.hasDeadline()) {
                    LockSupport.park(this);
                } else if (arguments.leftNs() > 0) {
                    LockSupport.parkNanos(this, arguments.leftNs());
                } else {
                    throw new DeadlineExceededException(
                            "its deadline passed while a request waited for its turn to be sent");
                }
                if (thread.isInterrupted()) {
                    throw new WaitInterruptedException("interrupted while a request waited for its turn to be sent");
                }
            }
        }
    }

    @SuppressWarnings("ArrayRecordComponent") // not compared
    private record Queued(
            Link link,
            int handler,
            Arguments arguments,
            @Nullable Arguments owner,
            String[] methods,
            long bytes) implements Entry {
        void over() {
            if (owner != null) {
                owner.takenBack();
            }
        }
    }

    MadWay(Node node, Peer peer, Channel channel, int rank, Signal signal) {
        super(node, peer);
        this.channel = channel;
        this.rank = rank;
        this.signal = signal;
        this.maxQueuedBytes = node.options().maxQueuedBytes();
    }

    @Override
    String name() {
        return "mad/" + channel.network(rank);
    }

    @Override
    String address() {
        return "channel " + channel.name();
    }

    @Override
    boolean isMeantBy(String word) {
        return word.equals("mad") || word.equals("mad:" + channel.name()) || super.isMeantBy(word);
    }

    @Override
    void afterLoss(String why) {
        drain();
    }

    @Override
    @Nullable
    String whyDisconnected() {
        String why = lost();
        if (why != null || channel.isConnected(rank)) {
            return why;
        }
        try {
            channel.tryBeginPacking(rank).ifPresent(OutgoingMessage::close); // there is none: it says why
        } catch (PeerFailedException e) {
            return String.valueOf(e.getMessage());
        } catch (MadeleineException _) {
            // the session is being closed, say
        }
        return "it has left, or its connection is lost";
    }

    @Override
    boolean isDrained() {
        return queue.isEmpty();
    }

    @Override
    boolean send(Arguments arguments, Link link, int handler) {
        if (lost() != null) {
            return false;
        }
        return queue.isEmpty() ? sendHere(arguments, link, handler) : sendInTurn(arguments, link, handler);
    }

    /** What others have sent before goes before. */
    private boolean sendInTurn(Arguments arguments, Link link, int handler) {
        Turn turn = new Turn();
        queue.add(turn);
        try {
            drain();
            turn.await(arguments);
            return lost() == null && sendHere(arguments, link, handler);
        } finally {
            queue.remove(turn); // the first, unless the wait was interrupted
            if (queue.isEmpty()) {
                signal.signal();
                node.wayIsFree(peer);
            } else {
                drain();
            }
        }
    }

    private boolean sendHere(Arguments arguments, Link link, int handler) {
        OutgoingMessage message;
        try {
            closeLeftOver();
            message = arguments.hasDeadline()
                    ? channel.beginPacking(rank, arguments.leftNs(), TimeUnit.NANOSECONDS)
                    : channel.beginPacking(rank);
        } catch (PeerFailedException e) {
            lose(String.valueOf(e.getMessage()));
            return false;
        } catch (WaitInterruptedException | DeadlineExceededException e) {
            drain(); // the connection may have been kept for this thread
            throw e;
        }
        gaveUp = false; // the end of this message is seen
        try {
            if (arguments.hasDeadline()) {
                message.within(arguments.leftNs(), TimeUnit.NANOSECONDS);
            }
            arguments.pack(message, link.endpoint(), handler);
            message.endPacking();
        } catch (RuntimeException | Error e) {
            unclosed = message; // without a call: the stack may have come to its end
            giveUp();
            throw e;
        }
        message.close();
        if (!queue.isEmpty()) {
            drain();
        }
        return true;
    }

    private static VarHandle unclosedHandle() {
        try {
            return MethodHandles.lookup().findVarHandle(MadWay.class, "unclosed", OutgoingMessage.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** A message has failed before its end, which will come some time, and to nobody. */
    private void giveUp() {
        gaveUp = true; // before looking at the queue; who adds to that looks here afterwards
        closeUnclosed();
        watchIfForgotten();
    }

    private void closeLeftOver() {
        if (unclosed != null) {
            closeUnclosed();
        }
    }

    /** If the stack or memory ends in here, too, who sends next does it. */
    private void closeUnclosed() {
        OutgoingMessage left = (OutgoingMessage) UNCLOSED.getAndSet(this, null);
        if (left == null) {
            return;
        }
        try {
            left.close();
        } catch (Throwable e) { // the stack has come to its end, or memory
            unclosed = left;
            throw e;
        }
    }

    private void watchIfForgotten() {
        if (gaveUp && !queue.isEmpty() && watching.compareAndSet(false, true)) {
            try {
                Thread.ofVirtual().name("nexus-drain").start(this::watch);
            } catch (Throwable e) { // no memory, for instance: the next one who comes starts it
                watching.set(false);
                throw e;
            }
        }
    }

    private void watch() {
        while (gaveUp && !queue.isEmpty()) {
            try {
                LockSupport.parkNanos(LOOK_AGAIN_NS);
                drain();
            } catch (Throwable _) { // once more: whoever has queued something does not look after it
                Thread.yield();
            }
        }
        watching.set(false);
        watchIfForgotten();
    }

    @Override
    boolean sendNow(Arguments arguments, Link link, int handler, String[] methods) {
        if (lost() != null) {
            return false;
        }
        Attempt attempt = queue.isEmpty() ? trySend(arguments, link, handler, arguments) : Attempt.BUSY;
        if (attempt == Attempt.BUSY) {
            enqueue(arguments, link, handler, methods);
        } else if (!queue.isEmpty()) {
            drain();
        }
        return attempt != Attempt.LOST;
    }

    private void enqueue(Arguments arguments, Link link, int handler, String[] methods) {
        long bytes = ENTRY_BYTES + arguments.inlineBytes();
        if (queuedBytes.addAndGet(bytes) > maxQueuedBytes) {
            queuedBytes.addAndGet(-bytes);
            throw new OverloadedException("rank " + rank + " does not take what is sent to it: "
                    + queuedBytes.get() + " bytes of requests wait at rank " + node.rank()
                    + " already; more than ContextOptions.maxQueuedBytes, " + maxQueuedBytes + ", are not kept");
        }
        Arguments owner = null;
        if (arguments.hasBulks()) {
            arguments.lend();
            owner = arguments;
        }
        queue.add(new Queued(link, handler, ArgumentCopies.ofSmall(arguments), owner, methods, bytes));
        drain();
        watchIfForgotten();
    }

    /** Begins and ends a message if no other one is open; the owner's blocks may be in use for longer. */
    private Attempt trySend(Arguments arguments, Link link, int handler, @Nullable Arguments owner) {
        Optional<OutgoingMessage> begun;
        try {
            closeLeftOver();
            begun = channel.tryBeginPacking(rank);
        } catch (PeerFailedException e) {
            lose(String.valueOf(e.getMessage()));
            return Attempt.LOST;
        }
        if (begun.isEmpty()) {
            return Attempt.BUSY;
        }
        gaveUp = false; // the end of this message is seen
        OutgoingMessage message = begun.get();
        Completion sent;
        try {
            arguments.pack(message, link.endpoint(), handler);
            sent = message.endPackingAsync();
        } catch (RuntimeException | Error e) {
            unclosed = message; // without a call: the stack may have come to its end
            giveUp();
            throw e;
        }
        if (!sent.isDone()) {
            if (owner != null && owner.hasBulks()) {
                owner.lend();
                sent.onDone(() -> {
                    owner.takenBack();
                    drain();
                });
            } else {
                sent.onDone(drain);
            }
        }
        message.close(); // its object may serve again once it has ended
        return Attempt.SENT;
    }

    /**
     * Sends what is queued, as far as it goes. Never waits; if another thread does so, that one does it once more: it may
     * have found the connection taken by who comes here now.
     */
    void drain() {
        if (queue.isEmpty() || drains.getAndIncrement() != 0) {
            return;
        }
        try {
            int seen = 1;
            do {
                drainSome(); // what is left goes when whoever has the connection comes here
                if (queue.isEmpty()) {
                    signal.signal();
                    node.wayIsFree(peer);
                }
                seen = drains.addAndGet(-seen);
            } while (seen != 0);
        } catch (RuntimeException | Error e) {
            drains.set(0); // the next one who comes drains
            throw e;
        }
    }

    private void drainSome() {
        for (Entry first = queue.peek(); first != null; first = queue.peek()) {
            if (!(first instanceof Queued next)) {
                ((Turn) first).comes(); // and comes here when it has sent
                return;
            }
            try {
                Attempt attempt = lost() != null
                        ? Attempt.LOST
                        : trySend(next.arguments(), next.link(), next.handler(), next.owner());
                if (attempt == Attempt.BUSY) {
                    return;
                }
                if (attempt == Attempt.LOST) {
                    peer.sendAnotherWay(next.arguments(), next.link(), next.handler(), next.methods());
                }
            } catch (RuntimeException e) { // memory that was closed meanwhile, say
                node.failures().sendFailed(rank, e);
            }
            queue.poll();
            queuedBytes.addAndGet(-next.bytes());
            next.over();
        }
    }

    @Override
    boolean awaitDrained(long timeoutNs) {
        drain();
        return queue.isEmpty() || signal.await(queue::isEmpty, timeoutNs, TimeUnit.NANOSECONDS);
    }
}
