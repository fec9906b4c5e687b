package io.madeleine.testkit;

import io.madeleine.pmm.spi.BufferGroup;

/**
 * One direction of one link: a bounded queue from one thread at a time to one thread at a time.
 *
 * <p>Threading: single producer, single consumer; each index is written by one side and read by both.
 */
abstract sealed class LoopPipe permits LoopSlots, LoopDynamicPipe {
    final long deliverBytes;
    private final int delayRounds;

    /** How much has been produced and consumed, in slots or bytes. */
    volatile long produced;

    volatile long consumed;

    /** How much of what was produced the consumer may see. */
    private volatile long visible;

    /** Whether the producer was told that it has to wait for room. */
    volatile boolean starving;

    private int rounds;

    LoopPipe(LoopTm receiver) {
        this.deliverBytes = receiver.deliverBytes();
        this.delayRounds = receiver.delayRounds();
    }

    /** Up to where the consumer may look. */
    final long limit() {
        return delayRounds == 0 ? produced : visible;
    }

    /** Called once per poll of the receiver: lets what was sent come nearer. */
    void pass() {
        if (delayRounds != 0 && visible != produced && ++rounds >= delayRounds) {
            rounds = 0;
            visible = produced;
        }
    }

    /** Whether something is under way that the consumer cannot see yet. */
    boolean hidesSomething() {
        return limit() != produced;
    }

    /** Whether what it hides shows only if the receiver polls on. */
    boolean showsByPolling() {
        return hidesSomething();
    }

    /** Whether something is under way that moves only some time after it was sent, when the sender is polled. */
    boolean isUnderWay() {
        return false;
    }

    /** Whether the receiver is to be told that something it waits for has moved. */
    boolean calls() {
        return false;
    }

    /** Whether the consumer could go on. */
    boolean hasNews() {
        return limit() != consumed;
    }

    /**
     * Called once per poll of the sender: tells him of what has become of what he sent, if it is due of all of it; whether there was
     * something.
     */
    boolean passToSender(boolean isDue) {
        return false;
    }

    /** That side of the connection is over: from now on no memory of its user is touched. */
    void giveMemoryBack(boolean toSender) {}

    /** The header in front, 0 without one. */
    abstract long front();

    abstract long receive(BufferGroup group, long maxBytes);

    abstract long skip(long maxBytes);

    abstract void release();

    abstract boolean hasRoom();

    /** Whether the producer was told to wait, and need not any more. */
    final boolean producerCouldGoOn() {
        return starving && hasRoom();
    }
}
