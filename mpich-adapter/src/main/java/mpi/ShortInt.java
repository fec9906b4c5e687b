package mpi;

/** A value of type short and an int index, as MPI.SHORT_INT has them. Threading: as {@link Struct}. */
public final class ShortInt extends Struct {
    private final int value;
    private final int index;

    ShortInt() {
        value = addShort();
        Struct _ = setOffset(4);
        index = addInt();
    }

    @Override
    protected Data newData() {
        return new Data(this);
    }

    /** One pair in memory. Threading: confined to caller. */
    public static final class Data extends Struct.Data {
        private final ShortInt layout;

        /** A pair of this layout. */
        public Data(ShortInt layout) {
            super(layout);
            this.layout = layout;
        }

        /** The value. */
        public short getValue() {
            return getShort(layout.value);
        }

        /** The index. */
        public int getIndex() {
            return getInt(layout.index);
        }

        /** Sets the value. */
        public void putValue(short value) {
            putShort(layout.value, value);
        }

        /** Sets the index. */
        public void putIndex(int index) {
            putInt(layout.index, index);
        }
    }
}
