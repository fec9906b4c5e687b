package io.madeleine.nexus;

import io.madeleine.api.PeerFailedException;
import io.madeleine.nexus.codec.Shape;
import org.jspecify.annotations.Nullable;

/**
 * The receiving side of calls that this process makes: answers, items of streams and their ends.
 *
 * <p>Threading: thread-safe; the receiving thread runs its handlers.
 */
final class Answers {
    private final Calls calls;

    /** The first byte of an answer. */
    static final class Status {
        static final byte VALUE = 0;
        static final byte THROWN = 1;
        static final byte REFUSED = 2;
        static final byte ABSENT = 3;
        static final byte UNLIKE = 5;

        /** Flag in the status: metadata follow. */
        static final byte HAS_METADATA = 0x40;

        /** The context is being closed: the call has not been executed, and will not be. */
        static final byte CLOSING = 4;

        private Status() {}
    }

    Answers(Calls calls, Endpoint system) {
        this.calls = calls;
        system.passingOn("reply", (_, request) -> answered(request));
        system.nonThreaded("refused calls", (_, request) -> refused(request));
        system.nonThreaded("item", (_, request) -> itemCame(request));
        system.nonThreaded("end", (_, request) -> streamEnded(request));
    }

    private void answered(Request request) {
        PendingCall found = callIn(request);
        if (found == null) {
            return; // the call was cancelled
        }
        if (!request.hasLarge()) {
            read(found, request, false);
        } else if (calls.remove(found) != null) { // a handler must not wait for the large parts
            try {
                readLater(found, request.detach());
            } catch (Throwable e) { // out of memory, for instance
                calls.fail(found, e);
                throw e;
            }
        }
    }

    private void readLater(PendingCall found, Request detached) {
        try {
            found.readLater(new PendingCall.Reading() {
                @Override
                public void read() {
                    try {
                        Answers.this.read(found, detached, true);
                    } finally {
                        detached.finish();
                    }
                }

                @Override
                public void drop() {
                    detached.finish();
                }
            });
        } catch (Throwable e) {
            detached.finish();
            throw e;
        }
    }

    /** Reads an answer and ends the call; {@code isRemoved} says whether the call has been removed already. */
    private void read(PendingCall found, Request request, boolean isRemoved) {
        Object value = null;
        Throwable failure = null;
        try {
            byte status = statusIn(request, found);
            switch (status) {
                case Status.VALUE -> value = found.method().readResult(request);
                case Status.THROWN -> failure = thrown(found, request);
                case Status.REFUSED -> failure = new OverloadedException(request.getString());
                case Status.ABSENT ->
                    failure = new CallException(
                            ErrorCode.UNIMPLEMENTED, "the call of " + found.method() + ": " + request.getString());
                case Status.CLOSING -> failure = Calls.notCarriedOut(found, request.getString());
                case Status.UNLIKE -> failure = unlike(found, request);
                default -> failure = new NexusException("rank " + request.remote() + " answers with status " + status);
            }
        } catch (Throwable e) {
            failure = e instanceof PeerFailedException lost
                    ? calls.lost(found, String.valueOf(lost.getMessage())) // while large parts of it arrived
                    : notRead(false, found, e);
        }
        if (isRemoved || calls.remove(found) != null) {
            end(found, value, failure);
        }
    }

    /** Reads the status, and hands metadata that follow it to the call. */
    private static byte statusIn(Request request, PendingCall call) {
        byte status = request.getByte();
        if ((status & Status.HAS_METADATA) == 0) {
            return status;
        }
        OutgoingCall.answered(call.outgoing(), Metadata.read(request));
        return (byte) (status & ~Status.HAS_METADATA);
    }

    private void refused(Request request) {
        String why = request.getString();
        for (int left = request.getInt(); left > 0; left--) {
            PendingCall found = callIn(request);
            if (found != null && calls.remove(found) != null) {
                calls.fail(found, new OverloadedException(why));
            }
        }
    }

    /**
     * Makes the failure for a method that the other side has with other types, or not at all: says where they differ.
     */
    private static NexusException unlike(PendingCall call, Request request) {
        String service = request.getString();
        Shape mine = call.method().shape();
        Shape closest = null;
        int count = request.getInt();
        for (int i = 0; i < count; i++) {
            Shape theirs = Shape.read(request);
            if (theirs.isOf(call.method().method().getName()) && (closest == null || theirs.isCloser(mine, closest))) {
                closest = theirs;
            }
        }
        return new CallException(
                ErrorCode.UNIMPLEMENTED,
                "the call of " + call.method() + ": " + service
                        + (closest == null
                                ? " has no such method: both sides need the same interface"
                                : " has another version of it: " + mine.difference(closest)
                                        + ": both sides need the same types, or a serialiser that lets them differ"
                                        + " (@RemoteService.serializer)"));
    }

    private void itemCame(Request request) {
        if (callIn(request) instanceof StreamCall stream) {
            stream.item(request);
        }
    }

    private void streamEnded(Request request) {
        PendingCall found = callIn(request);
        if (found == null) {
            return;
        }
        Throwable failure;
        try {
            failure = statusIn(request, found) == 0 ? null : thrown(found, request);
        } catch (Throwable e) {
            failure = notRead(true, found, e);
        }
        if (calls.remove(found) != null) {
            end(found, null, failure);
        }
    }

    /** The call that a request belongs to; null if it has ended, or if another node was called. */
    private @Nullable PendingCall callIn(Request request) {
        PendingCall found = calls.find(request.getLong());
        return found == null || found.rank() != request.remote() ? null : found;
    }

    /**
     * Reads the exception; after the deadline, returns the deadline failure instead, because the deadline may have
     * caused the exception there.
     */
    private static Throwable thrown(PendingCall call, Request request) {
        Throwable thrown = ExceptionCoding.read(request, call.method().declared());
        return call.isLate() ? Calls.late(call) : thrown;
    }

    /** After the deadline, the failure is the deadline: the other side then gives up what it has begun to send. */
    private static Throwable notRead(boolean isEnd, PendingCall call, Throwable why) {
        try {
            if (call.isLate()) {
                return Calls.late(call);
            }
            return new CodingException(
                    isEnd
                            ? "the end of " + call.method() + " of rank " + call.rank()
                            : "the answer of rank " + call.rank() + " to " + call.method(),
                    "read",
                    why);
        } catch (Throwable _) { // out of memory
            return why;
        }
    }

    private void end(PendingCall call, @Nullable Object value, @Nullable Throwable failure) {
        if (failure == null) {
            calls.succeed(call, value);
        } else {
            calls.fail(call, failure);
        }
    }
}
