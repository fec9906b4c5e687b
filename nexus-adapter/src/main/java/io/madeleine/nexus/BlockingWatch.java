package io.madeleine.nexus;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * In debug mode, finds non-threaded handlers that block. The thread's counts of waits and blocks, before and after,
 * show that a handler has blocked; a watcher that samples its stack every millisecond shows where.
 *
 * <p>Threading: the thread that runs handlers calls {@link #begin} and {@link #end}, one handler at a time.
 */
final class BlockingWatch implements AutoCloseable {
    private static final long LOOK_NS = 1_000_000;
    private static final int TOLD_FRAMES = 24;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final Node node;
    private final Thread watcher;
    private volatile @Nullable Thread watched;
    private volatile StackTraceElement @Nullable [] seen;
    private volatile boolean closed;
    private @Nullable Endpoint endpoint;
    private String handler = "";
    private int sender;
    private long pausesBefore;

    BlockingWatch(Node node) {
        this.node = node;
        this.watcher =
                Thread.ofPlatform().daemon().name("nexus-watch-" + node.rank()).start(this::watch);
    }

    void begin(Endpoint of, String name, int from) {
        endpoint = of;
        handler = name;
        sender = from;
        seen = null;
        pausesBefore = pauses();
        watched = Thread.currentThread();
    }

    void end() {
        watched = null;
        StackTraceElement[] where = seen;
        boolean isCounted = !Thread.currentThread().isVirtual();
        if (isCounted ? pauses() == pausesBefore : where == null) {
            return;
        }
        IllegalStateException violation = new IllegalStateException("the non-threaded handler " + handler + " of "
                + endpoint + " has blocked: nothing was received meanwhile; make it a threaded one"
                + (where == null ? " (where it blocked was not seen)" : ""));
        if (where != null) {
            violation.setStackTrace(Arrays.copyOf(where, Math.min(where.length, TOLD_FRAMES)));
        }
        Endpoint of = endpoint;
        if (of != null) {
            node.failures().handlerFailed(of, handler, sender, violation);
        }
    }

    /** How often the calling thread has waited or been blocked. */
    private static long pauses() {
        ThreadInfo info = THREADS.getThreadInfo(Thread.currentThread().threadId());
        return info == null ? 0 : info.getWaitedCount() + info.getBlockedCount();
    }

    private void watch() {
        while (!closed) {
            Thread current = watched;
            if (current != null) {
                switch (current.getState()) {
                    case BLOCKED, WAITING, TIMED_WAITING -> {
                        StackTraceElement[] stack = current.getStackTrace();
                        if (watched == current) {
                            seen = stack;
                        }
                    }
                    default -> {}
                }
            }
            LockSupport.parkNanos(this, LOOK_NS);
        }
    }

    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(watcher);
    }
}
