package io.madeleine.api;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A closed world for communication, bound to one network: messages on one channel never meet those of another. Order is
 * kept between each pair of processes within a channel, and promised nowhere else (paper, section 2.1).
 *
 * <p>Each pair of processes has one connection per channel and direction. One outgoing and one incoming message per
 * connection may be open at a time; {@code begin...} waits for its turn. Messages of different connections are
 * independent.
 *
 * <p>Threading: thread-safe. Many threads, virtual ones too, may send and receive on one channel; messages never
 * interleave. A message itself is used by one thread at a time and may be handed to another.
 *
 * <p>Waits end with the result, or with {@link DeadlineExceededException}, {@link WaitInterruptedException},
 * {@link PeerFailedException} or {@link SessionException}; a waiting thread drives the session's networks meanwhile.
 */
public interface Channel {
    /** The channel's name, the key under {@code madeleine.channels}. */
    String name();

    /** The network that carries the channel to {@code remote}: {@code tcp}, {@code sci} ... */
    String network(int remote);

    /** Whether {@code remote} can be sent to: it has neither died nor left the session, as far as is known. Never waits. */
    boolean isConnected(int remote);

    /** The session the channel belongs to. */
    Session session();

    /**
     * Initiates a message to the process of rank {@code remote}, waiting until the connection's previous outgoing
     * message has ended. Threads that wait for that have their turns in the order in which they came.
     *
     * @throws IllegalArgumentException if {@code remote} is not another process of the session
     */
    OutgoingMessage beginPacking(int remote);

    /**
     * As {@link #beginPacking(int)}, for who knows until when a message is worth sending: no wait of it, this one included, takes
     * longer. Reads no clock unless it has to wait.
     *
     * @param deadlineNs in {@link System#nanoTime()} terms; {@link Long#MAX_VALUE} is none
     * @throws DeadlineExceededException if it cannot begin by then
     */
    OutgoingMessage beginPackingUntil(int remote, long deadlineNs);

    /** As {@link #beginPacking(int)}, waiting no longer than the given time. */
    OutgoingMessage beginPacking(int remote, long timeout, TimeUnit unit);

    /**
     * As {@link #beginPacking(int)} without waiting; empty while another message is open, or a thread that has waited for
     * its turn for more than a moment is to have it now. Does not allocate.
     *
     * @throws PeerFailedException if the process has died or left
     */
    Optional<OutgoingMessage> tryBeginPacking(int remote);

    /**
     * Sends a message of one block to the process of rank {@code remote}: {@link #beginPacking(int)}, one {@link
     * OutgoingMessage#pack(MemorySegment, long, long, SendMode, ReceiveMode) pack} and {@link OutgoingMessage#endPacking()} in one
     * call, with the same bytes on their way, at a fraction of the instructions where the message is small. It may be
     * received by {@code receive} or block by block, with the same modes, as ever.
     *
     * <p>When this returns, or fails, the block may be changed, whatever the modes say. If it fails the message has not been sent, or is
     * aborted: who sends it again sends it once. What had left before a deadline or an interrupt was noticed is sent, and this returns
     * normally, the interrupt status set. Does not allocate.
     *
     * @param block where the block lies; the caller's
     * @param offset where it begins, in bytes
     * @param bytes how long it is
     * @throws IllegalArgumentException if {@code remote} is not another process of the session
     * @throws IndexOutOfBoundsException if the block does not lie in the segment
     * @throws MessageAbortedException if the block's memory has been freed
     * @throws PeerFailedException if the process has died or left
     * @throws WaitInterruptedException if the thread is interrupted while it has to wait
     */
    void send(int remote, MemorySegment block, long offset, long bytes, SendMode sendMode, ReceiveMode receiveMode);

    /** As {@link #send(int, MemorySegment, long, long, SendMode, ReceiveMode)}, of a whole segment. */
    default void send(int remote, MemorySegment block, SendMode sendMode, ReceiveMode receiveMode) {
        send(remote, block, 0, block.byteSize(), sendMode, receiveMode);
    }

    /**
     * As {@link #send(int, MemorySegment, long, long, SendMode, ReceiveMode)}, waiting no longer than the given time, all in all. Reads
     * no clock unless it has to wait.
     *
     * @throws DeadlineExceededException if it could not begin by then; or could not end, and the message is aborted. In both cases nothing
     *     of it is delivered
     */
    void send(
            int remote,
            MemorySegment block,
            long offset,
            long bytes,
            SendMode sendMode,
            ReceiveMode receiveMode,
            long timeout,
            TimeUnit unit);

    /**
     * Something to be done as soon as a message to {@code remote} can begin, for who may not wait and has found the connection
     * taken. Not scheduled yet.
     *
     * @throws IllegalArgumentException if {@code remote} is not another process of the session
     */
    SendTask newSendTask(int remote, Runnable action);

    /**
     * As {@link #newSendTask}, scheduled at once: has the action run as soon as a message to {@code remote} can begin. Who
     * does that often keeps the task and schedules it again.
     *
     * @throws PeerFailedException if the process has died or left
     */
    default SendTask whenFree(int remote, Runnable action) {
        SendTask task = newSendTask(remote, action);
        task.schedule();
        return task;
    }

    /** Initiates the reception of the channel's first incoming message, from whomever it comes. */
    IncomingMessage beginUnpacking();

    /** As {@link #beginUnpacking()}, waiting no longer than the given time. */
    IncomingMessage beginUnpacking(long timeout, TimeUnit unit);

    /** Initiates the reception of the next message from the process of rank {@code remote}. */
    IncomingMessage beginUnpacking(int remote);

