package io.madeleine.api;

/**
 * A task that runs once when a message can begin on a connection. It lets code that must not wait, such as a handler,
 * send: the code tries {@link Channel#tryBeginPacking} first. If the connection is taken, the code puts its data into a
 * queue of its own and schedules a task, whose action begins a message, packs what is in the queue, and ends the
 * message with {@link OutgoingMessage#endPackingAsync()}. {@link Channel#newSendTask} makes a task. One object serves
 * for the whole session, and scheduling it allocates nothing.
 *
 * <p><b>Once.</b> Each time the task is scheduled, its action runs once. Scheduling a task that is already scheduled
 * has no effect; an action may schedule its own task to send the rest. So the number of task objects bounds the number
 * of waiting actions.
 *
 * <p><b>When.</b> The action has the turn on the connection: its first {@link Channel#tryBeginPacking} succeeds, unless
 * the peer is gone. Further messages of the action may have to give way to others. The tasks of a connection run in the
 * order in which they were scheduled, each in its turn among the threads that wait in
 * {@link Channel#beginPacking(int)}. A thread that sends one message after the other may overtake the first in the line
 * for about a millisecond; behind several such threads a task waits for several milliseconds. A message that an action
 * leaves open, even because of an exception, blocks all others, as any open message does: close it in a
 * {@code finally}. If the peer is lost or the session is closed before the task's turn, the action still runs, and its
 * attempt to begin a message fails.
 *
 * <p><b>Where.</b> The thread that ends the preceding message runs the action; if there is no such message, the thread
 * that schedules the task does. If that thread is virtual, or is in a handler or in another action, the thread that
 * drives the session's progress runs the action instead. So an action never runs within a handler or another action,
 * and a channel runs one action at a time. But it may run beside the channel's handler, and while its thread holds
 * locks that it held when it sent. The action must not wait, just as a handler must not: its waits fail after {@code
 * madeleine.wait.in-handlers}. A throwable from the action is logged. The action does not see an interrupt of the
 * thread that runs it. If the action sets the interrupt status, the thread keeps it, even a thread that only sends.
 *
 * <p>A session that closes runs the scheduled tasks first, just as it first sends what {@code endPackingAsync}
 * promised, for {@code madeleine.session.close-timeout} at most.
 *
 * <p>Threading: thread-safe.
 */
public interface SendTask {
    /**
     * Schedules the action to run once: at once if the connection is free and this thread may run it, otherwise when
     * its turn comes. Does nothing while the task is scheduled. Never waits.
     *
     * @throws PeerFailedException if the peer is gone; the action does not run
     * @throws SessionException if the session is closed; the action does not run
     */
    void schedule();

    /**
     * Cancels the scheduled run.
     *
     * @return false if the task was not scheduled, or if its turn has come: the action may be running
     */
    boolean cancel();

    /** Whether the task is scheduled and waits for its turn. */
    boolean isScheduled();
}
