package io.madeleine.mpi.device;

import io.madeleine.api.Channel;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.api.SendTask;
import io.madeleine.mpi.FreedMemory;
import io.madeleine.mpi.MpiFault;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The state that a process keeps for another one: credits, and the queue of messages that could not begin at once.
 *
 * <p>Threading: thread-safe.
 */
final class Peer {
    private static final int MOST_AT_ONCE = 64;
    private static final int MOST_CREDITS_AT_ONCE = 128;

    final int rank;

    private final Channel channel;
    private final @Nullable SendTask task;

    /** Written by the thread whose turn it is on the connection. */
    private final MemorySegment header = Arena.ofAuto().allocate(Header.BYTES, 64);

    private final NowHeaders nowHeaders = new NowHeaders();

    private final AtomicLong credits;

    /** Credits that only the owner of {@link #nowHeaders} spends; it takes {@link #creditsAtOnce} at a time. */
    private int ownCredits;

    private final int creditsAtOnce;
    private final AtomicInteger owed = new AtomicInteger();

    /** Credits that the handler of arriving messages has not added to {@link #owed} yet: less than a 16th of all. */
    private int unnoted;

    private final int owedLimit;

    private final SpinLock lock = new SpinLock();
    private @Nullable Outgoing head;
    private @Nullable Outgoing tail;

    /** The messages in the queue, and the one that was taken out of it and is being sent. */
    private final AtomicInteger queued = new AtomicInteger();

    private volatile @Nullable MpiFault failure;

    /**
     * A peer to which nothing was sent.
     *
     * @param creditBytes what it keeps of this process's messages
     * @param isSelf whether it is this process, to which nothing is sent
     */
    Peer(Channel channel, int rank, int creditBytes, boolean isSelf) {
        this.channel = channel;
        this.rank = rank;
        this.credits = new AtomicLong(creditBytes / Header.CREDIT_BYTES);
        this.owedLimit = creditBytes / Header.CREDIT_BYTES / 4;
        this.creditsAtOnce = Math.min(MOST_CREDITS_AT_ONCE, creditBytes / Header.CREDIT_BYTES / 16);
        this.task = isSelf ? null : channel.newSendTask(rank, this::drain);
    }

    // ---- credits

    /** What an eager message of this length costs: its envelope, and a body that is not inline. */
    static int cost(long bytes) {
        int body = bytes <= Arrived.INLINE_BYTES ? 0 : (int) ((bytes + Header.CREDIT_BYTES - 1) / Header.CREDIT_BYTES);
        return 2 + body;
    }

    boolean takeCredits(int cost) {
        while (true) {
            long have = credits.get();
            if (have < cost) {
                return false;
            }
            if (credits.compareAndSet(have, have - cost)) {
                return true;
            }
        }
    }

    /** As {@link #takeCredits(int)}, for a message with this header. */
    private boolean takeCredits(int cost, MemorySegment header) {
        if (!nowHeaders.isOwn(header) || cost > creditsAtOnce) {
            return takeCredits(cost);
        }
        if (ownCredits < cost) {
            if (!takeCredits(creditsAtOnce)) {
                return takeCredits(cost);
            }
            ownCredits += creditsAtOnce;
        }
        ownCredits -= cost;
        return true;
    }

    void addCredits(int count) {
        credits.addAndGet(count);
    }

    /**
     * Notes credits to return; true if they should be returned soon, by a message of their own if need be: when they
     * reach a quarter of all, and again at three quarters. Between, a header that could not leave may have given some
     * back.
     */
    boolean owe(int cost) {
        int sum = owed.addAndGet(cost);
        return reaches(owedLimit, sum, cost) || reaches(3 * owedLimit, sum, cost);
    }

    private static boolean reaches(int limit, int sum, int cost) {
        return sum >= limit && sum - cost < limit;
    }

    /** As {@link #owe}, for the handler of arriving messages: it notes several at once, which is cheaper. */
    boolean oweByHandler(int cost) {
        int sum = unnoted + cost;
        if (sum < creditsAtOnce) {
            unnoted = sum;
            return false;
        }
        unnoted = 0;
        return owe(sum);
    }

