package io.madeleine.tm.via.ffi;

import io.madeleine.api.MadeleineException;

/** A call of libfabric has failed. The message has libfabric's text for the error. */
public final class FabricException extends MadeleineException {
    private static final long serialVersionUID = 1L;

    private final int code;

    /** A failure with libfabric's positive error number, or 0 if the library itself is at fault. */
    public FabricException(int code, String message) {
        super(message);
        this.code = code;
    }

    /** libfabric's error number, above 0; 0 if the library itself is at fault. */
    public int code() {
        return code;
    }
}
