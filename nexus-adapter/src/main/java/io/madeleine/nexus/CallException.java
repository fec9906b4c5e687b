package io.madeleine.nexus;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * A failure of a call with a code and details that programs can evaluate. Methods of services throw it; the caller gets
 * a {@link RemoteException} with the same code and details.
 *
 * <pre>{@code
 *     throw new CallException(ErrorCode.NOT_FOUND, "no such item").with("item", id);
 * }</pre>
 */
public class CallException extends NexusException {
    private static final long serialVersionUID = 1L;

    private final ErrorCode code;

    private final LinkedHashMap<String, String> details = new LinkedHashMap<>();

    /** Creates a failure with a code. */
    public CallException(ErrorCode code, String message) {
        super(message);
        this.code = Objects.requireNonNull(code, "code");
    }

    /** Creates a failure with a code and a cause. */
    public CallException(ErrorCode code, String message, Throwable cause) {
        super(message, cause);
        this.code = Objects.requireNonNull(code, "code");
    }

    /**
     * Adds a detail.
     *
     * @throws IllegalArgumentException if the details become longer than {@link Metadata} may be
     */
    public CallException with(String name, String value) {
        Metadata more = metadata().with(name, value);
        details.putAll(more.asMap());
        return this;
    }

    /** The details in the form that is sent. */
    Metadata metadata() {
        return Metadata.of(details);
    }

    /** The code of the failure. */
    public ErrorCode code() {
        return code;
    }

    /** The details by their names. */
    public Map<String, String> details() {
        return Collections.unmodifiableMap(details);
    }
}
