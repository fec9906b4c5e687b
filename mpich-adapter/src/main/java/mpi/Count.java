package mpi;

/** A number that may exceed an int. Threading: confined to caller. */
@SuppressWarnings("ComparableType") // as in Open MPI
public final class Count implements Comparable<Object> {
    private long count;

    /** A number. */
    public Count(long count) {
        this.count = count;
    }

    /** The number. */
    public long getCount() {
        return count;
    }

    /** Changes the number. */
    public void setCount(long count) {
        this.count = count;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Count number && number.count == count;
    }

    @Override
    public int hashCode() {
        return Long.hashCode(count);
    }

    @Override
    public int compareTo(Object other) {
        return Long.compare(count, ((Count) other).count);
    }
}
