package io.madeleine.mpi.datatypes;

import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.MpiFault;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The predefined reduction operations (MPI 4.1, section 6.9.2) on the basic types. BYTE is signed, as Java's is;
 * CHAR is
 * unsigned. Logical operations take any number but 0 for true.
 *
 * <p>Threading: immutable.
 */
public enum Arithmetic implements Reduction {
    SUM,
    PROD,
    MAX,
    MIN,
    LAND,
    LOR,
    LXOR,
    BAND,
    BOR,
    BXOR;

    private static final ValueLayout.OfByte BYTES = ValueLayout.JAVA_BYTE;
    private static final ValueLayout.OfChar CHARS = ValueLayout.JAVA_CHAR_UNALIGNED.withOrder(ByteOrder.nativeOrder());
    private static final ValueLayout.OfShort SHORTS =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.nativeOrder());
    private static final ValueLayout.OfInt INTS = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.nativeOrder());
    private static final ValueLayout.OfLong LONGS = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.nativeOrder());
    private static final ValueLayout.OfFloat FLOATS =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.nativeOrder());
    private static final ValueLayout.OfDouble DOUBLES =
            ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.nativeOrder());

    @Override
    public boolean isCommutative() {
        return true;
    }

    @Override
    public void check(Type type) {
        boolean isDefined = type.isUniform()
                && type.pair() == null
                && switch (type.basic()) {
                    case BYTE, CHAR, SHORT, INT, LONG, BOOLEAN -> true;
                    case FLOAT, DOUBLE -> this == SUM || this == PROD || this == MAX || this == MIN;
                    case FLOAT_COMPLEX, DOUBLE_COMPLEX -> this == SUM || this == PROD;
                    default -> false;
                };
        if (!isDefined) {
            throw new MpiFault(
                    ErrorClass.OP,
                    name() + " is not defined for a datatype over " + type.basic()
                            + (type.pair() == null ? "" : " that is a pair")
                            + ": expected numbers of one type, and integers for logical and bitwise operations");
        }
    }

    @Override
    public void apply(MemorySegment in, MemorySegment inOut, long bytes, Type type) {
        switch (type.basic()) {
            case BYTE, BOOLEAN -> bytes(in, inOut, bytes);
            case CHAR -> chars(in, inOut, bytes / 2);
            case SHORT -> shorts(in, inOut, bytes / 2);
            case INT -> ints(in, inOut, bytes / 4);
            case LONG -> longs(in, inOut, bytes / 8);
            case FLOAT_COMPLEX, DOUBLE_COMPLEX -> {
                if (this == PROD) {
                    ComplexProducts.apply(in, inOut, bytes, type);
                } else if (type.basic() == Basic.FLOAT_COMPLEX) {
                    floats(in, inOut, bytes / 4);
                } else {
                    doubles(in, inOut, bytes / 8);
                }
            }
            case FLOAT -> floats(in, inOut, bytes / 4);
            case DOUBLE -> doubles(in, inOut, bytes / 8);
            default -> check(type);
        }
    }

    private long logical(boolean a, boolean b) {
        boolean result = this == LAND ? a && b : this == LOR ? a || b : a != b;
        return result ? 1 : 0;
    }

    private void bytes(MemorySegment in, MemorySegment inOut, long count) {
        switch (this) {
            case SUM -> {
                for (long i = 0; i < count; i++) {
                    byte a = in.getAtIndex(BYTES, i);
                    byte b = inOut.getAtIndex(BYTES, i);
                    inOut.setAtIndex(BYTES, i, (byte) (a + b));
                }
            }
            case PROD -> {
                for (long i = 0; i < count; i++) {
                    byte a = in.getAtIndex(BYTES, i);
                    byte b = inOut.getAtIndex(BYTES, i);
                    inOut.setAtIndex(BYTES, i, (byte) (a * b));
                }
            }
            case MAX -> {
                for (long i = 0; i < count; i++) {
                    byte a = in.getAtIndex(BYTES, i);
                    byte b = inOut.getAtIndex(BYTES, i);
                    inOut.setAtIndex(BYTES, i, (byte) Math.max(a, b));
                }
            }
            case MIN -> {
                for (long i = 0; i < count; i++) {
                    byte a = in.getAtIndex(BYTES, i);
                    byte b = inOut.getAtIndex(BYTES, i);
                    inOut.setAtIndex(BYTES, i, (byte) Math.min(a, b));
                }
            }
            case BAND -> {
                for (long i = 0; i < count; i++) {
                    byte a = in.getAtIndex(BYTES, i);
                    byte b = inOut.getAtIndex(BYTES, i);
                    inOut.setAtIndex(BYTES, i, (byte) (a & b));
                }
            }
            case BOR -> {
                for (long i = 0; i < count; i++) {
                    byte a = in.getAtIndex(BYTES, i);
                    byte b = inOut.getAtIndex(BYTES, i);
                    inOut.setAtIndex(BYTES, i, (byte) (a | b));
                }
            }
            case BXOR -> {
                for (long i = 0; i < count; i++) {
                    byte a = in.getAtIndex(BYTES, i);
                    byte b = inOut.getAtIndex(BYTES, i);
                    inOut.setAtIndex(BYTES, i, (byte) (a ^ b));
                }
            }
            case LAND, LOR, LXOR -> {
                for (long i = 0; i < count; i++) {
                    byte a = in.getAtIndex(BYTES, i);
                    byte b = inOut.getAtIndex(BYTES, i);
                    inOut.setAtIndex(BYTES, i, (byte) logical(a != 0, b != 0));
                }
            }
        }
    }

    private void chars(MemorySegment in, MemorySegment inOut, long count) {
        switch (this) {
            case SUM -> {
                for (long i = 0; i < count; i++) {
                    char a = in.getAtIndex(CHARS, i);
                    char b = inOut.getAtIndex(CHARS, i);
                    inOut.setAtIndex(CHARS, i, (char) (a + b));
                }
            }
            case PROD -> {
                for (long i = 0; i < count; i++) {
                    char a = in.getAtIndex(CHARS, i);
                    char b = inOut.getAtIndex(CHARS, i);
                    inOut.setAtIndex(CHARS, i, (char) (a * b));
                }
            }
            case MAX -> {
                for (long i = 0; i < count; i++) {
                    char a = in.getAtIndex(CHARS, i);
                    char b = inOut.getAtIndex(CHARS, i);
                    inOut.setAtIndex(CHARS, i, (char) Math.max(a, b));
                }
            }
            case MIN -> {
                for (long i = 0; i < count; i++) {
                    char a = in.getAtIndex(CHARS, i);
                    char b = inOut.getAtIndex(CHARS, i);
                    inOut.setAtIndex(CHARS, i, (char) Math.min(a, b));
                }
            }
            case BAND -> {
                for (long i = 0; i < count; i++) {
                    char a = in.getAtIndex(CHARS, i);
                    char b = inOut.getAtIndex(CHARS, i);
                    inOut.setAtIndex(CHARS, i, (char) (a & b));
                }
            }
            case BOR -> {
                for (long i = 0; i < count; i++) {
                    char a = in.getAtIndex(CHARS, i);
                    char b = inOut.getAtIndex(CHARS, i);
                    inOut.setAtIndex(CHARS, i, (char) (a | b));
                }
            }
            case BXOR -> {
                for (long i = 0; i < count; i++) {
                    char a = in.getAtIndex(CHARS, i);
                    char b = inOut.getAtIndex(CHARS, i);
                    inOut.setAtIndex(CHARS, i, (char) (a ^ b));
                }
            }
            case LAND, LOR, LXOR -> {
                for (long i = 0; i < count; i++) {
                    char a = in.getAtIndex(CHARS, i);
                    char b = inOut.getAtIndex(CHARS, i);
                    inOut.setAtIndex(CHARS, i, (char) logical(a != 0, b != 0));
                }
            }
        }
    }

    private void shorts(MemorySegment in, MemorySegment inOut, long count) {
        switch (this) {
            case SUM -> {
                for (long i = 0; i < count; i++) {
                    short a = in.getAtIndex(SHORTS, i);
                    short b = inOut.getAtIndex(SHORTS, i);
                    inOut.setAtIndex(SHORTS, i, (short) (a + b));
                }
            }
            case PROD -> {
                for (long i = 0; i < count; i++) {
                    short a = in.getAtIndex(SHORTS, i);
                    short b = inOut.getAtIndex(SHORTS, i);
                    inOut.setAtIndex(SHORTS, i, (short) (a * b));
                }
            }
            case MAX -> {
                for (long i = 0; i < count; i++) {
                    short a = in.getAtIndex(SHORTS, i);
                    short b = inOut.getAtIndex(SHORTS, i);
                    inOut.setAtIndex(SHORTS, i, (short) Math.max(a, b));
                }
            }
            case MIN -> {
                for (long i = 0; i < count; i++) {
                    short a = in.getAtIndex(SHORTS, i);
                    short b = inOut.getAtIndex(SHORTS, i);
                    inOut.setAtIndex(SHORTS, i, (short) Math.min(a, b));
                }
            }
            case BAND -> {
                for (long i = 0; i < count; i++) {
                    short a = in.getAtIndex(SHORTS, i);
                    short b = inOut.getAtIndex(SHORTS, i);
                    inOut.setAtIndex(SHORTS, i, (short) (a & b));
                }
            }
            case BOR -> {
                for (long i = 0; i < count; i++) {
                    short a = in.getAtIndex(SHORTS, i);
                    short b = inOut.getAtIndex(SHORTS, i);
                    inOut.setAtIndex(SHORTS, i, (short) (a | b));
                }
            }
            case BXOR -> {
                for (long i = 0; i < count; i++) {
                    short a = in.getAtIndex(SHORTS, i);
                    short b = inOut.getAtIndex(SHORTS, i);
                    inOut.setAtIndex(SHORTS, i, (short) (a ^ b));
                }
            }
            case LAND, LOR, LXOR -> {
                for (long i = 0; i < count; i++) {
                    short a = in.getAtIndex(SHORTS, i);
                    short b = inOut.getAtIndex(SHORTS, i);
                    inOut.setAtIndex(SHORTS, i, (short) logical(a != 0, b != 0));
                }
            }
        }
    }

    private void ints(MemorySegment in, MemorySegment inOut, long count) {
        switch (this) {
            case SUM -> {
                for (long i = 0; i < count; i++) {
                    int a = in.getAtIndex(INTS, i);
                    int b = inOut.getAtIndex(INTS, i);
                    inOut.setAtIndex(INTS, i, a + b);
                }
            }
            case PROD -> {
                for (long i = 0; i < count; i++) {
                    int a = in.getAtIndex(INTS, i);
                    int b = inOut.getAtIndex(INTS, i);
                    inOut.setAtIndex(INTS, i, a * b);
                }
            }
            case MAX -> {
                for (long i = 0; i < count; i++) {
                    int a = in.getAtIndex(INTS, i);
                    int b = inOut.getAtIndex(INTS, i);
                    inOut.setAtIndex(INTS, i, Math.max(a, b));
                }
            }
            case MIN -> {
                for (long i = 0; i < count; i++) {
                    int a = in.getAtIndex(INTS, i);
                    int b = inOut.getAtIndex(INTS, i);
                    inOut.setAtIndex(INTS, i, Math.min(a, b));
                }
            }
            case BAND -> {
                for (long i = 0; i < count; i++) {
                    int a = in.getAtIndex(INTS, i);
                    int b = inOut.getAtIndex(INTS, i);
                    inOut.setAtIndex(INTS, i, a & b);
                }
            }
            case BOR -> {
                for (long i = 0; i < count; i++) {
                    int a = in.getAtIndex(INTS, i);
                    int b = inOut.getAtIndex(INTS, i);
                    inOut.setAtIndex(INTS, i, a | b);
                }
            }
            case BXOR -> {
                for (long i = 0; i < count; i++) {
                    int a = in.getAtIndex(INTS, i);
                    int b = inOut.getAtIndex(INTS, i);
                    inOut.setAtIndex(INTS, i, a ^ b);
                }
            }
            case LAND, LOR, LXOR -> {
                for (long i = 0; i < count; i++) {
                    int a = in.getAtIndex(INTS, i);
                    int b = inOut.getAtIndex(INTS, i);
                    inOut.setAtIndex(INTS, i, (int) logical(a != 0, b != 0));
                }
            }
        }
    }

    private void longs(MemorySegment in, MemorySegment inOut, long count) {
        switch (this) {
            case SUM -> {
                for (long i = 0; i < count; i++) {
                    long a = in.getAtIndex(LONGS, i);
                    long b = inOut.getAtIndex(LONGS, i);
                    inOut.setAtIndex(LONGS, i, a + b);
                }
            }
            case PROD -> {
                for (long i = 0; i < count; i++) {
                    long a = in.getAtIndex(LONGS, i);
                    long b = inOut.getAtIndex(LONGS, i);
                    inOut.setAtIndex(LONGS, i, a * b);
                }
            }
            case MAX -> {
                for (long i = 0; i < count; i++) {
                    long a = in.getAtIndex(LONGS, i);
                    long b = inOut.getAtIndex(LONGS, i);
                    inOut.setAtIndex(LONGS, i, Math.max(a, b));
                }
            }
            case MIN -> {
                for (long i = 0; i < count; i++) {
                    long a = in.getAtIndex(LONGS, i);
                    long b = inOut.getAtIndex(LONGS, i);
                    inOut.setAtIndex(LONGS, i, Math.min(a, b));
                }
            }
            case BAND -> {
                for (long i = 0; i < count; i++) {
                    long a = in.getAtIndex(LONGS, i);
                    long b = inOut.getAtIndex(LONGS, i);
                    inOut.setAtIndex(LONGS, i, a & b);
                }
            }
            case BOR -> {
                for (long i = 0; i < count; i++) {
                    long a = in.getAtIndex(LONGS, i);
                    long b = inOut.getAtIndex(LONGS, i);
                    inOut.setAtIndex(LONGS, i, a | b);
                }
            }
            case BXOR -> {
                for (long i = 0; i < count; i++) {
                    long a = in.getAtIndex(LONGS, i);
                    long b = inOut.getAtIndex(LONGS, i);
                    inOut.setAtIndex(LONGS, i, a ^ b);
                }
            }
            case LAND, LOR, LXOR -> {
                for (long i = 0; i < count; i++) {
                    long a = in.getAtIndex(LONGS, i);
                    long b = inOut.getAtIndex(LONGS, i);
                    inOut.setAtIndex(LONGS, i, logical(a != 0, b != 0));
                }
            }
        }
    }

    private void floats(MemorySegment in, MemorySegment inOut, long count) {
        switch (this) {
            case SUM -> {
                for (long i = 0; i < count; i++) {
                    float a = in.getAtIndex(FLOATS, i);
                    float b = inOut.getAtIndex(FLOATS, i);
                    inOut.setAtIndex(FLOATS, i, a + b);
                }
            }
            case PROD -> {
                for (long i = 0; i < count; i++) {
                    float a = in.getAtIndex(FLOATS, i);
                    float b = inOut.getAtIndex(FLOATS, i);
                    inOut.setAtIndex(FLOATS, i, a * b);
                }
            }
            case MAX -> {
                for (long i = 0; i < count; i++) {
                    float a = in.getAtIndex(FLOATS, i);
                    float b = inOut.getAtIndex(FLOATS, i);
                    inOut.setAtIndex(FLOATS, i, Math.max(a, b));
                }
            }
            case MIN -> {
                for (long i = 0; i < count; i++) {
                    float a = in.getAtIndex(FLOATS, i);
                    float b = inOut.getAtIndex(FLOATS, i);
                    inOut.setAtIndex(FLOATS, i, Math.min(a, b));
                }
            }
            default -> throw new IllegalStateException(name() + " on numbers with fractions: check(type) refuses it");
        }
    }

    private void doubles(MemorySegment in, MemorySegment inOut, long count) {
        switch (this) {
            case SUM -> {
                for (long i = 0; i < count; i++) {
                    double a = in.getAtIndex(DOUBLES, i);
                    double b = inOut.getAtIndex(DOUBLES, i);
                    inOut.setAtIndex(DOUBLES, i, a + b);
                }
            }
            case PROD -> {
                for (long i = 0; i < count; i++) {
                    double a = in.getAtIndex(DOUBLES, i);
                    double b = inOut.getAtIndex(DOUBLES, i);
                    inOut.setAtIndex(DOUBLES, i, a * b);
                }
            }
            case MAX -> {
                for (long i = 0; i < count; i++) {
                    double a = in.getAtIndex(DOUBLES, i);
                    double b = inOut.getAtIndex(DOUBLES, i);
                    inOut.setAtIndex(DOUBLES, i, Math.max(a, b));
                }
            }
            case MIN -> {
                for (long i = 0; i < count; i++) {
                    double a = in.getAtIndex(DOUBLES, i);
                    double b = inOut.getAtIndex(DOUBLES, i);
                    inOut.setAtIndex(DOUBLES, i, Math.min(a, b));
                }
            }
            default -> throw new IllegalStateException(name() + " on numbers with fractions: check(type) refuses it");
        }
    }
}
