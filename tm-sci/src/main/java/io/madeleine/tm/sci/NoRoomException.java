package io.madeleine.tm.sci;

import io.madeleine.api.MadeleineException;

/** Shared memory or slots do not suffice for a connection. Another network may still make it. */
final class NoRoomException extends MadeleineException {
    private static final long serialVersionUID = 1;

    NoRoomException(String message) {
        super(message);
    }

    NoRoomException(String message, Exception cause) {
        super(message, cause);
    }
}
