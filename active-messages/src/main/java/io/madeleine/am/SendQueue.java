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
 * What is sent to a peer by handlers, which must not wait, and could not go at once: a bounded queue that a {@link SendTask}
 * empties. Threads that may wait, and come while something is queued, have a place in it, so that the order is kept; each is woken
 * alone, when all before it has gone, and sends by itself.
 *
 * <p>Threading: thread-safe. One thread at a time empties it.
 */
public final class SendQueue {
    /** The deadline of who waits as long as it takes. */
    private static final long NO_DEADLINE = Long.MAX_VALUE;

    /** What is left then goes behind others that wait to send. */
    private static final int MOST_AT_ONCE = 64;

    private final Channel channel;
    private final int rank;
    private final long maxBytes;
    private final Runnable onEmpty;
    private final Consumer<String> onLost;
    private final SendTask task;
    private final Queue<Entry> entries = new ConcurrentLinkedQueue<>();
    private final AtomicLong bytes = new AtomicLong();

    /** Taken out of the queue, and not sent yet: the stack or memory had come to its end. */
    private final AtomicReference<@Nullable QueuedMessage> inHand = new AtomicReference<>();

    private final FailedMessage failed = new FailedMessage();

    private sealed interface Entry {}

    private record Waiting(QueuedMessage message) implements Entry {}

    /** A thread that waits for what was queued before. */
    private static final class Turn implements Entry {
        private final Thread thread = Thread.currentThread();
        private volatile boolean come;

        /** Perhaps several times. */
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
                                "its deadline passed while a request waited for its turn to be sent");
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
     * @param maxBytes how much may wait
     * @param onEmpty called whenever nothing waits any more, by whoever has seen to that
     * @param onLost called with the reason when the connection is found to be lost
     */
    public SendQueue(Channel channel, int rank, long maxBytes, Runnable onEmpty, Consumer<String> onLost) {
        this.channel = channel;
        this.rank = rank;
        this.maxBytes = maxBytes;
        this.onEmpty = onEmpty;
        this.onLost = onLost;
        this.task = channel.newSendTask(rank, this::drain);
    }

    /** Whether nothing waits. */
    public boolean isEmpty() {
        return entries.isEmpty() && inHand.get() == null;
    }

    /** How much waits. */
    public long bytes() {
        return bytes.get();
    }

    /** Makes room for a message that {@link #add} follows with; false if there is none. */
    public boolean claim(long messageBytes) {
        if (bytes.addAndGet(messageBytes) <= maxBytes) {
            return true;
        }
        bytes.addAndGet(-messageBytes);
        return false;
    }

    /**
     * Adds a message, for which there is {@linkplain #claim room}; it goes as soon as the connection takes it. Never waits.
     *
     * <p>Ownership: the queue's, until one of the message's last three methods is called.
     */
    public void add(QueuedMessage message) {
        entries.add(new Waiting(message));
        wake();
    }

    /**
     * Waits, in a thread that may, until all that is queued has gone, and calls {@code sending} then. What comes later goes later.
     *
     * @param deadlineNs in {@link System#nanoTime()} terms; {@link Long#MAX_VALUE} is none
     */
    public void inTurn(long deadlineNs, Runnable sending) {
        Turn turn = new Turn();
        entries.add(turn);
        try {
            wake();
            turn.await(deadlineNs);
            sending.run();
        } finally {
            entries.remove(turn); // the first, unless the wait was interrupted
            if (isEmpty()) {
                onEmpty.run();
            } else {
                wake();
            }
        }
    }

    /** Has it emptied as far as possible, without waiting. */
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

    /** The connection is lost: all that waits is told. */
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
                ((Turn) entry).comes(); // and sees it
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

    // ---- emptying: the action of the task

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
        } catch (Error e) { // no memory, or the end of the stack: once more
            task.schedule();
            throw e;
        }
    }

    /** Sends the first; false if there is none, or it cannot go yet. */
    private boolean sendNext() {
        if (isEmpty() || (inHand.get() == null && entries.peek() instanceof Turn turn && tell(turn))) {
            return false;
        }
        failed.close();
        Optional<OutgoingMessage> begun = channel.tryBeginPacking(rank);
        if (begun.isEmpty()) {
            task.schedule(); // behind others that wait
            return false;
        }
        OutgoingMessage message = begun.get();
        QueuedMessage next = takeInHand();
        if (next == null) {
            message.close(); // all has been told of a loss just now
            return true;
        }
        send(message, next);
        return true;
    }

    /** The thread wakes this again when it has sent. */
    private static boolean tell(Turn turn) {
        turn.comes();
        return true;
    }

    private @Nullable QueuedMessage takeInHand() {
        QueuedMessage next = inHand.get();
        Entry first = next == null ? entries.poll() : null;
        if (first instanceof Waiting waiting) {
            next = waiting.message();
            inHand.set(next);
        } else if (first instanceof Turn turn) {
            turn.comes();
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
            next.failed(e); // also if the connection is lost: nobody knows what of it has arrived
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
        message.close(); // its object may serve again once it has ended
    }

    private void finish(QueuedMessage message) {
        inHand.set(null);
        bytes.addAndGet(-message.bytes());
    }
}
