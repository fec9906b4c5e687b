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
        return new Data(this);
    }

    /** One pair in memory. Threading: confined to caller. */
    public static final class Data extends Struct.Data {
        private final FloatInt layout;

        /** A pair of this layout. */
        public Data(FloatInt layout) {
            super(layout);
            this.layout = layout;
        }

        /** The value. */
        public float getValue() {
            return getFloat(layout.value);
        }

        /** The index. */
        public int getIndex() {
            return getInt(layout.index);
        }

        /** Sets the value. */
        public void putValue(float value) {
            putFloat(layout.value, value);
        }

        /** Sets the index. */
        public void putIndex(int index) {
            putInt(layout.index, index);
        }
    }
}
