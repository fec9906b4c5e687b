package mpi;

/** A value of type float and an int index, as MPI.FLOAT_INT has them. Threading: as {@link Struct}. */
public final class FloatInt extends Struct {
    private final int value;
    private final int index;

    FloatInt() {
        value = addFloat();
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
        public float getValue() {
            return getFloat(value);
        }

        /** The index. */
        public int getIndex() {
            return getInt(index);
        }

        /** Sets the value. */
        public void putValue(float value) {
            putFloat(FloatInt.this.value, value);
        }

        /** Sets the index. */
        public void putIndex(int index) {
            putInt(FloatInt.this.index, index);
        }
    }
}
