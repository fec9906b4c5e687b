package io.madeleine.nexus;

import io.madeleine.api.MadeleineException;

/** What goes wrong with remote service requests, beyond what channels report. */
public class NexusException extends MadeleineException {
    private static final long serialVersionUID = 1L;

    /** A failure with its message. */
    public NexusException(String message) {
        super(message);
    }

    /** A failure with its message and what caused it. */
    public NexusException(String message, Throwable cause) {
        super(message, cause);
    }
}
