package io.madeleine.pmm;

import io.madeleine.pmm.spi.ProgressSource;
import io.madeleine.pmm.spi.Reactor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/** A network whose only news are numbers: whoever polls hands them to a listener. It rings no bell that it need not. */
final class FakeNetwork implements ProgressSource {
    final AtomicInteger arrived = new AtomicInteger();
    final AtomicInteger pollCount = new AtomicInteger();
    final AtomicReference<String> violation = new AtomicReference<>();
    final AtomicReference<Thread> lastVisitor = new AtomicReference<>();
    private final AtomicReference<Thread> inside = new AtomicReference<>();
    private final Reactor reactor;
    volatile Runnable listener = () -> {};
    volatile boolean busy;
    volatile boolean freed;
    volatile boolean rearms = true;
    final AtomicInteger rearmCount = new AtomicInteger();
    volatile long longestDelayNs;
    private volatile boolean armed;

    FakeNetwork(Reactor reactor) {
        this.reactor = reactor;
    }

    /** Something arrives, from whatever thread. */
    void send() {
        arrived.incrementAndGet();
        if (armed) {
            reactor.wakeUp();
        }
    }

    private void enter() {
        lastVisitor.set(Thread.currentThread());
        if (!inside.compareAndSet(null, Thread.currentThread())) {
            violation.set("polled by " + Thread.currentThread() + " inside a poll by " + inside.get());
        }
        if (freed) {
            violation.set("polled by " + Thread.currentThread() + " after it was freed");
        }
        if (Thread.currentThread().isVirtual()
                && !Thread.currentThread().getName().startsWith("madeleine-virtual-progress-")) {
            violation.set("polled by a virtual thread of the user's");
        }
    }

    private void leave() {
        if (freed) {
            violation.set("freed during a poll by " + Thread.currentThread());
        }
        inside.set(null);
    }

    @Override
    public int poll(long nowNs) {
        enter();
        try {
            pollCount.incrementAndGet();
            longestDelayNs = Math.max(longestDelayNs, System.nanoTime() - nowNs);
            int count = arrived.getAndSet(0);
            for (int i = 0; i < count; i++) {
                listener.run();
            }
            return busy ? count + 1 : count;
        } finally {
            leave();
        }
    }

    @Override
    public boolean armForBlocking() {
        enter();
        armed = true;
        boolean quiet = arrived.get() == 0;
        leave();
        return quiet;
    }

    @Override
    public boolean rearm() {
        rearmCount.incrementAndGet();
        return rearms && armForBlocking();
    }

    @Override
    public void disarm() {
        armed = false;
    }
}
