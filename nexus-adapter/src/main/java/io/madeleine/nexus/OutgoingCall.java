package io.madeleine.nexus;

import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/**
 * A call that this process makes, as interceptors see it.
 *
 * <p>Threading: thread-safe; metadata are added before the call is made.
 */
public final class OutgoingCall {
    private final Method method;
    private volatile int rank;
    private volatile Metadata metadata = Metadata.EMPTY;
    private volatile Metadata answerMetadata = Metadata.EMPTY;

    OutgoingCall(Method method, int rank) {
        this.method = method;
        this.rank = rank;
    }

    /** The method of the service's interface. */
    public Method method() {
        return method;
    }

    /** The node that is called, at last if it was several. */
    public int rank() {
        return rank;
    }

    /** Adds to what travels with the call. */
    public OutgoingCall put(String name, String value) {
        metadata = metadata.with(name, value);
        return this;
    }

    /** What travels with the call. */
    public Metadata metadata() {
        return metadata;
    }

    /** What has come with the answer, whether it is a value or a failure; with the end, if it is a stream. */
    public Metadata answerMetadata() {
        return answerMetadata;
    }

    void goesTo(int node) {
        rank = node;
    }

    static void answered(@Nullable OutgoingCall call, Metadata with) {
        if (call != null) {
            call.answerMetadata = with;
        }
    }
}
