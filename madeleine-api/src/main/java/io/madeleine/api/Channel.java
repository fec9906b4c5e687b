package io.madeleine.api;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A communication context over the configured networks: messages of one channel never meet those of another. Messages
 * between two processes stay in order within a channel; no other order is promised (paper, section 2.1).
 *
 * <p>Each pair of processes has one connection per channel. It has at most one open message in each direction; {@code
 * begin...} waits for its turn. Messages of different connections are independent.
 *
 * <p>Threading: thread-safe. Many threads, virtual ones too, may send and receive on one channel; messages never
 * interleave. A message itself is used by one thread at a time and may be handed to another.
 *
 * <p>A wait ends with its result, or with {@link DeadlineExceededException}, {@link WaitInterruptedException},
 * {@link PeerFailedException} or {@link SessionException}. A waiting platform thread drives the session's networks
 * meanwhile. Each method with a rank throws {@link IllegalArgumentException} unless it is that of another process of
 * the session.
 */
public interface Channel {
    /** The channel's name, the key under {@code madeleine.channels}. */
    String name();

    /** The network that carries the channel to {@code remote}: {@code tcp}, {@code sci} ... */
    String network(int remote);

    /**
     * Whether messages can be sent to {@code remote}: as far as this process knows, it has neither died nor left the
     * session. Never waits.
     */
    boolean isConnected(int remote);

    /** The session the channel belongs to. */
    Session session();

    /**
     * Begins a message to the process of rank {@code remote}. Waits until the connection's previous outgoing message
     * has ended; threads that wait for this get their turns in the order of their arrival.
     *
     * @throws IllegalArgumentException if {@code remote} is not another process of the session
     */
    OutgoingMessage beginPacking(int remote);

    /**
     * As {@link #beginPacking(int)}, with a deadline for the whole message: no wait of the message, this one included,
     * lasts beyond it. Reads no clock unless it has to wait.
     *
     * @param deadlineNs on the clock of {@link System#nanoTime()}; {@link Long#MAX_VALUE} means no deadline
     * @throws DeadlineExceededException if the message cannot begin by then
     */
    OutgoingMessage beginPackingUntil(int remote, long deadlineNs);

    /** As {@link #beginPacking(int)}, waiting no longer than the given time. */
    OutgoingMessage beginPacking(int remote, long timeout, TimeUnit unit);

    /**
     * As {@link #beginPacking(int)} without waiting: empty while another message is open, or if a thread that has
     * waited for more than a moment has the next turn. Does not allocate.
     *
     * @throws PeerFailedException if the process has died or left
     */
    Optional<OutgoingMessage> tryBeginPacking(int remote);

    /**
     * Sends a message of one block to the process of rank {@code remote}: {@link #beginPacking(int)}, one {@link
     * OutgoingMessage#pack(MemorySegment, long, long, SendMode, ReceiveMode) pack} and
     * {@link OutgoingMessage#endPacking()} in one call. The same bytes travel; for a small message the call needs a
     * fraction of the instructions. The receiver may use {@code receive} or unpack block by block, with the same modes.
     *
     * <p>When this call returns or throws, the block may be changed, in all modes. If the call throws, the message was
     * not sent, or it is aborted: a retry does not deliver it twice. If the message had already left when a deadline or
     * an interrupt was noticed, it is delivered and the call returns normally, with the interrupt status set. Does not
     * allocate.
     *
     * <p>Ownership: the block stays the caller's.
     *
     * @param block the memory of the block
     * @param offset where the block begins, in bytes
     * @param bytes the length of the block
     * @throws IllegalArgumentException if {@code remote} is not another process of the session
     * @throws IndexOutOfBoundsException if the block does not lie in the segment
     * @throws MessageAbortedException if the block's memory has been freed
     * @throws PeerFailedException if the process has died or left
     * @throws WaitInterruptedException if the thread is interrupted while it has to wait
     */
    void send(int remote, MemorySegment block, long offset, long bytes, SendMode sendMode, ReceiveMode receiveMode);

    /** As {@link #send(int, MemorySegment, long, long, SendMode, ReceiveMode)}, for a whole segment. */
    default void send(int remote, MemorySegment block, SendMode sendMode, ReceiveMode receiveMode) {
        send(remote, block, 0, block.byteSize(), sendMode, receiveMode);
    }

    /**
     * As {@link #send(int, MemorySegment, long, long, SendMode, ReceiveMode)}, waiting no longer than the given time in
     * total. Reads no clock unless it has to wait.
     *
     * @throws DeadlineExceededException if the message could not begin by then, or could not end and is aborted; in
     *     both cases nothing of it is delivered
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
     * As {@link #send(int, MemorySegment, long, long, SendMode, ReceiveMode)} if the whole message can leave at once;
     * never waits, and keeps no block beyond the call. Code that must not wait tries this first, and then begins the
     * message by {@link #tryBeginPacking}. Does not allocate.
     *
     * <p>Does not drive the networks either. Some networks learn of new room only when they are driven, so a loop of
     * tries needs {@link Session#progress} between them.
     *
     * @return whether the message was sent; if not, nothing of it was: another message is being sent or waits for its
     *     turn, the network has no room at the moment, the block is too large to be sent in one step, or the network
     *     sends nothing this way ({@code tcp})
     * @throws IllegalArgumentException if {@code remote} is not another process of the session
     * @throws IndexOutOfBoundsException if the block does not lie in the segment
     * @throws PeerFailedException if the process has died or left
     */
    boolean trySend(
            int remote, MemorySegment block, long offset, long bytes, SendMode sendMode, ReceiveMode receiveMode);

