package io.madeleine.pmm.spi;

import io.madeleine.api.MadeleineException;

/** An error of an export, an attachment, or an operation on remote memory. */
public final class RemoteMemoryException extends MadeleineException {
    private static final long serialVersionUID = 1L;

    /** The kinds of errors. */
    public enum Kind {
        /** Peers of this network cannot access the memory. */
        NOT_EXPORTABLE,

        /** No more exports are possible, or no more mappings. */
        EXHAUSTED,

        /** The bytes are not a descriptor of this network: their length or their prefix is wrong. */
        MALFORMED,

        /** The descriptor belongs to another session. */
        OTHER_SESSION,

        /** The descriptor is not authentic. */
        FORGED,

        /** The range lies outside the memory, is not aligned, or is not a word. */
        OUT_OF_RANGE,

        /** The export permits only reading, or a read-only segment was to be exported for writing. */
        READ_ONLY,

        /** The network cannot do this; its capabilities say so. */
        UNSUPPORTED,

        /** The owner has revoked the export or freed the memory. */
        REVOKED,

        /** The owner has ended, or its memory cannot be reached. */
        LOST,

        /** The attachment or the adapter is closed, or the caller's memory was freed under an operation. */
        CLOSED
    }

    private final Kind kind;

    /** An error of this kind, with its message. */
    public RemoteMemoryException(Kind kind, String message) {
        super(message);
        this.kind = kind;
    }

    /** The kind of this error. */
    public Kind kind() {
        return kind;
    }
}
