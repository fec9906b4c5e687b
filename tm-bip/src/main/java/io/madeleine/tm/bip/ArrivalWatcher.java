package io.madeleine.tm.bip;

import io.madeleine.pmm.FailureLog;
import io.madeleine.tm.bip.io.DatagramPort;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that waits for datagrams while nobody polls the adapter: no other would see that a peer asks for an answer.
 * It reads nothing; it rings, and the session's own thread answers. While the adapter is polled, or sleeps in the
 * session's reactor, the thread sleeps too, and looks again a hundred times a second.
 *
 * <p>Threading: thread-safe.
 */
final class ArrivalWatcher extends Thread implements AutoCloseable {
    /** How long the thread leaves the socket to others. It notices this much later at most that they have stopped. */
    static final long PAUSE_NS = 10_000_000;

    private static final long CLOSE_MS = 1_000;

    private final FailureLog failures = new FailureLog(System.getLogger("io.madeleine.tm.bip"));
    private final BipProgress progress;
    private final Selector selector;

    /** Made beforehand: there may be no memory for it. */
    private final String waitedInVain;

    private volatile boolean closed;
    private long pollsSeen; // used by this thread alone, as the next

    private ArrivalWatcher(String adapter, BipProgress progress, Selector selector) {
        super("madeleine-bip-arrivals-" + adapter);
        this.progress = progress;
        this.selector = selector;
        this.waitedInVain = "waiting for datagrams failed in thread " + getName() + "; it goes on";
        setDaemon(true);
    }

    /**
     * Makes the thread but does not start it.
     *
     * @param port stays open until the watcher is closed
     */
    static ArrivalWatcher of(String adapter, BipProgress progress, DatagramPort port) {
        try {
            Selector selector = Selector.open();
            port.channel().register(selector, SelectionKey.OP_READ);
            return new ArrivalWatcher(adapter, progress, selector);
        } catch (IOException e) {
            throw new UncheckedIOException("bip cannot watch its socket", e);
        }
    }

    @Override
    public void run() {
        while (!closed) {
            try {
                watch();
            } catch (ClosedSelectorException _) {
                return; // the adapter was closed
            } catch (IOException | RuntimeException | Error e) { // no other thread watches while nobody polls
                failures.error(waitedInVain, e);
                LockSupport.parkNanos(this, PAUSE_NS);
            }
        }
    }

    private void watch() throws IOException {
        boolean _ = interrupted(); // no interrupt is meant for this thread, and an interrupted thread waits for nothing
        if (hasBeenPolled()) {
            LockSupport.parkNanos(this, PAUSE_NS);
            return;
        }
        int found = selector.select();
        selector.selectedKeys().clear();
        if (closed || found == 0) {
            return;
        }
        if (!progress.isArmed() && !hasBeenPolled()) {
            progress.ring();
        }
        LockSupport.parkNanos(this, PAUSE_NS); // gives the session's own thread time to answer
    }

    /** Whether anybody has polled since the last call. */
    private boolean hasBeenPolled() {
        long polls = progress.pollCount();
        boolean polled = polls != pollsSeen;
        pollsSeen = polls;
        return polled;
    }

    /** Ends the thread. */
    @Override
    public void close() {
        closed = true;
        selector.wakeup();
        LockSupport.unpark(this);
        try {
            join(CLOSE_MS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        try {
            selector.close();
        } catch (IOException e) {
            failures.error("the selector of " + getName() + " was not closed", e);
        }
    }
}
