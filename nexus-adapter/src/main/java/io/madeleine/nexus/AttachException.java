package io.madeleine.nexus;

import io.madeleine.api.MadeleineException;

/** An attempt to attach failed: nothing listens there, the secret differs, or the approver has refused. */
public final class AttachException extends MadeleineException {
    private static final long serialVersionUID = 1L;

    AttachException(String message) {
        super(message);
    }

    AttachException(String message, Throwable cause) {
        super(message, cause);
    }
}
