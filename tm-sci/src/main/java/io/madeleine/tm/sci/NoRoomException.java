package io.madeleine.tm.sci;

import io.madeleine.api.MadeleineException;

/** A connection needs more than there is; by another network it may still be made. */
final class NoRoomException extends MadeleineException {
    private static final long serialVersionUID = 1;

    NoRoomException(String message) {
        super(message);
    }

    NoRoomException(String message, Exception cause) {
        super(message, cause);
    }
}
