package io.madeleine.nexus;

import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.PeerFailedException;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The sending end of a stream: subscribes to the program's publisher, requests as many items as the remote subscriber
 * has given credit for, and sends them.
 *
 * <p>Threading: thread-safe; a virtual thread per stream passes credit on, because publishers may publish from within
 * {@code request}.
 */
final class ItemSender implements Flow.Subscriber<Object> {
    private final Node node;
    private final Route route;
    private final @Nullable RemoteCall call;
    private final BiConsumer<Arguments, Object> codec;
    private final Function<@Nullable Throwable, Runnable> whenOver;
    private final AtomicLong credits = new AtomicLong();
    private final AtomicBoolean over = new AtomicBoolean();
    private volatile boolean cancelled;
    private volatile boolean publisherEnded;
    private long itemCount;
    private volatile @Nullable Thread pump;

    /**
     * The destination of items.
     *
     * @param node the receiving node
     * @param name the name of the stream, for texts like "item 6 of ..."
     * @param item the number of the handler for items
     * @param end the number of the handler for the end
     * @param declared the exception types that the subscriber expects
     * @param deadlineNs that of the call, in {@link System#nanoTime} terms; a subscriber's node may take nothing
     * @param head makes arguments that begin with the identification of the stream
     * @param metadata the metadata that are sent with the end
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Route(
            int node,
            String name,
            int item,
            int end,
            Class<?>[] declared,
            long deadlineNs,
            Supplier<Arguments> head,
            Supplier<Metadata> metadata) {}

    /**
     * Creates a stream that has not begun.
     *
     * @param call the call that the items are published for, if there is one
     * @param whenOver called once at the end, with the failure between here and the subscriber, or null; returns an
     *     action to run when the subscriber has been notified
     */
    ItemSender(
            Node node,
            Route route,
            @Nullable RemoteCall call,
            BiConsumer<Arguments, Object> codec,
            Function<@Nullable Throwable, Runnable> whenOver) {
        this.node = node;
        this.route = route;
        this.call = call;
        this.codec = codec;
        this.whenOver = whenOver;
    }

    @SuppressWarnings("unchecked") // its items are written with the codec of their type
    void start(Flow.Publisher<?> publisher) {
        try {
            ((Flow.Publisher<Object>) publisher).subscribe(this);
        } catch (Throwable e) {
            end(e, null);
        }
    }

    /** Adds credit: the subscriber has requested this many more items. */
    void credit(long count) {
        if (count > 0) {
            credits.getAndAccumulate(count, (now, more) -> now + more < 0 ? Long.MAX_VALUE : now + more);
        }
        LockSupport.unpark(pump);
    }

    /** Ends the stream and notifies the subscriber of the failure. */
    void fail(Throwable why) {
        end(why, null);
        cancel();
    }

    /**
     * As {@link #fail}, for a thread that must not wait: the stream has ended when this returns, and another thread
     * notifies the subscriber.
     */
    void failLater(Throwable why) {
        boolean tells = !cancelled;
        if (over.compareAndSet(false, true)) {
            Thread.startVirtualThread(() -> notifyEnd(why, null, tells));
        }
        cancel();
    }

    /** Ends the stream without a notice. */
    void cancel() {
        Thread running;
        synchronized (this) {
            cancelled = true;
            running = pump;
        }
        if (running != null) {
            LockSupport.unpark(running);
        } else if (over.compareAndSet(false, true)) { // the stream has not begun
            whenOver.apply(null).run();
        }
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
        Runnable pumping = () -> {
            try {
                pump(subscription);
            } catch (Throwable e) { // thrown by the publisher
                end(e, null);
            }
        };
        Thread thread =
                Thread.ofVirtual().name("nexus-stream").unstarted(call == null ? pumping : () -> call.run(pumping));
        boolean begins;
        synchronized (this) {
            begins = pump == null && !cancelled && !over.get();
            if (begins) {
                pump = thread; // before it runs, so that credit() finds it
            }
        }
        if (begins) {
            thread.start();
        } else {
            subscription.cancel();
        }
    }

    private void pump(Flow.Subscription subscription) {
        while (!cancelled && !over.get()) {
            long wanted = credits.getAndSet(0);
            if (wanted > 0) {
                subscription.request(wanted);
            } else {
                boolean _ = Thread.interrupted(); // left behind by the publisher; park would not wait
                LockSupport.park(this);
            }
        }
        if (!publisherEnded) { // else the subscription has ended
            boolean _ = Thread.interrupted(); // interrupted as part of the cancelled call
            subscription.cancel();
            if (over.compareAndSet(false, true)) {
                whenOver.apply(null).run();
            }
        }
    }

    @Override
    public void onNext(Object item) {
        if (cancelled || over.get()) {
            return;
        }
        itemCount++;
        boolean interrupted = Thread.interrupted(); // the interrupt is meant for the publisher, not for its item
        try {
            Arguments arguments = route.head().get();
            codec.accept(arguments, item);
            arguments.sendBy(route.deadlineNs());
            node.send(route.node(), route.item(), arguments);
        } catch (Throwable e) {
            Throwable failure = e instanceof PeerFailedException || e instanceof DeadlineExceededException
                    ? e
                    : new CodingException("item " + itemCount + " of " + route.name(), "sent", e);
            end(failure, failure);
            cancel();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    @SuppressWarnings("NullAway") // the publisher is user code
    public void onError(Throwable thrown) {
        publisherEnded = true;
        if (thrown == null) { // else the subscriber would take the items so far for the whole stream
            NullPointerException none =
                    new NullPointerException("the publisher of " + route.name() + " has called onError(null)");
            end(none, null);
            throw none; // Reactive Streams, rule 2.13
        }
        end(thrown, null);
    }

    @Override
    public void onComplete() {
        publisherEnded = true;
        end(null, null);
    }

    /**
     * Ends the stream.
     *
     * @param thrown the failure that the subscriber gets; null if the stream is complete
     * @param failure the failure between here and the subscriber; null if there is none
     */
    private void end(@Nullable Throwable thrown, @Nullable Throwable failure) {
        if (over.compareAndSet(false, true)) {
            notifyEnd(thrown, failure, !cancelled);
        }
    }

    private void notifyEnd(@Nullable Throwable thrown, @Nullable Throwable failure, boolean tells) {
        Runnable then = whenOver.apply(failure);
        boolean interrupted = Thread.interrupted();
        try {
            if (tells) {
                Metadata metadata = route.metadata().get();
                int flags = (thrown == null ? 0 : 1) | (metadata.isEmpty() ? 0 : Answers.Status.HAS_METADATA);
                Arguments arguments = route.head().get().putByte((byte) flags);
                if (!metadata.isEmpty()) {
                    metadata.write(arguments);
                }
                if (thrown != null) {
                    ExceptionCoding.write(arguments, thrown, route.declared());
                }
                arguments.sendBy(route.deadlineNs());
                node.tell(route.node(), route.end(), arguments);
            }
        } catch (PeerFailedException | DeadlineExceededException e) {
            // the subscriber's node is gone, or the stream has ended there by the same deadline
        } catch (Throwable e) {
            boolean isLate = route.deadlineNs() - System.nanoTime() <= 0; // then the stream has ended there, too
            if (!isLate || !(e instanceof MadeleineException)) {
                node.failures().endNotSent(route.node(), route.name(), e);
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            then.run();
            LockSupport.unpark(pump);
        }
    }
}
