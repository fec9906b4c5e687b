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
        return new Data(this);
    }

    /** One pair in memory. Threading: confined to caller. */
    public static final class Data extends Struct.Data {
        private final DoubleInt layout;

        /** A pair of this layout. */
        public Data(DoubleInt layout) {
            super(layout);
            this.layout = layout;
        }

        /** The value. */
        public double getValue() {
            return getDouble(layout.value);
        }

        /** The index. */
        public int getIndex() {
            return getInt(layout.index);
        }

        /** Sets the value. */
        public void putValue(double value) {
            putDouble(layout.value, value);
        }

        /** Sets the index. */
        public void putIndex(int index) {
            putInt(layout.index, index);
        }
    }
}
