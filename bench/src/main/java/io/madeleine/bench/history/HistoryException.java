package io.madeleine.bench.history;

import io.madeleine.api.MadeleineException;

/** Runs that cannot be kept or compared. */
final class HistoryException extends MadeleineException {
    private static final long serialVersionUID = 1;

    HistoryException(String message) {
        super(message);
    }
}
