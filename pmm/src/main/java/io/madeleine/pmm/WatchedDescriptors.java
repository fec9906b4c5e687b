package io.madeleine.pmm;

import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.DescriptorPoller;
import io.madeleine.pmm.spi.Reactor;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/**
 * Raw file descriptors for a reactor whose selector watches only channels of the JDK. The thread that polls checks them
 * itself; while it sleeps, a {@link DescriptorWatcher} does, which the first registration starts.
 *
 * <p>Threading: any thread may call {@link #register}, {@link #arm}, {@link #disarm} and the methods of registrations;
 * one at a time {@link #poll}.
 */
public final class WatchedDescriptors implements AutoCloseable {
    private static final Snapshot NONE = new Snapshot(List.of());

    private final Runnable wakeReactor;
    private final List<Watched> watched = new ArrayList<>();
    private volatile Snapshot snapshot = NONE;
    private volatile @Nullable Open open;
    private boolean closed;

    /** The watched descriptors at one moment. */
    static final class Snapshot {
        final Watched[] watched;
        private final int[] descriptors;
        private final int[] operations;

        Snapshot(List<Watched> all) {
            watched = all.toArray(Watched[]::new);
            descriptors = all.stream().mapToInt(one -> one.descriptor).toArray();
            operations = all.stream().mapToInt(one -> one.operations).toArray();
        }

        void submitTo(DescriptorPoller.Poll poll) {
            poll.watch(descriptors, operations);
        }
    }

    /** The poller and the watcher, made for the first descriptor. */
    private static final class Open {
        private final DescriptorPoller.Poll look;
        private final DescriptorWatcher watcher;
        private Snapshot submitted = NONE; // written by the thread that polls

        Open(DescriptorPoller.Poll look, DescriptorWatcher watcher) {
            this.look = look;
            this.watcher = watcher;
        }

        boolean sees(Snapshot now) {
            if (now != submitted) {
                now.submitTo(look);
                submitted = now;
            }
            return look.poll(false) > 0;
        }
    }

    /** A set without descriptors; {@code wakeReactor} ends the reactor's sleep when one is ready. */
    public WatchedDescriptors(Runnable wakeReactor) {
        this.wakeReactor = wakeReactor;
    }

    /** Whether this process can watch raw descriptors. */
    public static Availability availability() {
        List<DescriptorPoller> found = pollers();
        return usable(found)
                .or(() -> found.stream().findFirst())
                .map(DescriptorPoller::availability)
                .orElseGet(() ->
                        Availability.off("the module io.madeleine.linux, which waits for raw file descriptors, is not"
                                + " on the path; add it, and --enable-native-access=io.madeleine.linux"));
    }

    private static List<DescriptorPoller> pollers() {
        return ServiceLoader.load(DescriptorPoller.class, WatchedDescriptors.class.getClassLoader()).stream()
                .map(ServiceLoader.Provider::get)
                .toList();
    }

    private static Optional<DescriptorPoller> usable(List<DescriptorPoller> found) {
        return found.stream().filter(poller -> poller.availability().on()).findFirst();
    }

    /**
     * Watches a descriptor: see {@link Reactor#registerDescriptor}.
     *
     * @throws UnsupportedOperationException if this process cannot watch raw descriptors
     */
    public synchronized Reactor.Registration register(int descriptor, int operations, Reactor.ReadyHandler handler) {
        if (closed) {
            throw new IllegalStateException("the reactor is closed");
        }
        if (open == null) {
            DescriptorPoller poller = usable(pollers())
                    .orElseThrow(() ->
                            new UnsupportedOperationException(availability().reason()));
            open = open(poller);
        }
        Watched added = new Watched(descriptor, operations, handler);
        watched.add(added);
        changed();
        wakeReactor.run(); // a sleep that has begun may not watch it
        return added;
    }

    private Open open(DescriptorPoller poller) {
        var own = poller.open();
        try {
            return new Open(own, DescriptorWatcher.start(poller.open(), () -> snapshot, wakeReactor));
        } catch (RuntimeException | Error e) { // no descriptors or threads left, for instance
            own.close();
            throw e;
        }
    }

    /** The set has changed, possibly while the reactor sleeps. */
    private synchronized void changed() {
        snapshot = new Snapshot(watched);
        Open now = open;
        if (now != null && !closed) {
            now.watcher.lookAnew();
        }
    }

    private synchronized void remove(Watched cancelled) {
        if (watched.remove(cancelled)) {
            changed();
        }
    }

    /** Handles ready descriptors without waiting; returns how many. */
    public int poll() {
        Snapshot now = snapshot;
        Open there = open;
        if (there == null || now.watched.length == 0 || !there.sees(now)) {
            return 0;
        }
        int handled = 0;
        for (int i = 0; i < now.watched.length; i++) {
            Watched each = now.watched[i];
            int ready = there.look.ready(i) & each.operations;
            if (ready != 0 && !each.cancelled) {
                each.handler.onReady(ready);
                handled++;
            }
        }
        return handled;
    }

    /** Called before the reactor sleeps: from now on a ready descriptor ends the sleep. */
    public void arm() {
        Open there = open;
        if (there != null && snapshot.watched.length > 0) {
            there.watcher.arm();
        }
    }

    /** Called after the sleep; returns whether a descriptor was probably ready during it. */
    public boolean disarm() {
        Open there = open;
        return there != null && there.watcher.disarm();
    }

    /** Stops watching; no thread may poll any more. */
    @Override
    public synchronized void close() {
        Open there = open;
        if (there != null && !closed) {
            there.watcher.close();
            there.look.close();
        }
        open = null;
        closed = true;
    }

    /** A registered descriptor. */
    final class Watched implements Reactor.Registration {
        private final int descriptor;
        private final Reactor.ReadyHandler handler;
        private volatile int operations;
        private volatile boolean cancelled;

        Watched(int descriptor, int operations, Reactor.ReadyHandler handler) {
            this.descriptor = descriptor;
            this.operations = operations;
            this.handler = handler;
        }

        @Override
        public void operations(int wanted) {
            if (wanted != operations) {
                operations = wanted;
                changed();
            }
        }

        @Override
        public void cancel() {
            cancelled = true;
            remove(this);
        }
    }
}