    /** The credits that the next header returns, which has room for so many. */
    int takeOwed(int most) {
        while (true) {
            int all = owed.get();
            int taken = Math.min(all, most);
            if (taken == 0 || owed.compareAndSet(all, all - taken)) { // no other header finds less than what is left
                return taken;
            }
        }
    }

    // ---- sending

    @Nullable
    MpiFault failure() {
        return failure;
    }

    boolean hasQueue() {
        return queued.get() != 0;
    }

    int queued() {
        return queued.get();
    }

    /** Sends a message now if nothing is in its way, and otherwise when it is its turn. Never waits. */
    void post(Outgoing message) {
        MpiFault why = failure;
        if (why != null) {
            message.ended(why);
            return;
        }
        if (queued.get() == 0 && (trySendShort(message) || trySend(message))) {
            return;
        }
        append(message);
        if (failure != null) {
            failQueue();
            return;
        }
        schedule();
    }

    /** Sends a short message in one step; false if that is not possible now. */
    private boolean trySendShort(Outgoing message) {
        long behind = message.bytesBehind();
        MemorySegment nowHeader = behind == Outgoing.LONG ? null : nowHeaders.take();
        if (nowHeader == null) {
            return false;
        }
        RuntimeException failed = null;
        boolean isSent = false;
        int returned = takeOwed(message.mostCredits());
        try {
            message.write(nowHeader, returned);
            isSent = trySend(nowHeader, message.kind(), behind);
        } catch (RuntimeException e) { // the peer is lost, or the memory of the body was freed
            FreedMemory.clearInterrupt(e);
            failed = e;
        } finally {
            nowHeaders.give(nowHeader);
            if (!isSent) {
                owed.addAndGet(returned); // for the next header
            }
        }
        if (isSent || failed != null) {
            message.ended(failed);
        }
        return isSent || failed != null;
    }

    /** Sends a short eager message if it can leave at once; else nothing has happened. */
    boolean trySendEager(MemorySegment segment, long offset, long bytes, long context, int tag) {
        MemorySegment nowHeader = queued.get() != 0 || failure != null ? null : nowHeaders.take();
        if (nowHeader == null) {
            return false;
        }
        boolean isSent = false;
        int cost = cost(bytes);
        int returned = 0;
        boolean hasCredits = false;
        try {
            hasCredits = takeCredits(cost, nowHeader);
            if (hasCredits) {
                returned = takeOwed(Header.MOST_EAGER_CREDITS);
                Header.writeEager(nowHeader, returned, context, tag, bytes);
                isSent = trySendWithBody(nowHeader, segment, offset, bytes);
            }
        } catch (PeerFailedException | IllegalStateException e) {
            // The peer is lost, or the memory was freed: the operation that follows says so.
            FreedMemory.clearInterrupt(e);
        } finally {
            nowHeaders.give(nowHeader);
            if (!isSent && hasCredits) {
                addCredits(cost);
                owed.addAndGet(returned);
            }
        }
        return isSent;
    }

    /**
     * Sends an eager message and waits until its memory may be reused.
     *
     * @return false if it cannot be sent now; nothing has happened then
     */
    boolean sendNow(MemorySegment segment, long offset, long bytes, long context, int tag) {
        MemorySegment nowHeader = queued.get() != 0 || failure != null ? null : nowHeaders.take();
        if (nowHeader == null) {
            return false;
        }
        int returned = 0;
        try {
            if (!takeCredits(cost(bytes), nowHeader)) {
                return false;
            }
            returned = takeOwed(Header.MOST_EAGER_CREDITS);
            Header.writeEager(nowHeader, returned, context, tag, bytes);
            if (bytes > NowHeaders.BODY_BYTES || !trySendWithBody(nowHeader, segment, offset, bytes)) {
                sendWithBody(nowHeader, segment, offset, bytes);
            }
        } catch (MadeleineException | IllegalStateException e) { // nothing was sent
            addCredits(cost(bytes));
            boolean _ = owe(returned);
            throw e;
        } finally {
            nowHeaders.give(nowHeader);
        }
        return true;
    }

