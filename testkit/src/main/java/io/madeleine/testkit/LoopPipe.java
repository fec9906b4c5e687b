package io.madeleine.testkit;

import io.madeleine.pmm.spi.BufferGroup;

/**
 * One direction of one link: a bounded queue.
 *
 * <p>Threading: one producer thread and one consumer thread at a time; one side writes each index, both read it.
 */
abstract sealed class LoopPipe permits LoopSlots, LoopDynamicPipe {
    final long deliverBytes;
    private final int delayRounds;

    /** How many slots or bytes have been produced. */
    volatile long produced;

    /** How many slots or bytes have been consumed. */
    volatile long consumed;

    /** How many of the produced slots or bytes the consumer may see. */
    private volatile long visible;

    /** Whether the producer was told to wait for room. */
    volatile boolean starving;

    private int rounds;

    LoopPipe(LoopTm receiver) {
        this.deliverBytes = receiver.deliverBytes();
        this.delayRounds = receiver.delayRounds();
    }

    /** The limit up to which the consumer may read. */
    final long limit() {
        return delayRounds == 0 ? produced : visible;
    }

    /** Called once per poll of the receiver: makes sent data visible after the configured delay. */
    void pass() {
        if (delayRounds != 0 && visible != produced && ++rounds >= delayRounds) {
            rounds = 0;
            visible = produced;
        }
    }

    /** Whether the pipe holds data that the consumer cannot see yet. */
    boolean hidesSomething() {
        return limit() != produced;
    }

    /** Whether hidden data becomes visible only if the receiver continues to poll. */
    boolean showsByPolling() {
        return hidesSomething();
    }

    /** Whether the pipe holds data that moves only some time later, when the sender is polled. */
    boolean isUnderWay() {
        return false;
    }

    /** Whether the receiver must be woken, since something that it waits for has happened. */
    boolean calls() {
        return false;
    }

    /** Whether the consumer has something to read. */
    boolean hasWork() {
        return limit() != consumed;
    }

    /**
     * Called once per poll of the sender: completes posted sends, all of them if {@code isDue}.
     *
     * @return whether a send was completed
     */
    boolean passToSender(boolean isDue) {
        return false;
    }

    /** One side of the connection is closed: from now on the pipe accesses no memory of its user. */
    void giveMemoryBack(boolean toSender) {}

    /** The header in front, 0 without one. */
    abstract long front();

    abstract long receive(BufferGroup group, long maxBytes);

    abstract long skip(long maxBytes);

    abstract void release();

    abstract boolean hasRoom();

    /** Whether the producer was told to wait and there is room now. */
    final boolean producerCouldGoOn() {
        return starving && hasRoom();
    }
}
