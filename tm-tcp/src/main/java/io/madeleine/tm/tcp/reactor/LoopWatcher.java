package io.madeleine.tm.tcp.reactor;

import io.madeleine.pmm.FailureLog;
import io.madeleine.pmm.spi.Reactor;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread for sessions that sleep in the reactor of another network. While the session sleeps, it waits in tcp's own
 * event loop and wakes the session's reactor when there is work in the loop. It handles nothing itself: the leader
 * does, with its next poll.
 *
 * <p>Threading: {@link #arm}, {@link #disarm} and {@link #takeReady} belong to the leader.
 */
public final class LoopWatcher extends Thread implements AutoCloseable {
    private static final long PAUSE_NS = 10_000_000;
    private static final long CLOSE_MS = 1_000;

    private final FailureLog failures = new FailureLog(System.getLogger("io.madeleine.tm.tcp"));
    private final NettyReactor own;
    private final Reactor sessions;
    private volatile boolean armed;
    private volatile boolean idle;
    private volatile boolean ready;
    private volatile boolean closed;

    /**
     * Creates the thread but does not start it.
     *
     * @param own the event loop to wait in, which asks before it handles events
     * @param sessions the reactor in which the session sleeps
     */
    public LoopWatcher(String adapter, NettyReactor own, Reactor sessions) {
        super("madeleine-tcp-loop-" + adapter);
        this.own = own;
        this.sessions = sessions;
        setDaemon(true);
    }

    /** From now on work in the loop ends the session's sleep, including work that is there already. */
    public void arm() {
        armed = true;
        if (idle) {
            LockSupport.unpark(this);
        }
    }

    /** Makes the thread leave the loop, which no other thread can run while this one waits in it. */
    public void disarm() {
        armed = false;
        if (!idle) {
            own.wakeUp();
        }
    }

    /** Whether the thread has woken the session since the last call. */
    public boolean takeReady() {
        if (!ready) {
            return false;
        }
        ready = false;
        return true;
    }

    @Override
    public void run() {
        while (!closed) {
            try {
                if (isWanted()) {
                    waitInLoop();
                }
            } catch (RuntimeException | Error e) { // no other thread watches while the session sleeps
                failures.error("waiting for sockets failed in thread " + getName() + "; it goes on", e);
                LockSupport.parkNanos(this, PAUSE_NS);
            }
        }
    }

    /**
     * Parks unless the thread is armed. {@link #arm} writes {@code armed} and then reads {@code idle}; this method
     * writes {@code idle} and then reads {@code armed}.
     */
    private boolean isWanted() {
        idle = true;
        if (!armed && !closed) {
            LockSupport.park(this);
        }
        idle = false; // disarm writes armed and then reads this
        return armed && !closed;
    }

    private static boolean mayHandle() {
        return false;
    }

    private void waitInLoop() {
        int _ = own.sleep(Long.MAX_VALUE, LoopWatcher::mayHandle);
        if (armed) {
            armed = false;
            ready = true;
            sessions.wakeUp();
        }
    }

    /** Ends the thread. It must be disarmed. */
    @Override
    public void close() {
        closed = true;
        own.wakeUp();
        LockSupport.unpark(this);
        try {
            join(CLOSE_MS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
