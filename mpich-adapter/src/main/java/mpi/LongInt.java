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
        return new Data();
    }

    /** One pair in memory. Threading: confined to caller. */
    public final class Data extends Struct.Data {
        /** A pair. */
        public Data() {}

        /** The value. */
        public long getValue() {
            return getLong(value);
        }

        /** The index. */
        public int getIndex() {
            return getInt(index);
        }

        /** Sets the value. */
        public void putValue(long value) {
            putLong(LongInt.this.value, value);
        }

        /** Sets the index. */
        public void putIndex(int index) {
            putInt(LongInt.this.index, index);
        }
    }
}