    /**
     * As {@link #trySend(int, MemorySegment, long, long, SendMode, ReceiveMode)}, for a message of two blocks that lie
     * one behind the other: a header, as if packed {@link SendMode#SAFER} and {@link ReceiveMode#EXPRESS}, and a body.
     * The receiver unpacks two blocks.
     *
     * @param blocks the memory of both
     * @param offset where the header begins, in bytes
     * @param headerBytes the length of the header
     * @param bodyBytes the length of the body
     * @param sendMode that of the body
     * @param receiveMode that of the body
     * @return whether the message was sent; if not, nothing of it was
     * @throws IllegalArgumentException if {@code remote} is not another process of the session
     * @throws IndexOutOfBoundsException if the blocks do not lie in the segment
     * @throws PeerFailedException if the process has died or left
     */
    boolean trySend(
            int remote,
            MemorySegment blocks,
            long offset,
            long headerBytes,
            long bodyBytes,
            SendMode sendMode,
            ReceiveMode receiveMode);

    /**
     * Makes a task that runs {@code action} when a message to {@code remote} can begin, for code that must not wait and
     * has found the connection taken. The task is not scheduled yet.
     *
     * @throws IllegalArgumentException if {@code remote} is not another process of the session
     */
    SendTask newSendTask(int remote, Runnable action);

    /**
     * As {@link #newSendTask}, but schedules the task at once. Code that does this often should keep the task and
     * schedule it again.
     *
     * @throws PeerFailedException if the process has died or left
     */
    default SendTask whenFree(int remote, Runnable action) {
        SendTask task = newSendTask(remote, action);
        task.schedule();
        return task;
    }

    /** Begins to receive the channel's first incoming message, from any sender. Waits until there is one. */
    IncomingMessage beginUnpacking();

    /** As {@link #beginUnpacking()}, waiting no longer than the given time. */
    IncomingMessage beginUnpacking(long timeout, TimeUnit unit);

    /** Begins to receive the next message from the process of rank {@code remote}. Waits until there is one. */
    IncomingMessage beginUnpacking(int remote);

    /** As {@link #beginUnpacking(int)}, waiting no longer than the given time. */
    IncomingMessage beginUnpacking(int remote, long timeout, TimeUnit unit);

    /**
     * Begins to receive the channel's first incoming message if there is one; never waits. Drives the networks once if
     * there is none, so that it may be called in a loop. Does not allocate.
     *
     * @throws PeerFailedException if there is no message, and no peer is left that could send one
     */
    Optional<IncomingMessage> tryBeginUnpacking();

    /**
     * As {@link #tryBeginUnpacking()}, for messages from one process.
     *
     * @throws PeerFailedException if there is no message from it, and none can come any more
     */
    Optional<IncomingMessage> tryBeginUnpacking(int remote);

    /**
     * Receives the channel's first incoming message, from any sender, and expects one block in it:
     * {@link #beginUnpacking()}, one {@link IncomingMessage#unpack(MemorySegment, long, long, SendMode, ReceiveMode)
     * unpack} and {@link IncomingMessage#endUnpacking()} in one call. For a small message the call needs a fraction of
     * the instructions. The sender may have used {@code send} or packed block by block, with the same modes.
     *
     * <p>If the call fails after the message has begun to arrive, for instance with {@link AsymmetricMessageException},
     * the rest of the message is discarded. Does not allocate.
     *
     * <p>Ownership: the block is the caller's again when the call returns or throws.
     *
     * @param block the writable memory to receive into
     * @param offset where the block begins, in bytes
     * @param bytes the length of the block
     * @return the sender's rank
     * @throws IllegalArgumentException if the memory is read-only
     * @throws IndexOutOfBoundsException if the block does not lie in the segment
     * @throws AsymmetricMessageException if the message does not consist of exactly this block
     * @throws MessageAbortedException if the sender aborted the message, or the block's memory has been freed; the
     *     message is consumed
     * @throws PeerFailedException if no peer is left that could send a message, or the sender died before the message
     *     was whole
     * @throws WaitInterruptedException if the thread is interrupted while it has to wait; a message that had begun to
     *     arrive is discarded
     */
    int receive(MemorySegment block, long offset, long bytes, SendMode sendMode, ReceiveMode receiveMode);

    /** As {@link #receive(MemorySegment, long, long, SendMode, ReceiveMode)}, into a whole segment. */
    default int receive(MemorySegment block, SendMode sendMode, ReceiveMode receiveMode) {
        return receive(block, 0, block.byteSize(), sendMode, receiveMode);
    }