    /** Copies a short body behind the header, and sends both if they can leave at once. */
    private boolean trySendWithBody(MemorySegment nowHeader, MemorySegment segment, long offset, long bytes) {
        MemorySegment.copy(segment, offset, nowHeader, Header.EAGER_BYTES, bytes);
        return trySend(nowHeader, Header.EAGER, bytes);
    }

    /** Sends a header, and a body of this length behind it, by one call if they can leave at once. */
    private boolean trySend(MemorySegment nowHeader, byte kind, long behind) {
        if (kind != Header.EAGER) {
            return channel.trySend(
                    rank, nowHeader, 0, Header.EAGER_BYTES, Header.EAGER_BYTES, SendMode.SAFER, ReceiveMode.EXPRESS);
        }
        return behind == 0
                ? channel.trySend(rank, nowHeader, 0, Header.EAGER_BYTES, SendMode.SAFER, ReceiveMode.EXPRESS)
                : channel.trySend(
                        rank, nowHeader, 0, Header.EAGER_BYTES, behind, SendMode.CHEAPER, ReceiveMode.CHEAPER);
    }

    private void sendWithBody(MemorySegment nowHeader, MemorySegment segment, long offset, long bytes) {
        try (var message = channel.beginPacking(rank)) {
            Outgoing.packHeader(message, nowHeader, Header.EAGER);
            if (bytes > 0) {
                message.pack(segment, offset, bytes, SendMode.CHEAPER, ReceiveMode.CHEAPER);
            }
            message.endPacking();
        }
    }

    private boolean trySend(Outgoing message) {
        Optional<OutgoingMessage> begun;
        try {
            begun = channel.tryBeginPacking(rank);
        } catch (MadeleineException e) {
            message.ended(e);
            return true;
        }
        if (begun.isEmpty()) {
            return false;
        }
        message.send(begun.get(), header, takeOwed(message.mostCredits()));
        return true;
    }

    private void append(Outgoing message) {
        lock.lock();
        try {
            message.behind = null;
            if (tail == null) {
                head = message;
            } else {
                tail.behind = message;
            }
            tail = message;
            queued.getAndIncrement();
        } finally {
            lock.unlock();
        }
    }

    private @Nullable Outgoing poll() {
        lock.lock();
        try {
            Outgoing first = head;
            if (first != null) {
                head = first.behind;
                first.behind = null;
                if (head == null) {
                    tail = null;
                }
            }
            return first;
        } finally {
            lock.unlock();
        }
    }

    private void schedule() {
        try {
            if (task != null) {
                task.schedule();
            }
        } catch (MadeleineException e) {
            endQueue(e);
        }
    }

    /** The action of the send task. */
    private void drain() {
        try {
            for (int i = 0; i < MOST_AT_ONCE && queued.get() != 0; i++) {
                Optional<OutgoingMessage> begun = channel.tryBeginPacking(rank);
                if (begun.isEmpty()) {
                    break;
                }
                Outgoing first = poll();
                if (first == null) {
                    begun.get().close(); // a loss has just emptied the queue
                    return;
                }
                try {
                    first.send(begun.get(), header, takeOwed(first.mostCredits())); // may post again: behind the others
                } finally {
                    queued.getAndDecrement();
                }
            }
        } catch (MadeleineException e) {
            endQueue(e);
            return;
        } catch (Error e) { // memory or the stack was exhausted: the rest has to leave all the same
            schedule();
            throw e;
        }
        if (queued.get() != 0) {
            schedule(); // behind other senders
        }
    }

    /** The peer is lost, for this reason. */
    void fail(MpiFault why) {
        failure = why;
        failQueue();
    }

    private void failQueue() {
        MpiFault why = failure;
        if (why != null) {
            endQueue(why);
        }
    }

    private void endQueue(RuntimeException why) {
        for (Outgoing message = poll(); message != null; message = poll()) {
            queued.getAndDecrement();
            message.ended(why);
        }
    }
}
