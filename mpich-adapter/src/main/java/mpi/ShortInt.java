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
        return new Data();
    }

    /** One pair in memory. Threading: confined to caller. */
    public final class Data extends Struct.Data {
        /** A pair. */
        public Data() {}

        /** The value. */
        public short getValue() {
            return getShort(value);
        }

        /** The index. */
        public int getIndex() {
            return getInt(index);
        }

        /** Sets the value. */
        public void putValue(short value) {
            putShort(ShortInt.this.value, value);
        }

        /** Sets the index. */
        public void putIndex(int index) {
            putInt(ShortInt.this.index, index);
        }
    }
}