    /** As {@link #beginUnpacking(int)}, waiting no longer than the given time. */
    IncomingMessage beginUnpacking(int remote, long timeout, TimeUnit unit);

    /**
     * The channel's first incoming message if there is one, without waiting. Drives the networks once when it finds
     * none, so that it may be called in a loop. Does not allocate.
     *
     * @throws PeerFailedException if there is none, and nobody is left who could send one
     */
    Optional<IncomingMessage> tryBeginUnpacking();

    /** As {@link #tryBeginUnpacking()} for messages from one process; {@link PeerFailedException} once none will come. */
    Optional<IncomingMessage> tryBeginUnpacking(int remote);

    /**
     * Receives the channel's first incoming message, which is to have one block, from whomever it comes: {@link #beginUnpacking()},
     * one {@link IncomingMessage#unpack(MemorySegment, long, long, SendMode, ReceiveMode) unpack} and {@link
     * IncomingMessage#endUnpacking()} in one call, at a fraction of the instructions where the message is small. It may have been
     * sent by {@code send} or block by block, with the same modes, as ever.
     *
     * <p>If this fails after the message has begun to arrive, for it has other blocks ({@link AsymmetricMessageException}), say, the
     * rest of it is discarded. Does not allocate.
     *
     * @param block where the block is to lie, which can be written; the caller's
     * @param offset where it is to begin, in bytes
     * @param bytes how long it is
     * @return the sender's rank
     * @throws IllegalArgumentException if the block cannot be written
     * @throws IndexOutOfBoundsException if the block does not lie in the segment
     * @throws AsymmetricMessageException if the message has other blocks than this one
     * @throws MessageAbortedException if its sender has given it up, or the block's memory has been freed; the message is consumed
     * @throws PeerFailedException if nobody is left who could send one, or its sender has died in the midst of it
     * @throws WaitInterruptedException if the thread is interrupted while it has to wait; a message that had begun to arrive is
     *     discarded
     */
    int receive(MemorySegment block, long offset, long bytes, SendMode sendMode, ReceiveMode receiveMode);

    /** As {@link #receive(MemorySegment, long, long, SendMode, ReceiveMode)}, into a whole segment. */
    default int receive(MemorySegment block, SendMode sendMode, ReceiveMode receiveMode) {
        return receive(block, 0, block.byteSize(), sendMode, receiveMode);
    }

    /**
     * As {@link #receive(MemorySegment, long, long, SendMode, ReceiveMode)}, waiting no longer than the given time, all in all. Reads no
     * clock unless it has to wait.
     *
     * @throws DeadlineExceededException if no message came by then; or one did not come to its end, and is discarded
     */
    int receive(
            MemorySegment block,
            long offset,
            long bytes,
            SendMode sendMode,
            ReceiveMode receiveMode,
            long timeout,
            TimeUnit unit);

    /** As {@link #receive(MemorySegment, long, long, SendMode, ReceiveMode)}, from the process of rank {@code remote}. */
    void receive(int remote, MemorySegment block, long offset, long bytes, SendMode sendMode, ReceiveMode receiveMode);

    /** As {@link #receive(MemorySegment, SendMode, ReceiveMode)}, from the process of rank {@code remote}. */
    default void receive(int remote, MemorySegment block, SendMode sendMode, ReceiveMode receiveMode) {
        receive(remote, block, 0, block.byteSize(), sendMode, receiveMode);
    }

    /**
     * As {@link #receive(MemorySegment, long, long, SendMode, ReceiveMode, long, TimeUnit)}, from the process of rank {@code
     * remote}.
     */
    void receive(
            int remote,
            MemorySegment block,
            long offset,
            long bytes,
            SendMode sendMode,
            ReceiveMode receiveMode,
            long timeout,
            TimeUnit unit);

    /**
     * Hands each incoming message that no {@code beginUnpacking} waits for to {@code handler}, already begun. A channel has one
     * handler: a further call puts another one in its place. Whoever
     * drives progress calls it: it may unpack the EXPRESS header, keep the message open, give it to another thread
     * and return.
     *
     * <p>A channel's handler is called for one message after the other, never within or beside another call. It must not wait
     * for anything but the message it was given: such a wait calls no handler, and leaves it to other threads to drive
     * progress and call the handlers of other channels. Any other wait fails after {@code madeleine.wait.in-handlers} with
     * an {@link IllegalStateException} that says what to use instead; what has to wait is for another thread, one of {@link
     * Session#virtualThreads} for instance. What does not wait ({@code tryBegin...}, {@link Session#progress}, {@link
     * Completion#isDone}) looks for news, but calls no handler either.
     *
     * <p>Anything thrown by it, errors included, is logged, and discards its message; what is thrown again and again from the same
     * place is logged once a second, with a count.
     *
     * <p>An interrupt is the thread's that happens to call the handler, not the handler's: it is called with the interrupt status
     * clear, and its own waits go on when the thread is interrupted. The status is set again when the handler returns, also if
     * the handler has set it: a thread of the user, in whose wait it was called, ends that wait ({@link
     * WaitInterruptedException}); a thread of the session's own forgets it.
     */
    void onMessage(MessageHandler handler);

    /**
     * A place to wait for what this channel's message handler brings about, as the channel's {@code hint} says; the handler may be called
     * in the waiting thread, also while another one drives progress.
     */
    Signal newSignal();

    /** Receives the messages of a channel as they arrive. */
    @FunctionalInterface
    interface MessageHandler {
        /**
         * Called with a message that has begun. Ownership: the handler's, until it ends or closes the message.
         *
         * @param message the message, open
         */
        void onMessage(IncomingMessage message);
    }
}
