package mpi;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The layout of a C struct, and a datatype for it. A subclass adds its fields, one behind the other and without
 * alignment, and has an inner class that extends {@link Data}. After the first use of the datatype, the extent or the
 * data, no field can be added. Offsets count bytes. Adding a field throws an {@link MPIException} of class {@link
 * MPI#ERR_COUNT} if the struct gets longer than an int can count.
 *
 * <p>Threading: confined to caller until its first use, then immutable.
 */
public abstract class Struct {
    /** The most bytes that an int can still hold when rounded up to any alignment. */
    private static final int MOST_BYTES = Integer.MAX_VALUE - 7;

    private final List<Datatype> types = new ArrayList<>();
    private final List<Integer> offsets = new ArrayList<>();
    private final List<Integer> lengths = new ArrayList<>();
    private int end;
    private @Nullable Datatype type;

    /** The extent of the type, which the program may free. */
    private int extent;

    /** A struct without fields. */
    protected Struct() {}

    /** Makes an accessor; {@link #getData} connects it with memory. */
    protected abstract Data newData();

    private int add(Datatype fieldType, int length, long itemBytes) {
        checkOpen();
        checkEnd(length, itemBytes);
        types.add(fieldType);
        offsets.add(end);
        lengths.add(length);
        int offset = end;
        end += (int) (length * itemBytes);
        return offset;
    }

    private void checkEnd(int length, long itemBytes) {
        long room = length == 0 ? Long.MAX_VALUE : (MOST_BYTES - end) / Math.abs((long) length);
        if (itemBytes > room || itemBytes < -room) {
            throw new MPIException(
                    MPI.ERR_COUNT,
                    "a field of " + length + " times " + itemBytes + " bytes is added to a struct of " + end
                            + " bytes: expected at most " + MOST_BYTES + " bytes in all",
                    null);
        }
    }

    private void checkOpen() {
        if (type != null) {
            throw new AssertionError("a field is added to a struct that is in use");
        }
    }

    /** Moves the end forward to this offset: the next field begins there. */
    public final Struct setOffset(int offset) {
        checkOpen();
        if (offset < end) {
            throw new IllegalArgumentException(
                    "the offset " + offset + " lies within the struct: expected at least " + end);
        }
        end = offset;
        return this;
    }

    /** The distance between structs in bytes: the last byte, rounded up to the largest alignment. */
    public final int getExtent() {
        Datatype _ = getType();
        return extent;
    }

    /** The datatype. */
    public final Datatype getType() {
        Datatype made = type;
        if (made == null) {
            made = Datatype.createStruct(
                    lengths.stream().mapToInt(Integer::intValue).toArray(),
                    offsets.stream().mapToInt(Integer::intValue).toArray(),
                    types.toArray(Datatype[]::new));
            extent = made.getExtent();
            type = made;
        }
        return made;
    }

    /** The first struct in a buffer, in the buffer's byte order. */
    @SuppressWarnings("TypeParameterUnusedInFormals") // the signature in Open MPI
    public final <T extends Data> T getData(ByteBuffer buffer) {
        return getData(buffer, 0);
    }

    /** The struct with an index in a buffer, in the buffer's byte order. */
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // the caller names the class of newData
    public final <T extends Data> T getData(ByteBuffer buffer, int index) {
        Data data = newData();
        data.connect(buffer, index * getExtent());
        return (T) data;
    }

    /** The first struct in an array, in native byte order. */
    @SuppressWarnings("TypeParameterUnusedInFormals") // the signature in Open MPI
    public final <T extends Data> T getData(byte[] array) {
        return getData(array, 0);
    }

    /** The struct with an index in an array, in native byte order. */
    @SuppressWarnings("TypeParameterUnusedInFormals") // the signature in Open MPI
    public final <T extends Data> T getData(byte[] array, int index) {
        return getData(ByteBuffer.wrap(array).order(ByteOrder.nativeOrder()), index);
    }

    // ---- fields

    /** Appends a byte; returns its offset in bytes. */
    public final int addByte() {
        return addByte(1);
    }

    /** Appends an array of byte; returns its offset in bytes. */
    public final int addByte(int length) {
        return add(MPI.BYTE, length, 1);
    }

    /** Appends a char; returns its offset in bytes. */
    public final int addChar() {
        return addChar(1);
    }

    /** Appends an array of char; returns its offset in bytes. */
    public final int addChar(int length) {
        return add(MPI.CHAR, length, 2);
    }

    /** Appends a short; returns its offset in bytes. */
    public final int addShort() {
        return addShort(1);
    }

    /** Appends an array of short; returns its offset in bytes. */
    public final int addShort(int length) {
        return add(MPI.SHORT, length, 2);
    }

    /** Appends a int; returns its offset in bytes. */
    public final int addInt() {
        return addInt(1);
    }

    /** Appends an array of int; returns its offset in bytes. */
    public final int addInt(int length) {
        return add(MPI.INT, length, 4);
    }

    /** Appends a long; returns its offset in bytes. */
    public final int addLong() {
        return addLong(1);
    }

    /** Appends an array of long; returns its offset in bytes. */
    public final int addLong(int length) {
        return add(MPI.LONG, length, 8);
    }

    /** Appends a float; returns its offset in bytes. */
    public final int addFloat() {
        return addFloat(1);
    }

    /** Appends an array of float; returns its offset in bytes. */
    public final int addFloat(int length) {
        return add(MPI.FLOAT, length, 4);
    }

    /** Appends a double; returns its offset in bytes. */
    public final int addDouble() {
        return addDouble(1);
    }

    /** Appends an array of double; returns its offset in bytes. */
    public final int addDouble(int length) {
        return add(MPI.DOUBLE, length, 8);
    }

    /** Appends a struct; returns its offset in bytes. */
    public final int addStruct(Struct struct) {
        return addStruct(struct, 1);
    }

    /** Appends an array of structs; returns its offset in bytes. */
    public final int addStruct(Struct struct, int length) {
        return add(struct.getType(), length, struct.getExtent());
    }

    /** Appends an item of a datatype; returns its offset in bytes. */
    public final int addData(Datatype fieldType) {
        return addData(fieldType, 1);
    }

    /** Appends items of a datatype; returns their offset in bytes. */
    public final int addData(Datatype fieldType, int length) {
        return add(fieldType, length, fieldType.layout().extent());
    }

    /**
     * One struct in memory.
     *
     * <p>Threading: confined to caller.
     */
    @SuppressWarnings("ClassCanBeStatic") // programs extend it by inner classes that call no constructor
    public abstract class Data {
        private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

        private ByteBuffer buffer = NOTHING;
        private int offset;

        /** An accessor; {@link Struct#getData} connects it with memory. */
        public Data() {}

        private void connect(ByteBuffer memory, int start) {
            buffer = memory;
            offset = start;
        }

        /** The memory of this struct. */
        public final ByteBuffer getBuffer() {
            return offset == 0 ? buffer : MPI.slice(buffer, offset);
        }

        /**
         * The struct at an offset in bytes, in the same memory and byte order.
         *
         * @param struct the layout that {@link Struct#addStruct(Struct)} has put there
         * @param field what that call returned
         */
        @SuppressWarnings("TypeParameterUnusedInFormals") // the signature in Open MPI
        protected final <S extends Struct, D extends Data> D getData(S struct, int field) {
            return getData(struct, field, 0);
        }

        /**
         * The struct at an index of an array at an offset in bytes, in the same memory and byte order.
         *
         * @param struct the layout that {@link Struct#addStruct(Struct, int)} has put there
         * @param field what that call returned
         * @param index counts structs
         */
        @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // the caller names the class of newData
        protected final <S extends Struct, D extends Data> D getData(S struct, int field, int index) {
            Data data = struct.newData();
            data.connect(buffer, offset + field + index * struct.getExtent());
            return (D) data;
        }

        /**
         * The memory from the item at an offset in bytes on, in native byte order.
         *
         * @param type the datatype that {@link Struct#addData(Datatype)} has put there
         * @param field what that call returned
         */
        protected final ByteBuffer getBuffer(Datatype type, int field) {
            return getBuffer(type, field, 0);
        }

        /**
         * The memory from the item at an index of an array at an offset in bytes on, in native byte order.
         *
         * @param type the datatype that {@link Struct#addData(Datatype, int)} has put there
         * @param field what that call returned
         * @param index counts extents of the datatype
         */
        protected final ByteBuffer getBuffer(Datatype type, int field, int index) {
            int start = offset + field + index * (int) type.layout().extent();
            return buffer.duplicate().clear().position(start).slice().order(ByteOrder.nativeOrder());
        }

        /** The byte at an offset in bytes. */
        protected final byte getByte(int field) {
            return buffer.get(offset + field);
        }

        /** The byte at an index of an array at an offset in bytes. */
        protected final byte getByte(int field, int index) {
            return buffer.get(offset + field + index * 1);
        }

        /** Sets the byte at an offset in bytes. */
        protected final void putByte(int field, byte value) {
            buffer.put(offset + field, value);
        }

        /** Sets the byte at an index of an array at an offset in bytes. */
        protected final void putByte(int field, int index, byte value) {
            buffer.put(offset + field + index * 1, value);
        }

        /** The char at an offset in bytes. */
        protected final char getChar(int field) {
            return buffer.getChar(offset + field);
        }

        /** The char at an index of an array at an offset in bytes. */
        protected final char getChar(int field, int index) {
            return buffer.getChar(offset + field + index * Character.BYTES);
        }

        /** Sets the char at an offset in bytes. */
        protected final void putChar(int field, char value) {
            buffer.putChar(offset + field, value);
        }

        /** Sets the char at an index of an array at an offset in bytes. */
        protected final void putChar(int field, int index, char value) {
            buffer.putChar(offset + field + index * Character.BYTES, value);
        }

        /** The short at an offset in bytes. */
        protected final short getShort(int field) {
            return buffer.getShort(offset + field);
        }

        /** The short at an index of an array at an offset in bytes. */
        protected final short getShort(int field, int index) {
            return buffer.getShort(offset + field + index * Short.BYTES);
        }

        /** Sets the short at an offset in bytes. */
        protected final void putShort(int field, short value) {
            buffer.putShort(offset + field, value);
        }

        /** Sets the short at an index of an array at an offset in bytes. */
        protected final void putShort(int field, int index, short value) {
            buffer.putShort(offset + field + index * Short.BYTES, value);
        }

        /** The int at an offset in bytes. */
        protected final int getInt(int field) {
            return buffer.getInt(offset + field);
        }

        /** The int at an index of an array at an offset in bytes. */
        protected final int getInt(int field, int index) {
            return buffer.getInt(offset + field + index * Integer.BYTES);
        }

        /** Sets the int at an offset in bytes. */
        protected final void putInt(int field, int value) {
            buffer.putInt(offset + field, value);
        }

        /** Sets the int at an index of an array at an offset in bytes. */
        protected final void putInt(int field, int index, int value) {
            buffer.putInt(offset + field + index * Integer.BYTES, value);
        }

        /** The long at an offset in bytes. */
        protected final long getLong(int field) {
            return buffer.getLong(offset + field);
        }

        /** The long at an index of an array at an offset in bytes. */
        protected final long getLong(int field, int index) {
            return buffer.getLong(offset + field + index * Long.BYTES);
        }

        /** Sets the long at an offset in bytes. */
        protected final void putLong(int field, long value) {
            buffer.putLong(offset + field, value);
        }

        /** Sets the long at an index of an array at an offset in bytes. */
        protected final void putLong(int field, int index, long value) {
            buffer.putLong(offset + field + index * Long.BYTES, value);
        }

        /** The float at an offset in bytes. */
        protected final float getFloat(int field) {
            return buffer.getFloat(offset + field);
        }

        /** The float at an index of an array at an offset in bytes. */
        protected final float getFloat(int field, int index) {
            return buffer.getFloat(offset + field + index * Float.BYTES);
        }

        /** Sets the float at an offset in bytes. */
        protected final void putFloat(int field, float value) {
            buffer.putFloat(offset + field, value);
        }

        /** Sets the float at an index of an array at an offset in bytes. */
        protected final void putFloat(int field, int index, float value) {
            buffer.putFloat(offset + field + index * Float.BYTES, value);
        }

        /** The double at an offset in bytes. */
        protected final double getDouble(int field) {
            return buffer.getDouble(offset + field);
        }

        /** The double at an index of an array at an offset in bytes. */
        protected final double getDouble(int field, int index) {
            return buffer.getDouble(offset + field + index * Double.BYTES);
        }

        /** Sets the double at an offset in bytes. */
        protected final void putDouble(int field, double value) {
            buffer.putDouble(offset + field, value);
        }

        /** Sets the double at an index of an array at an offset in bytes. */
        protected final void putDouble(int field, int index, double value) {
            buffer.putDouble(offset + field + index * Double.BYTES, value);
        }
    }
}
