package io.madeleine.nexus;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A failure of a call with a code and with details, for programs. Methods of services throw it; at the caller it is a {@link
 * RemoteException} with the same code and details.
 *
 * <pre>{@code
 *     throw new CallException(ErrorCode.NOT_FOUND, "no such item").with("item", id);
 * }</pre>
 */
public class CallException extends NexusException {
    private static final long serialVersionUID = 1L;

    private final ErrorCode code;

    /** Strings only. */
    private final LinkedHashMap<String, String> details = new LinkedHashMap<>();

    /** A failure of that kind. */
    public CallException(ErrorCode code, String message) {
        super(message);
        this.code = code;
    }

    /** A failure of that kind, and what caused it. */
    public CallException(ErrorCode code, String message, Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    /**
     * Adds a detail.
     *
     * @throws IllegalArgumentException if the details are longer than {@link Metadata} may be
     */
    public CallException with(String name, String value) {
        Metadata more = metadata().with(name, value);
        details.putAll(more.asMap());
        return this;
    }

    /** The details, as they travel. */
    Metadata metadata() {
        return Metadata.of(details);
    }

    /** What kind of failure it is. */
    public ErrorCode code() {
        return code;
    }

    /** Its details by their names. */
    public Map<String, String> details() {
        return Collections.unmodifiableMap(details);
    }
}
