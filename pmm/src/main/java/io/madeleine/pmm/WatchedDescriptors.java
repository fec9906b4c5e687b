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
 * Raw file descriptors for a reactor whose selector knows channels of the JDK alone. Who polls looks at them itself; while it
 * sleeps a {@link DescriptorSentry} does, which is there from the first descriptor on.
 *
 * <p>Threading: {@link #register}, registrations, {@link #arm} and {@link #disarm} by any thread; {@link #poll} by one at a time.
 */
public final class WatchedDescriptors implements AutoCloseable {
    private static final Snapshot NONE = new Snapshot(List.of());

    private final Runnable wakeReactor;
    private final List<Watched> watched = new ArrayList<>();
    private volatile Snapshot snapshot = NONE;
    private volatile @Nullable Open open;
    private boolean closed;

    /** What there is to watch at a moment. */
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

    /** What is there once a descriptor is. */
    private static final class Open {
        private final DescriptorPoller.Poll look;
        private final DescriptorSentry sentry;
        private Snapshot submitted = NONE; // by who polls

        Open(DescriptorPoller.Poll look, DescriptorSentry sentry) {
            this.look = look;
            this.sentry = sentry;
        }

        boolean sees(Snapshot now) {
            if (now != submitted) {
                now.submitTo(look);
                submitted = now;
            }
            return look.poll(false) > 0;
        }
    }

    /** None yet; ready descriptors end the reactor's sleep by this. */
    public WatchedDescriptors(Runnable wakeReactor) {
        this.wakeReactor = wakeReactor;
    }

    /** Whether they can be watched in this process. */
    public static Availability availability() {
        List<DescriptorPoller> found = pollers();
        return usable(found)
                .or(() -> found.stream().findFirst())
                .map(DescriptorPoller::availability)
                .orElseGet(() ->
                        Availability.off("the module io.madeleine.linux waits for raw file descriptors, and it is not"
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
     * Watches a descriptor, as {@link Reactor#registerDescriptor} says.
     *
     * @throws UnsupportedOperationException unless they can be watched in this process
     */
    public synchronized Reactor.Registration register(int descriptor, int operations, Reactor.ReadyHandler handler) {
        if (closed) {
            throw new IllegalStateException("the reactor is closed");
        }
        if (open == null) {
            DescriptorPoller poller = usable(pollers())
                    .orElseThrow(() ->
                            new UnsupportedOperationException(availability().reason()));
            open = new Open(poller.open(), DescriptorSentry.start(poller.open(), () -> snapshot, wakeReactor));
        }
        Watched added = new Watched(descriptor, operations, handler);
        watched.add(added);
        changed();
        wakeReactor.run(); // a sleep that has begun may not be watched over
        return added;
    }

    /** Perhaps while somebody sleeps. */
    private synchronized void changed() {
        snapshot = new Snapshot(watched);
        Open now = open;
        if (now != null && !closed) {
            now.sentry.lookAnew();
        }
    }

    private synchronized void remove(Watched cancelled) {
        if (watched.remove(cancelled)) {
            changed();
        }
    }

    /** Handles what is ready, without waiting; returns how many events that was. */
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

    /** Before the reactor sleeps: from now on what is ready ends the sleep. */
    public void arm() {
        Open there = open;
        if (there != null && snapshot.watched.length > 0) {
            there.sentry.arm();
        }
    }

    /** After it; whether something was ready, most likely, in that sleep. */
    public boolean disarm() {
        Open there = open;
        return there != null && there.sentry.disarm();
    }

    /** When nobody polls any more. */
    @Override
    public synchronized void close() {
        Open there = open;
        if (there != null && !closed) {
            there.sentry.close();
            there.look.close();
        }
        open = null;
        closed = true;
    }

    /** One descriptor. */
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