    /**
     * As {@link #receive(MemorySegment, long, long, SendMode, ReceiveMode)}, waiting no longer than the given time in
     * total. Reads no clock unless it has to wait.
     *
     * @throws DeadlineExceededException if no message came by then, or if one was not complete by then and is discarded
     */
    int receive(
            MemorySegment block,
            long offset,
            long bytes,
            SendMode sendMode,
            ReceiveMode receiveMode,
            long timeout,
            TimeUnit unit);

    /**
     * As {@link #receive(MemorySegment, long, long, SendMode, ReceiveMode)}, from the process of rank {@code remote}.
     */
    void receive(int remote, MemorySegment block, long offset, long bytes, SendMode sendMode, ReceiveMode receiveMode);

    /** As {@link #receive(MemorySegment, SendMode, ReceiveMode)}, from the process of rank {@code remote}. */
    default void receive(int remote, MemorySegment block, SendMode sendMode, ReceiveMode receiveMode) {
        receive(remote, block, 0, block.byteSize(), sendMode, receiveMode);
    }

    /**
     * As {@link #receive(MemorySegment, long, long, SendMode, ReceiveMode, long, TimeUnit)}, from the process of rank
     * {@code remote}.
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
     * Hands each incoming message that no {@code beginUnpacking} waits for to {@code handler}, already begun. A channel
     * has one handler: a further call replaces it. The thread that drives progress calls the handler. The handler may
     * unpack the EXPRESS header, keep the message open, give it to another thread, and return. A message
     * that nobody closes holds back all later messages of its sender.
     *
     * <p>The channel calls its handler for one message after the other, never nested and never in two threads at once.
     * The handler must wait for nothing but the message it was given. Such a wait calls no handlers; other threads
     * drive progress and call the handlers of other channels meanwhile. Any other wait fails after
     * {@code madeleine.wait.in-handlers} with an {@link IllegalStateException} that names the alternative: hand such
     * work to another thread, for instance one of {@link Session#virtualThreads}. Waits that are not calls of this
     * library, such as those for a lock or the end of a thread, cannot fail so: meanwhile possibly no thread drives
     * progress, and a thread that waits in a call of this library, even for the handler's own message, waits for ever.
     * Calls that do not wait ({@code tryBegin...}, {@link Session#progress}, {@link Completion#isDone}) poll the
     * networks, but call no handler either.
     *
     * <p>If the handler throws, errors included, the throwable is logged and the message is discarded. A throwable that
     * repeats at the same place is logged once a second, with a count.
     *
     * <p>The handler is not the target of interrupts: it is called with the interrupt status clear, and its own waits
     * continue when the thread is interrupted. The status is set again when the handler returns, also if the handler
     * itself has set it. If a user's thread called the handler during a wait, that wait then ends: with its result if
     * its condition is met, else with {@link WaitInterruptedException}. The status stays set. If a thread of the
     * session called the handler, the status is cleared.
     */
    void onMessage(MessageHandler handler);

    /**
     * As {@link #onMessage(MessageHandler)}, and hands short messages to {@code shortHandler} as bytes: a message that
     * has arrived as a whole, in one packet of at most {@code block.byteSize()} bytes, is copied into {@code block},
     * one of its blocks behind the other. No message object is made, which saves most of the instructions. All rules
     * for handlers hold for both handlers together: one message at a time, in each sender's order. A short handler
     * waits for nothing.
     *
     * <p>Which messages are handed over this way depends on the network and on the moment; with {@code
     * madeleine.debug.self-described} none is. So {@code handler} has to understand all messages.
     *
     * <p>Ownership: the block belongs to the channel until another handler is set. Its contents are valid while {@code
     * shortHandler} runs. If its memory is freed, all messages go to {@code handler}.
     *
     * @param block writable memory that all threads may access
     * @throws IllegalArgumentException if the memory is read-only or confined to a thread
     */
    void onMessage(MessageHandler handler, MemorySegment block, ShortMessageHandler shortHandler);

    /**
     * Makes a signal for conditions that this channel's message handler makes true. Waits follow the channel's
     * {@code hint}; the waiting thread may call the handler itself, even while another thread drives progress.
     */
    Signal newSignal();

    /** Receives the messages of a channel as they arrive. */
    @FunctionalInterface
    interface MessageHandler {
        /**
         * Receives a message that has begun.
         *
         * <p>Ownership: the message is the handler's until the handler ends or closes it.
         *
         * @param message the message, open
         */
        void onMessage(IncomingMessage message);
    }

    /** Receives the short messages of a channel as they arrive, as bytes in a block. */
    @FunctionalInterface
    interface ShortMessageHandler {
        /**
         * Receives a message that is over.
         *
         * @param remote the sender's rank
         * @param bytes how many bytes of the block the message has filled
         */
        void onMessage(int remote, long bytes);

        /**
         * Whether the sender's next message may be handed over this way now; if not, the other handler gets it. Return
         * false to hold the sender back: only an open message does that.
         *
         * @param remote the sender's rank
         */
        default boolean accepts(int remote) {
            return true;
        }
    }
}
