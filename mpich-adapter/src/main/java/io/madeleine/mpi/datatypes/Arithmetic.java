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

    /**
     * How many items are combined at a time. They are copied into arrays and back: a loop over arrays is compiled
     * early, and into vector instructions; one over memory segments takes some 100 ns an item until it is compiled at
     * last.
     */
    private static final int BLOCK_ITEMS = 1024;

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
        int most = (int) Math.min(count, BLOCK_ITEMS);
        byte[] a = new byte[most];
        byte[] b = new byte[most];
        for (long at = 0; at < count; at += most) {
            int items = (int) Math.min(most, count - at);
            MemorySegment.copy(in, BYTES, at * Byte.BYTES, a, 0, items);
            MemorySegment.copy(inOut, BYTES, at * Byte.BYTES, b, 0, items);
            combine(a, b, items);
            MemorySegment.copy(b, 0, inOut, BYTES, at * Byte.BYTES, items);
        }
    }

    private void combine(byte[] a, byte[] b, int items) {
        switch (this) {
            case SUM -> {
                for (int i = 0; i < items; i++) {
                    b[i] = (byte) (a[i] + b[i]);
                }
            }
            case PROD -> {
                for (int i = 0; i < items; i++) {
                    b[i] = (byte) (a[i] * b[i]);
                }
            }
            case MAX -> {
                for (int i = 0; i < items; i++) {
                    b[i] = (byte) Math.max(a[i], b[i]);
                }
            }
            case MIN -> {
                for (int i = 0; i < items; i++) {
                    b[i] = (byte) Math.min(a[i], b[i]);
                }
            }
            case BAND -> {
                for (int i = 0; i < items; i++) {
                    b[i] = (byte) (a[i] & b[i]);
                }
            }
            case BOR -> {
                for (int i = 0; i < items; i++) {
                    b[i] = (byte) (a[i] | b[i]);
                }
            }
            case BXOR -> {
                for (int i = 0; i < items; i++) {
                    b[i] = (byte) (a[i] ^ b[i]);
                }
            }
            case LAND, LOR, LXOR -> {
                for (int i = 0; i < items; i++) {
                    b[i] = (byte) logical(a[i] != 0, b[i] != 0);
                }
            }
        }
    }

    private void chars(MemorySegment in, MemorySegment inOut, long count) {
        int most = (int) Math.min(count, BLOCK_ITEMS);
        char[] a = new char[most];
        char[] b = new char[most];
        for (long at = 0; at < count; at += most) {
            int items = (int) Math.min(most, count - at);
            MemorySegment.copy(in, CHARS, at * Character.BYTES, a, 0, items);
            MemorySegment.copy(inOut, CHARS, at * Character.BYTES, b, 0, items);
            combine(a, b, items);
            MemorySegment.copy(b, 0, inOut, CHARS, at * Character.BYTES, items);
        }
    }

    private void combine(char[] a, char[] b, int items) {
        switch (this) {
            case SUM -> {
                for (int i = 0; i < items; i++) {
                    b[i] = (char) (a[i] + b[i]);
                }
            }
            case PROD -> {
                for (int i = 0; i < items; i++) {
                    b[i] = (char) (a[i] * b[i]);
                }
            }
            case MAX -> {
                for (int i = 0; i < items; i++) {
                    b[i] = (char) Math.max(a[i], b[i]);
                }
            }
            case MIN -> {
                for (int i = 0; i < items; i++) {
                    b[i] = (char) Math.min(a[i], b[i]);
                }
            }
            case BAND -> {
                for (int i = 0; i < items; i++) {
                    b[i] = (char) (a[i] & b[i]);
                }
            }
            case BOR -> {
                for (int i = 0; i < items; i++) {
                    b[i] = (char) (a[i] | b[i]);
                }
            }
            case BXOR -> {
                for (int i = 0; i < items; i++) {
                    b[i] = (char) (a[i] ^ b[i]);
                }
            }
            case LAND, LOR, LXOR -> {
                for (int i = 0; i < items; i++) {
                    b[i] = (char) logical(a[i] != 0, b[i] != 0);
                }
            }
        }
    }

    private void shorts(MemorySegment in, MemorySegment inOut, long count) {
        int most = (int) Math.min(count, BLOCK_ITEMS);
        short[] a = new short[most];
        short[] b = new short[most];
        for (long at = 0; at < count; at += most) {
            int items = (int) Math.min(most, count - at);
            MemorySegment.copy(in, SHORTS, at * Short.BYTES, a, 0, items);
            MemorySegment.copy(inOut, SHORTS, at * Short.BYTES, b, 0, items);
            combine(a, b, items);
            MemorySegment.copy(b, 0, inOut, SHORTS, at * Short.BYTES, items);
        }
    }

    private void combine(short[] a, short[] b, int items) {
        switch (this) {
            case SUM -> {
                for (int i = 0; i < items; i++) {
                    b[i] = (short) (a[i] + b[i]);
                }
            }
            case PROD -> {
                for (int i = 0; i < items; i++) {
                    b[i] = (short) (a[i] * b[i]);
                }
            }
            case MAX -> {
                for (int i = 0; i < items; i++) {
                    b[i] = (short) Math.max(a[i], b[i]);
                }
            }
            case MIN -> {
                for (int i = 0; i < items; i++) {
                    b[i] = (short) Math.min(a[i], b[i]);
                }
            }
            case BAND -> {
                for (int i = 0; i < items; i++) {
                    b[i] = (short) (a[i] & b[i]);
                }
            }
            case BOR -> {
                for (int i = 0; i < items; i++) {
                    b[i] = (short) (a[i] | b[i]);
                }
            }
            case BXOR -> {
                for (int i = 0; i < items; i++) {
                    b[i] = (short) (a[i] ^ b[i]);
                }
            }
            case LAND, LOR, LXOR -> {
                for (int i = 0; i < items; i++) {
                    b[i] = (short) logical(a[i] != 0, b[i] != 0);
                }
            }
        }
    }

    private void ints(MemorySegment in, MemorySegment inOut, long count) {
        int most = (int) Math.min(count, BLOCK_ITEMS);
        int[] a = new int[most];
        int[] b = new int[most];
        for (long at = 0; at < count; at += most) {
            int items = (int) Math.min(most, count - at);
            MemorySegment.copy(in, INTS, at * Integer.BYTES, a, 0, items);
            MemorySegment.copy(inOut, INTS, at * Integer.BYTES, b, 0, items);
            combine(a, b, items);
            MemorySegment.copy(b, 0, inOut, INTS, at * Integer.BYTES, items);
        }
    }

    private void combine(int[] a, int[] b, int items) {
        switch (this) {
            case SUM -> {
                for (int i = 0; i < items; i++) {
                    b[i] = a[i] + b[i];
                }
            }
            case PROD -> {
                for (int i = 0; i < items; i++) {
                    b[i] = a[i] * b[i];
                }
            }
            case MAX -> {
                for (int i = 0; i < items; i++) {
                    b[i] = Math.max(a[i], b[i]);
                }
            }
            case MIN -> {
                for (int i = 0; i < items; i++) {
                    b[i] = Math.min(a[i], b[i]);
                }
            }
            case BAND -> {
                for (int i = 0; i < items; i++) {
                    b[i] = a[i] & b[i];
                }
            }
            case BOR -> {
                for (int i = 0; i < items; i++) {
                    b[i] = a[i] | b[i];
                }
            }
            case BXOR -> {
                for (int i = 0; i < items; i++) {
                    b[i] = a[i] ^ b[i];
                }
            }
            case LAND, LOR, LXOR -> {
                for (int i = 0; i < items; i++) {
                    b[i] = (int) logical(a[i] != 0, b[i] != 0);
                }
            }
        }
    }

    private void longs(MemorySegment in, MemorySegment inOut, long count) {
        int most = (int) Math.min(count, BLOCK_ITEMS);
        long[] a = new long[most];
        long[] b = new long[most];
        for (long at = 0; at < count; at += most) {
            int items = (int) Math.min(most, count - at);
            MemorySegment.copy(in, LONGS, at * Long.BYTES, a, 0, items);
            MemorySegment.copy(inOut, LONGS, at * Long.BYTES, b, 0, items);
            combine(a, b, items);
            MemorySegment.copy(b, 0, inOut, LONGS, at * Long.BYTES, items);
        }
    }

    private void combine(long[] a, long[] b, int items) {
        switch (this) {
            case SUM -> {
                for (int i = 0; i < items; i++) {
                    b[i] = a[i] + b[i];
                }
            }
            case PROD -> {
                for (int i = 0; i < items; i++) {
                    b[i] = a[i] * b[i];
                }
            }
            case MAX -> {
                for (int i = 0; i < items; i++) {
                    b[i] = Math.max(a[i], b[i]);
                }
            }
            case MIN -> {
                for (int i = 0; i < items; i++) {
                    b[i] = Math.min(a[i], b[i]);
                }
            }
            case BAND -> {
                for (int i = 0; i < items; i++) {
                    b[i] = a[i] & b[i];
                }
            }
            case BOR -> {
                for (int i = 0; i < items; i++) {
                    b[i] = a[i] | b[i];
                }
            }
            case BXOR -> {
                for (int i = 0; i < items; i++) {
                    b[i] = a[i] ^ b[i];
                }
            }
            case LAND, LOR, LXOR -> {
                for (int i = 0; i < items; i++) {
                    b[i] = logical(a[i] != 0, b[i] != 0);
                }
            }
        }
    }

    private void floats(MemorySegment in, MemorySegment inOut, long count) {
        int most = (int) Math.min(count, BLOCK_ITEMS);
        float[] a = new float[most];
        float[] b = new float[most];
        for (long at = 0; at < count; at += most) {
            int items = (int) Math.min(most, count - at);
            MemorySegment.copy(in, FLOATS, at * Float.BYTES, a, 0, items);
            MemorySegment.copy(inOut, FLOATS, at * Float.BYTES, b, 0, items);
            combine(a, b, items);
            MemorySegment.copy(b, 0, inOut, FLOATS, at * Float.BYTES, items);
        }
    }

    private void combine(float[] a, float[] b, int items) {
        switch (this) {
            case SUM -> {
                for (int i = 0; i < items; i++) {
                    b[i] = a[i] + b[i];
                }
            }
            case PROD -> {
                for (int i = 0; i < items; i++) {
                    b[i] = a[i] * b[i];
                }
            }
            case MAX -> {
                for (int i = 0; i < items; i++) {
                    b[i] = Math.max(a[i], b[i]);
                }
            }
            case MIN -> {
                for (int i = 0; i < items; i++) {
                    b[i] = Math.min(a[i], b[i]);
                }
            }
            default -> throw new IllegalStateException(name() + " on numbers with fractions: check(type) refuses it");
        }
    }

    private void doubles(MemorySegment in, MemorySegment inOut, long count) {
        int most = (int) Math.min(count, BLOCK_ITEMS);
        double[] a = new double[most];
        double[] b = new double[most];
        for (long at = 0; at < count; at += most) {
            int items = (int) Math.min(most, count - at);
            MemorySegment.copy(in, DOUBLES, at * Double.BYTES, a, 0, items);
            MemorySegment.copy(inOut, DOUBLES, at * Double.BYTES, b, 0, items);
            combine(a, b, items);
            MemorySegment.copy(b, 0, inOut, DOUBLES, at * Double.BYTES, items);
        }
    }

    private void combine(double[] a, double[] b, int items) {
        switch (this) {
            case SUM -> {
                for (int i = 0; i < items; i++) {
                    b[i] = a[i] + b[i];
                }
            }
            case PROD -> {
                for (int i = 0; i < items; i++) {
                    b[i] = a[i] * b[i];
                }
            }
            case MAX -> {
                for (int i = 0; i < items; i++) {
                    b[i] = Math.max(a[i], b[i]);
                }
            }
            case MIN -> {
                for (int i = 0; i < items; i++) {
                    b[i] = Math.min(a[i], b[i]);
                }
            }
            default -> throw new IllegalStateException(name() + " on numbers with fractions: check(type) refuses it");
        }
    }
}
