package mpi;

/** A value of type int and an int index, as MPI.INT2 has them. Threading: as {@link Struct}. */
public final class Int2 extends Struct {
    private final int value;
    private final int index;

    Int2() {
        value = addInt();
        index = addInt();
    }

    @Override
    protected Data newData() {
        return new Data();
    }

    /** One pair in memory. Threading: confined to caller. */
    public final class Data extends Struct.Data {
        /** A pair. */
        public Data() {}

        /** The value. */
        public int getValue() {
            return getInt(value);
        }

        /** The index. */
        public int getIndex() {
            return getInt(index);
        }

        /** Sets the value. */
        public void putValue(int value) {
            putInt(Int2.this.value, value);
        }

        /** Sets the index. */
        public void putIndex(int index) {
            putInt(Int2.this.index, index);
        }
    }
}
