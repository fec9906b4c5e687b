package io.madeleine.nexus;

import io.madeleine.api.MadeleineException;

/** Contexts could not be joined: nobody is there, the secret is another one, or the approver has refused. */
public final class AttachException extends MadeleineException {
    private static final long serialVersionUID = 1L;

    AttachException(String message) {
        super(message);
    }

    AttachException(String message, Throwable cause) {
        super(message, cause);
    }
}
