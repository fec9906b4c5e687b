package io.madeleine.nexus;

import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/**
 * A call that this process makes, as client interceptors see it.
 *
 * <p>Threading: thread-safe; add metadata before the call is made.
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

    /** The node that is called; the last one, if the call was repeated elsewhere. */
    public int rank() {
        return rank;
    }

    /**
     * Adds an entry to the metadata that are sent with the call.
     *
     * @throws IllegalArgumentException if the metadata become too long
     */
    public OutgoingCall put(String name, String value) {
        metadata = metadata.with(name, value);
        return this;
    }

    /** The metadata that are sent with the call. */
    public Metadata metadata() {
        return metadata;
    }

    /** The metadata that came with the answer, be it a value or a failure, or with the end of the stream. */
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
