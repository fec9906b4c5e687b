package io.madeleine.nexus;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A call that this process has made and that is not over.
 *
 * <p>Threading: thread-safe.
 */
abstract class PendingCall {
    private final Long id;
    private final int rank;
    private final ServiceMethod method;
    private final long deadlineNs;
    private final @Nullable OutgoingCall outgoing;
    private volatile @Nullable Way way;
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

    /** The same, for maps: to end a call takes no memory. */
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

    /** It begins, with so much time to its deadline. */
    final void begins(long leftNs) {
        givenMs = Math.clamp(
                TimeUnit.NANOSECONDS.toMillis(leftNs + TimeUnit.MILLISECONDS.toNanos(1) / 2), 0, Integer.MAX_VALUE);
    }

    /** How much time it had, in milliseconds. */
    final int givenMs() {
        return givenMs;
    }

    /** What interceptors see of it, if there are any. */
    final @Nullable OutgoingCall outgoing() {
        return outgoing;
    }

    /** The way it went, once that is known. */
    final @Nullable Way way() {
        return way;
    }

    /** It went that way; true if that is lost by now, and whoever has lost it may not have seen this. */
    final boolean wentBy(Way taken) {
        way = taken;
        return taken.lost() != null;
    }

    /** The answer has come; from the receiving thread. */
    abstract void succeed(@Nullable Object value);

    /** An answer whose large parts are on their way. */
    interface Reading {
        /** Waits for them and ends the call. */
        void read();

        /** Nobody wants it any more. */
        void drop();
    }

    /** The answer has come but for its large parts; from the receiving thread, which does not wait for them. */
    void readLater(Reading reading) {
        Thread.startVirtualThread(reading::read);
    }

    /** The call has come to a bad end; from any thread that must not be held up. */
    abstract void fail(Throwable failure);

    /** It has come to that end, but memory was too short to tell: it stands before another one of which that is so, if any. */
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

    /** No thread waits. It is given up with the call that it is made for, if there is one. */
    abstract static class Unattended extends PendingCall {
        private @Nullable RemoteCall parent;
        private @Nullable Runnable giveUp;

        Unattended(long id, int rank, ServiceMethod method, long deadlineNs, @Nullable OutgoingCall outgoing) {
            super(id, rank, method, deadlineNs, outgoing);
        }

        /** Before it begins. */
        final void madeFor(RemoteCall call, Runnable action) {
            parent = call;
            giveUp = action;
            call.onCancel(action);
        }

        /** It is over. */
        final void leaveParent() {
            if (parent != null && giveUp != null) {
                parent.forget(giveUp);
            }
        }
    }

    /** A future whose user may give up. */
    static final class Async extends Unattended {
        private final Future future;

        /** Who cancels or completes it before the answer comes, as {@link #orTimeout} does, has given up: the other side is told. */
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

            /** The call itself has come to this end; false if it has been given up before. */
            @SuppressWarnings("NullAway") // a future may hold null
            boolean answer(@Nullable Object value) {
                return super.complete(value);
            }

            /** The call itself has failed; false if it has been given up before. */
            boolean fail(Throwable failure) {
                return super.completeExceptionally(failure);
            }

            /** What the user has attached may wait, and must not do so in the receiving thread. */
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

    /** A thread waits. */
    static final class Sync extends PendingCall {
        private final io.madeleine.api.Signal signal;

        /** Whose message answers it, for {@link io.madeleine.api.Signal#await(java.util.function.BooleanSupplier, int, long, TimeUnit)}. */
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

        /** Waits for the end; whether it has come in time. */
        boolean awaitDone(long timeoutNs) {
            return signal.await(this::isDone, expected, timeoutNs, TimeUnit.NANOSECONDS);
        }

        /** Takes the answer, if it has not been taken by the receiving thread. The end has come. */
        void take() {
            Reading left = reading;
            reading = null;
            if (left != null) {
                left.read();
            }
        }

        /** Nobody takes the answer. The end has come. */
        void drop() {
            Reading left = reading;
            reading = null;
            if (left != null) {
                left.drop();
            }
        }

        /** The calling thread waits: it takes them, straight into their place. */
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
