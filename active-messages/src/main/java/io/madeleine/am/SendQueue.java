package io.madeleine.am;

import io.madeleine.api.Channel;
import io.madeleine.api.Completion;
import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.SendTask;
import io.madeleine.api.SessionException;
import io.madeleine.api.WaitInterruptedException;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A bounded queue of messages to one peer that handlers, which must not wait, could not send at once. A {@link
 * SendTask} empties it. A thread that may wait, and wants to send while messages are queued, gets a place in the queue,
 * too, which keeps the order. When all messages before it have been sent, it alone is woken and sends its message.
 *
 * <p>Threading: thread-safe. One thread at a time empties it.
 */
public final class SendQueue {
    /** The deadline of a thread that waits without a limit. */
    private static final long NO_DEADLINE = Long.MAX_VALUE;

    /** The most messages sent at once; the rest then queues behind other senders. */
    private static final int MOST_AT_ONCE = 64;

    private final Channel channel;
    private final int rank;
    private final long maxBytes;
    private final Runnable onEmpty;
    private final Consumer<String> onLost;
    private final SendTask task;
    private final Queue<Entry> entries = new ConcurrentLinkedQueue<>();
    private final AtomicLong bytes = new AtomicLong();

    /**
     * The message that was taken out of the queue and is not sent yet, because the stack or heap memory was exhausted.
     */
    private final AtomicReference<@Nullable QueuedMessage> inHand = new AtomicReference<>();

    private final FailedMessage failed = new FailedMessage();

    private sealed interface Entry {}

    private record Waiting(QueuedMessage message) implements Entry {}

    /** The place of a thread that waits until all before it are sent. */
    private static final class Place implements Entry {
        private final Thread thread = Thread.currentThread();
        private volatile boolean come;

        /** The thread's turn has come; may be called several times. */
        void comes() {
            if (!come) {
                come = true;
                LockSupport.unpark(thread);
            }
        }

        void await(long deadlineNs) {
            while (!come) {
                if (deadlineNs == NO_DEADLINE) {
                    LockSupport.park(this);
                } else {
                    long leftNs = deadlineNs - System.nanoTime();
                    if (leftNs <= 0) {
                        throw new DeadlineExceededException(
                                "the deadline passed while a request waited for its turn to be sent");
                    }
                    LockSupport.parkNanos(this, leftNs);
                }
                if (thread.isInterrupted()) {
                    throw new WaitInterruptedException("interrupted while a request waited for its turn to be sent");
                }
            }
        }
    }

    /**
     * An empty queue.
     *
     * @param maxBytes the most bytes that may be queued
     * @param onEmpty called whenever the queue becomes empty, by the thread that emptied it
     * @param onLost called with the reason when the connection turns out to be lost
     */
    public SendQueue(Channel channel, int rank, long maxBytes, Runnable onEmpty, Consumer<String> onLost) {
        this.channel = channel;
        this.rank = rank;
        this.maxBytes = maxBytes;
        this.onEmpty = onEmpty;
        this.onLost = onLost;
        this.task = channel.newSendTask(rank, this::drain);
    }

    /** Whether the queue is empty. */
    public boolean isEmpty() {
        return entries.isEmpty() && inHand.get() == null;
    }

    /** The number of queued bytes. */
    public long bytes() {
        return bytes.get();
    }

    /** Reserves room for a message; {@link #add} follows. Returns false if there is none. */
    public boolean claim(long messageBytes) {
        if (bytes.addAndGet(messageBytes) <= maxBytes) {
            return true;
        }
        bytes.addAndGet(-messageBytes);
        return false;
    }

    /**
     * Appends a message for which the caller has {@linkplain #claim room}. It is sent as soon as the connection takes
     * it. Never waits.
     *
     * <p>Ownership: the message belongs to the queue until the queue calls {@link QueuedMessage#sent}, {@link
     * QueuedMessage#failed} or {@link QueuedMessage#lost}.
     */
    public void add(QueuedMessage message) {
        entries.add(new Waiting(message));
        wake();
    }

