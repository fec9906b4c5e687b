package mpi;

/**
 * A Cartesian grid: its dimensions, whether they are periodic, where this process is. Threading: confined to caller.
 */
public class CartParms {
    /** The length of each dimension. */
    public int[] dims;

    /** Whether each dimension is periodic. */
    public boolean[] periods;

    /** The coordinates of this process. */
    public int[] coords;

    CartParms(int[] dims, boolean[] periods, int[] coords) {
        this.dims = dims.clone();
        this.periods = periods.clone();
        this.coords = coords.clone();
    }

    /** The number of dimensions. */
    public int getDimCount() {
        return dims.length;
    }

    /** The length of a dimension. */
    public int getDim(int dimension) {
        return dims[dimension];
    }

    /** Whether a dimension is periodic. */
    public boolean getPeriod(int dimension) {
        return periods[dimension];
    }

    /** This process's coordinate in a dimension. */
    public int getCoord(int dimension) {
        return coords[dimension];
    }
}
