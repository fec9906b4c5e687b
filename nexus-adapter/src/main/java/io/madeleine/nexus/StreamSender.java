package io.madeleine.nexus;

import io.madeleine.api.MadeleineException;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The sending end of a stream: subscribes to what the program publishes, asks for as much as the subscriber elsewhere has
 * asked for, and sends it.
 *
 * <p>Threading: thread-safe; a virtual thread per stream passes credits on, since publishers may publish from within
 * {@code request}.
 */
final class StreamSender implements Flow.Subscriber<Object> {
    private final Node node;
    private final Route route;
    private final BiConsumer<Arguments, Object> codec;
    private final Runnable whenOver;
    private final AtomicLong credits = new AtomicLong();
    private final AtomicBoolean over = new AtomicBoolean();
    private volatile boolean cancelled;
    private volatile @Nullable Thread pump;

    /**
     * Where items go.
     *
     * @param node to whom
     * @param item the handler for items
     * @param end the handler for the end
     * @param declared exceptions that the subscriber expects
     * @param head new arguments that begin with which stream it is
     */
    @SuppressWarnings("ArrayRecordComponent") // not compared
    record Route(int node, int item, int end, Class<?>[] declared, Supplier<Arguments> head) {}

    StreamSender(Node node, Route route, BiConsumer<Arguments, Object> codec, Runnable whenOver) {
        this.node = node;
        this.route = route;
        this.codec = codec;
        this.whenOver = whenOver;
    }

    @SuppressWarnings("unchecked") // what it publishes is written with the codec of its type
    void start(Flow.Publisher<?> publisher) {
        try {
            ((Flow.Publisher<Object>) publisher).subscribe(this);
        } catch (RuntimeException e) {
            onError(e);
        }
    }

    /** The subscriber wants so many more. */
    void credit(long count) {
        if (count > 0) {
            credits.getAndAccumulate(count, (now, more) -> now + more < 0 ? Long.MAX_VALUE : now + more);
        }
        LockSupport.unpark(pump);
    }

    void cancel() {
        cancelled = true;
        LockSupport.unpark(pump);
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
        Thread thread = Thread.ofVirtual().name("nexus-stream").unstarted(() -> {
            while (!cancelled && !over.get()) {
                long wanted = credits.getAndSet(0);
                if (wanted > 0) {
                    subscription.request(wanted);
                } else {
                    LockSupport.park(this);
                }
            }
            if (cancelled) {
                subscription.cancel();
                if (over.compareAndSet(false, true)) {
                    whenOver.run();
                }
            }
        });
        pump = thread; // before it runs: who gives credit has to find it
        thread.start();
    }

    @Override
    public void onNext(Object item) {
        if (cancelled || over.get()) {
            return;
        }
        Arguments arguments = route.head().get();
        try {
            codec.accept(arguments, item);
        } catch (RuntimeException e) {
            end(new NexusException("an item of a stream cannot be sent: " + e.getMessage(), e));
            cancel();
            return;
        }
        try {
            node.send(route.node(), Wire.SYSTEM_ENDPOINT, route.item(), arguments);
        } catch (MadeleineException e) {
            cancel();
        }
    }

    @Override
    public void onError(Throwable thrown) {
        end(thrown);
    }

    @Override
    public void onComplete() {
        end(null);
    }

    private void end(@Nullable Throwable thrown) {
        if (!over.compareAndSet(false, true)) {
            return;
        }
        whenOver.run();
        Arguments arguments = route.head().get().putBoolean(thrown != null);
        if (thrown != null) {
            Thrown.write(arguments, thrown, route.declared());
        }
        try {
            if (!cancelled) {
                node.send(route.node(), Wire.SYSTEM_ENDPOINT, route.end(), arguments);
            }
        } catch (MadeleineException e) {
            // the subscriber is gone
        }
        LockSupport.unpark(pump);
    }
}
