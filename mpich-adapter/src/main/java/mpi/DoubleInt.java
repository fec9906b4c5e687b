package mpi;

/** A value of type double and an int index, as MPI.DOUBLE_INT has them. Threading: as {@link Struct}. */
public final class DoubleInt extends Struct {
    private final int value;
    private final int index;

    DoubleInt() {
        value = addDouble();
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
        public double getValue() {
            return getDouble(value);
        }

        /** The index. */
        public int getIndex() {
            return getInt(index);
        }

        /** Sets the value. */
        public void putValue(double value) {
            putDouble(DoubleInt.this.value, value);
        }

        /** Sets the index. */
        public void putIndex(int index) {
            putInt(DoubleInt.this.index, index);
        }
    }
}
