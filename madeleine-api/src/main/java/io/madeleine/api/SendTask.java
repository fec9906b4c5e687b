package io.madeleine.api;

/**
 * Something to be done on a connection as soon as a message can begin there: how to send for who may not wait, as a handler.
 * Such a one tries {@link Channel#tryBeginPacking} first; if that gives nothing it puts what it has to send into a
 * queue of its own and schedules a task whose action begins a message, packs what is in the queue, and ends the message
 * with {@link OutgoingMessage#endPackingAsync()}. Made by {@link Channel#newSendTask}; one object serves all the time, and what it does
 * allocates nothing.
 *
 * <p><b>Once.</b> Each time that the task is scheduled its action is run once. To schedule it again before that changes nothing; an action may
 * schedule its own task, for what is left. So what waits is bounded by the number of objects.
 *
 * <p><b>When.</b> The connection is the action's: its first {@link Channel#tryBeginPacking} succeeds, unless the peer is
 * gone. For further messages it may be others' turn. Tasks of a connection come in the order in which they were scheduled, each in its
 * turn between the threads that wait in {@link Channel#beginPacking(int)}. A thread that sends one message after the other may go ahead of
 * whoever is first for about a millisecond; behind several such threads, a task waits for several milliseconds. A
 * message that an action leaves open, be it by an exception, keeps all others waiting, as any open message does: close it in a {@code
 * finally}. If the peer is lost, or the session is closed, before its turn has come, the action is run
 * all the same, and what it begins fails.
 *
 * <p><b>Where.</b> Whoever ends the message in the way runs the action, or who schedules the task when there is none; if that is a virtual
 * thread, or in a handler, or in another action, whoever drives the session's progress runs it. So an action is run within no handler
 * and no other action, and only one of a channel's at a time; but perhaps beside the channel's handler, and with locks held that its thread
 * holds as it sends. It must not wait, as little as a handler: its waits fail after
 * {@code madeleine.wait.in-handlers}. What it throws is logged. It does not see an interrupt that was meant for its thread.
 *
 * <p>A session that closes gives scheduled tasks their turns first, as it sends what {@code endPackingAsync} promised.
 *
 * <p>Threading: thread-safe.
 */
public interface SendTask {
    /**
     * Has the action run once: at once if that may be, else when its turn comes. Does nothing while it is scheduled. Never waits.
     *
     * @throws PeerFailedException if the peer is gone; the action is not run
     * @throws SessionException if the session is closed; the action is not run
     */
    void schedule();

    /** Has it not run after all; returns false if it was not scheduled, or its turn has come: it may be running just now. */
    boolean cancel();

    /** Whether it waits for its turn. */
    boolean isScheduled();
}
