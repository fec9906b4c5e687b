package mpi;

/** A value of type long and an int index, as MPI.LONG_INT has them. Threading: as {@link Struct}. */
public final class LongInt extends Struct {
    private final int value;
    private final int index;

    LongInt() {
        value = addLong();
        index = addInt();
    }

    @Override
    protected Data newData() {
        return new Data(this);
    }

    /** One pair in memory. Threading: confined to caller. */
    public static final class Data extends Struct.Data {
        private final LongInt layout;

        /** A pair of this layout. */
        public Data(LongInt layout) {
            super(layout);
            this.layout = layout;
        }

        /** The value. */
        public long getValue() {
            return getLong(layout.value);
        }

        /** The index. */
        public int getIndex() {
            return getInt(layout.index);
        }

        /** Sets the value. */
        public void putValue(long value) {
            putLong(layout.value, value);
        }

        /** Sets the index. */
        public void putIndex(int index) {
            putInt(layout.index, index);
        }
    }
}
