package io.madeleine.nexus;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A call that this process has made and that has not ended.
 *
 * <p>Threading: thread-safe.
 */
abstract class PendingCall {
    private final Long id;
    private final int rank;
    private final ServiceMethod method;
    private final long deadlineNs;
    private final @Nullable OutgoingCall outgoing;
    private volatile @Nullable Route route;
    private volatile boolean givenUp;
    private int givenMs;
    private @Nullable PendingCall nextUntold;
    private @Nullable Throwable untold;

    PendingCall(long id, int rank, ServiceMethod method, long deadlineNs, @Nullable OutgoingCall outgoing) {
        this.id = id;
        this.rank = rank;
        this.method = method;
        this.deadlineNs = deadlineNs;
        this.outgoing = outgoing;
    }

    final long id() {
        return id;
    }

    /** The id as an object, for maps: ending a call must not allocate. */
    final Long key() {
        return id;
    }

    final int rank() {
        return rank;
    }

    final ServiceMethod method() {
        return method;
    }

    final long deadlineNs() {
        return deadlineNs;
    }

    /** Whether the deadline has passed. */
    final boolean isLate() {
        return deadlineNs - System.nanoTime() <= 0;
    }

    /** Notes the time to the deadline when the call begins. */
    final void begins(long leftNs) {
        givenMs = Math.clamp(
                TimeUnit.NANOSECONDS.toMillis(leftNs + TimeUnit.MILLISECONDS.toNanos(1) / 2), 0, Integer.MAX_VALUE);
    }

    /** The time to the deadline when the call began, in milliseconds. */
    final int givenMs() {
        return givenMs;
    }

    /** The view of the call that interceptors get; null without interceptors. */
    final @Nullable OutgoingCall outgoing() {
        return outgoing;
    }

    /** The route that the call took; null if not known yet. */
    final @Nullable Route route() {
        return route;
    }

    /**
     * Notes the route that the call took; returns whether the route is lost by now, in which case {@link
     * Calls#routeLost} may have missed the call.
     */
    final boolean wentBy(Route taken) {
        route = taken;
        return taken.lost() != null;
    }

    /** Notes, before the other side is notified, that the call is cancelled. */
    final void givenUp() {
        givenUp = true;
    }

    /** Whether the other side is notified that the call is cancelled. */
    final boolean isGivenUp() {
        return givenUp;
    }

    /** Ends the call with its answer; called by the receiving thread. */
    abstract void succeed(@Nullable Object value);

    /** An answer whose large parts are in transit. */
    interface Reading {
        /** Waits for the large parts and ends the call. */
        void read();

        /** Drops the answer. */
        void drop();
    }

    /**
     * Takes an answer whose large parts are in transit; called by the receiving thread, which must not wait for them.
     */
    void readLater(Reading reading) {
        Thread.startVirtualThread(reading::read);
    }

    /** Ends the call with a failure; called by any thread, and must not block it. */
    abstract void fail(Throwable failure);

    /**
     * Links this call before {@code next} in the list of calls whose failure could not be delivered for lack of memory.
     */
    final void standsBefore(@Nullable PendingCall next, Throwable failure) {
        nextUntold = next;
        untold = failure;
    }

    final @Nullable PendingCall nextUntold() {
        return nextUntold;
    }

    final @Nullable Throwable untold() {
        return untold;
    }

    /**
     * A call for which no thread waits. It is cancelled together with the call that it is made for, if there is one.
     */
    abstract static class Unattended extends PendingCall {
        private @Nullable RemoteCall parent;
        private @Nullable Runnable giveUp;

        Unattended(long id, int rank, ServiceMethod method, long deadlineNs, @Nullable OutgoingCall outgoing) {
            super(id, rank, method, deadlineNs, outgoing);
        }

        /** Ties this call, before it begins, to the call that it is made for. */
        final void madeFor(RemoteCall call, Runnable action) {
            parent = call;
            giveUp = action;
            call.onCancel(action);
        }

        /** Unties this call, which has ended, from the call that it was made for. */
        final void leaveParent() {
            if (parent != null && giveUp != null) {
                parent.forget(giveUp);
            }
        }
    }

