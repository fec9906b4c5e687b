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
        return new Data(this);
    }

    /** One pair in memory. Threading: confined to caller. */
    public static final class Data extends Struct.Data {
        private final Int2 layout;

        /** A pair of this layout. */
        public Data(Int2 layout) {
            super(layout);
            this.layout = layout;
        }

        /** The value. */
        public int getValue() {
            return getInt(layout.value);
        }

        /** The index. */
        public int getIndex() {
            return getInt(layout.index);
        }

        /** Sets the value. */
        public void putValue(int value) {
            putInt(layout.value, value);
        }

        /** Sets the index. */
        public void putIndex(int index) {
            putInt(layout.index, index);
        }
    }
}
