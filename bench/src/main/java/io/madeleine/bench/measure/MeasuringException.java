package io.madeleine.bench.measure;

import io.madeleine.api.MadeleineException;

/** A subject could not be measured. */
public final class MeasuringException extends MadeleineException {
    private static final long serialVersionUID = 1;

    /** What happened. */
    public MeasuringException(String message) {
        super(message);
    }

    /** What happened, and why. */
    public MeasuringException(String message, Throwable cause) {
        super(message, cause);
    }
}