    /** A call that returns a future, which its user may cancel. */
    static final class Async extends Unattended {
        private final Future future;

        /**
         * The future of a call. Cancelling or completing it before the answer, as {@link #orTimeout} does, cancels the
         * call, and the other side is notified.
         */
        static final class Future extends CompletableFuture<Object> {
            private volatile @Nullable Runnable whenGivenUp;

            void whenGivenUp(Runnable action) {
                whenGivenUp = action;
            }

            private boolean givenUp(boolean first) {
                Runnable action = whenGivenUp;
                if (first && action != null) {
                    action.run();
                }
                return first;
            }

            @Override
            public boolean cancel(boolean mayInterruptIfRunning) {
                return givenUp(super.cancel(mayInterruptIfRunning));
            }

            @Override
            public boolean complete(Object value) {
                return givenUp(super.complete(value));
            }

            @Override
            public boolean completeExceptionally(Throwable failure) {
                return givenUp(super.completeExceptionally(failure));
            }

            /** Completes the future with the call's result; false if its user has completed or cancelled it before. */
            @SuppressWarnings("NullAway") // a future may hold null
            boolean answer(@Nullable Object value) {
                return super.complete(value);
            }

            /** Completes the future with the call's failure; false if its user has completed or cancelled it before. */
            boolean fail(Throwable failure) {
                return super.completeExceptionally(failure);
            }

            /**
             * Runs the completion; in a virtual thread if the user has attached actions, which might block the
             * receiving thread.
             */
            void finish(Runnable completion) {
                if (getNumberOfDependents() > 0) {
                    Thread.startVirtualThread(completion);
                } else {
                    completion.run();
                }
            }
        }

        Async(
                long id,
                int rank,
                ServiceMethod method,
                long deadlineNs,
                @Nullable OutgoingCall outgoing,
                Future future) {
            super(id, rank, method, deadlineNs, outgoing);
            this.future = future;
        }

        @Override
        void succeed(@Nullable Object value) {
            future.finish(() -> future.answer(value));
        }

        @Override
        void fail(Throwable failure) {
            future.finish(() -> future.fail(failure));
        }
    }

    /** A call for which a thread waits. */
    static final class Sync extends PendingCall {
        private final io.madeleine.api.Signal signal;

        /**
         * The rank whose message will answer the call, for {@link io.madeleine.api.Signal#await(
         * java.util.function.BooleanSupplier, int, long, TimeUnit)}.
         */
        private final int expected;

        private @Nullable Object value;
        private @Nullable Throwable failure;
        private @Nullable Reading reading;
        private volatile boolean done;

        Sync(
                long id,
                int rank,
                ServiceMethod method,
                long deadlineNs,
                @Nullable OutgoingCall outgoing,
                io.madeleine.api.Signal signal,
                int expected) {
            super(id, rank, method, deadlineNs, outgoing);
            this.signal = signal;
            this.expected = expected;
        }

        boolean isDone() {
            return done;
        }

        /** Waits for the end of the call; false if it does not come in time. */
        boolean awaitDone(long timeoutNs) {
            return signal.await(this::isDone, expected, timeoutNs, TimeUnit.NANOSECONDS);
        }

        /** After the end: reads the answer, unless the receiving thread has read it. */
        void take() {
            Reading left = reading;
            reading = null;
            if (left != null) {
                left.read();
            }
        }

        /** After the end: drops the answer. */
        void drop() {
            Reading left = reading;
            reading = null;
            if (left != null) {
                left.drop();
            }
        }

        /** Leaves the large parts to the waiting thread, which receives them straight into their place. */
        @Override
        void readLater(Reading from) {
            reading = from;
            done = true;
            signal.signal();
        }

        @Nullable
        Throwable failure() {
            return failure;
        }

        @Nullable
        Object value() {
            return value;
        }

        @Override
        void succeed(@Nullable Object result) {
            value = result;
            done = true;
            signal.signal();
        }

        @Override
        void fail(Throwable why) {
            failure = why;
            done = true;
            signal.signal();
        }
    }
}
