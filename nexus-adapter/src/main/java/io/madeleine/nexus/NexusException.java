package io.madeleine.nexus;

import io.madeleine.api.MadeleineException;

/** A failure of remote service requests that channels do not report themselves. */
public class NexusException extends MadeleineException {
    private static final long serialVersionUID = 1L;

    /** Creates a failure with a message. */
    public NexusException(String message) {
        super(message);
    }

    /** Creates a failure with a message and a cause. */
    public NexusException(String message, Throwable cause) {
        super(message, cause);
    }
}
