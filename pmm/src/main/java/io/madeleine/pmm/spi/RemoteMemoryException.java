package io.madeleine.pmm.spi;

import io.madeleine.api.MadeleineException;

/** What is wrong with an export, an attachment, or an operation on remote memory. */
public final class RemoteMemoryException extends MadeleineException {
    private static final long serialVersionUID = 1L;

    /** What is wrong. */
    public enum Kind {
        /** The memory is none that peers of this network can reach. */
        NOT_EXPORTABLE,

        /** There is no room for more exports, or none to map more. */
        EXHAUSTED,

        /** The bytes are no descriptor of this network: their number, or their beginning. */
        MALFORMED,

        /** The descriptor is of another session. */
        OTHER_SESSION,

        /** The descriptor is not as its owner made it. */
        FORGED,

        /** What is asked for is not inside, not aligned, or not a word. */
        OUT_OF_RANGE,

        /** Only reading is allowed. */
        READ_ONLY,

        /** The owner has revoked it or freed the memory. */
        REVOKED,

        /** The owner has ended, or its memory is out of reach. */
        LOST,

        /** The attachment, or the adapter, is closed. */
        CLOSED
    }

    private final Kind kind;

    /** An error with its message. */
    public RemoteMemoryException(Kind kind, String message) {
        super(message);
        this.kind = kind;
    }

    /** What is wrong. */
    public Kind kind() {
        return kind;
    }
}