    /**
     * Waits until all that is queued before has been sent, and then runs {@code sending}; what is queued later is sent
     * later. Not for handlers.
     *
     * @param deadlineNs in {@link System#nanoTime()} terms; {@link Long#MAX_VALUE} for none
     */
    public void inTurn(long deadlineNs, Runnable sending) {
        Place place = new Place();
        entries.add(place);
        try {
            wake();
            place.await(deadlineNs);
            sending.run();
        } finally {
            entries.remove(place); // the head of the queue, unless the wait ended early
            if (isEmpty()) {
                onEmpty.run();
            } else {
                wake();
            }
        }
    }

    /** Starts to empty the queue as far as possible, without waiting. */
    public void wake() {
        if (isEmpty()) {
            return;
        }
        failed.close();
        try {
            task.schedule();
        } catch (PeerFailedException e) {
            onLost.accept(String.valueOf(e.getMessage()));
            lost();
        } catch (SessionException e) {
            fail(e);
        }
    }

    /** The connection is lost: calls {@link QueuedMessage#lost} for each queued message. */
    public void lost() {
        fail(null);
    }

    private void fail(@Nullable SessionException why) {
        QueuedMessage left = inHand.getAndSet(null);
        if (left != null) {
            fail(left, why);
        }
        for (Entry entry = entries.poll(); entry != null; entry = entries.poll()) {
            if (entry instanceof Waiting waiting) {
                fail(waiting.message(), why);
            } else {
                ((Place) entry).comes(); // its thread finds the loss by itself
            }
        }
        onEmpty.run();
    }

    private void fail(QueuedMessage message, @Nullable SessionException why) {
        bytes.addAndGet(-message.bytes());
        if (why == null) {
            message.lost();
        } else {
            message.failed(why);
        }
    }

    // ---- emptying: the action of the send task

    private void drain() {
        try {
            int count = 0;
            while (count < MOST_AT_ONCE && sendNext()) {
                count++;
            }
            if (isEmpty()) {
                onEmpty.run();
            } else if (count == MOST_AT_ONCE) {
                task.schedule();
            }
        } catch (PeerFailedException e) {
            onLost.accept(String.valueOf(e.getMessage()));
            lost();
        } catch (SessionException e) {
            fail(e);
        } catch (Error e) { // memory or the stack was exhausted: try again
            task.schedule();
            throw e;
        }
    }

    /** Sends the first message; returns false if there is none, or it cannot be sent yet. */
    private boolean sendNext() {
        if (isEmpty() || (inHand.get() == null && entries.peek() instanceof Place place && tell(place))) {
            return false;
        }
        failed.close();
        Optional<OutgoingMessage> begun = channel.tryBeginPacking(rank);
        if (begun.isEmpty()) {
            task.schedule(); // behind other senders
            return false;
        }
        OutgoingMessage message = begun.get();
        QueuedMessage next = takeInHand();
        if (next == null) {
            message.close(); // a loss has just emptied the queue
            return true;
        }
        send(message, next);
        return true;
    }

    /** Tells the thread that its turn has come; the thread continues the queue when it has sent. */
    private static boolean tell(Place place) {
        place.comes();
        return true;
    }

    private @Nullable QueuedMessage takeInHand() {
        QueuedMessage next = inHand.get();
        Entry first = next == null ? entries.poll() : null;
        if (first instanceof Waiting waiting) {
            next = waiting.message();
            inHand.set(next);
        } else if (first instanceof Place place) {
            place.comes();
        }
        return next;
    }

    private void send(OutgoingMessage message, QueuedMessage next) {
        Completion completion;
        try {
            next.pack(message);
            completion = message.endPackingAsync();
        } catch (RuntimeException e) {
            failed.message = message;
            finish(next);
            next.failed(e); // also if the connection is lost: how much of it has arrived is unknown
            failed.close();
            if (e instanceof PeerFailedException || e instanceof SessionException) {
                throw e;
            }
            return;
        } catch (Error e) {
            failed.message = message;
            failed.close();
            throw e;
        }
        finish(next);
        next.sent(completion);
        message.close(); // the message object may be reused once the message has ended
    }

    private void finish(QueuedMessage message) {
        inHand.set(null);
        bytes.addAndGet(-message.bytes());
    }
}
