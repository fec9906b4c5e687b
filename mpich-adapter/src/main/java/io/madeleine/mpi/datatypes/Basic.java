package io.madeleine.mpi.datatypes;

/**
 * The basic types: what arrays hold them, and how long one is.
 *
 * <p>Threading: immutable.
 */
public enum Basic {
    BYTE(1),
    CHAR(2),
    SHORT(2),
    BOOLEAN(1),
    INT(4),
    LONG(8),
    FLOAT(4),
    DOUBLE(8),
    /** Pairs (real, imaginary) of float; lengths count floats. */
    FLOAT_COMPLEX(4),
    /** Pairs (real, imaginary) of double; lengths count doubles. */
    DOUBLE_COMPLEX(8),
    /** The output of pack. */
    PACKED(1),
    /** References to objects, which are serialized. */
    OBJECT(1),
    /** No data: the bounds LB and UB, and the null type. */
    NONE(1);

    private final int bytes;

    Basic(int bytes) {
        this.bytes = bytes;
    }

    /** The length of one in bytes. */
    public int bytes() {
        return bytes;
    }

    /** Whether this array can hold items of this type; every type accepts buffers of {@code java.nio}. */
    public boolean isArray(Object array) {
        return switch (this) {
            case BYTE, PACKED -> array instanceof byte[];
            case CHAR -> array instanceof char[];
            case SHORT -> array instanceof short[];
            case BOOLEAN -> array instanceof boolean[];
            case INT -> array instanceof int[];
            case LONG -> array instanceof long[];
            case FLOAT, FLOAT_COMPLEX -> array instanceof float[];
            case DOUBLE, DOUBLE_COMPLEX -> array instanceof double[];
            case OBJECT -> array instanceof Object[];
            case NONE -> false;
        };
    }
}
