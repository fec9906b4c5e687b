package io.madeleine.tm.tcp;

import io.madeleine.pmm.FailureLog;
import io.madeleine.pmm.spi.Reactor;
import java.util.concurrent.locks.LockSupport;

/**
 * Where the session sleeps in a reactor that is not tcp's: a thread that waits in tcp's own loop meanwhile, and wakes that reactor when
 * there is something to do in the loop. It does nothing of it itself: the leader does, with its next poll.
 *
 * <p>Threading: {@link #arm}, {@link #disarm} and {@link #takeNews} belong to the leader.
 */
final class LoopSentry extends Thread implements AutoCloseable {
    private static final long PAUSE_NS = 10_000_000;
    private static final long CLOSE_MS = 1_000;

    private final FailureLog failures = new FailureLog(System.getLogger("io.madeleine.tm.tcp"));
    private final NettyReactor own;
    private final Reactor sessions;
    private volatile boolean armed;
    private volatile boolean idle;
    private volatile boolean news;
    private volatile boolean closed;

    /** Not started yet, between a loop that asks before it handles anything and where the session sleeps. */
    LoopSentry(String adapter, NettyReactor own, Reactor sessions) {
        super("madeleine-tcp-sentry-" + adapter);
        this.own = own;
        this.sessions = sessions;
        setDaemon(true);
    }

    /** From now on what there is to do in the loop, also what there was before, ends the session's sleep. */
    void arm() {
        armed = true;
        if (idle) {
            LockSupport.unpark(this);
        }
    }

    /** Has it leave the loop, which nobody else can run while it waits there. */
    void disarm() {
        armed = false;
        if (!idle) {
            own.wakeUp();
        }
    }

    /** Whether it has woken the session since this was asked last. */
    boolean takeNews() {
        if (!news) {
            return false;
        }
        news = false;
        return true;
    }

    @Override
    public void run() {
        while (!closed) {
            try {
                if (isWanted()) {
                    waitInLoop();
                }
            } catch (RuntimeException | Error e) { // nobody else looks while the session sleeps
                failures.error("waiting for sockets failed on " + getName() + "; it goes on", e);
                LockSupport.parkNanos(this, PAUSE_NS);
            }
        }
    }

    /** Parks, unless it is armed; who arms does so and looks then whether it is idle. */
    private boolean isWanted() {
        idle = true;
        if (!armed && !closed) {
            LockSupport.park(this);
        }
        idle = false; // who disarms does so and looks then
        return armed && !closed;
    }

    private static boolean mayHandle() {
        return false;
    }

    private void waitInLoop() {
        int _ = own.sleep(Long.MAX_VALUE, LoopSentry::mayHandle);
        if (armed) {
            armed = false;
            news = true;
            sessions.wakeUp();
        }
    }

    /** Ends it; it is not armed any more. */
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
