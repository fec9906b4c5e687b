package mpi;

/**
 * A communicator with a Cartesian topology.
 *
 * <p>Threading: as {@link Comm}.
 */
public final class CartComm extends Cartcomm {
    CartComm(int[] dims, boolean[] periods) {
        this(new Grid(dims, periods));
    }

    CartComm(Grid grid) {
        super(grid);
    }

    @Override
    public CartComm clone() {
        return dup();
    }

    @Override
    public CartComm dup() {
        return (CartComm) super.dup();
    }

    @Override
    public CartComm iDup() {
        return (CartComm) super.iDup();
    }

    @Override
    public CartComm dupWithInfo(Info info) {
        return (CartComm) super.dupWithInfo(info);
    }

    /** The grid, and where this process is. */
    public CartParms getTopo() {
        return Get();
    }

    /** The rank at coordinates; periodic dimensions wrap. */
    public int getRank(int[] coords) {
        return Rank(coords);
    }

    /** The coordinates of a rank. */
    public int[] getCoords(int rank) {
        return Coords(rank);
    }

    /** The ranks to receive from and to send to, at a distance in a dimension. */
    public ShiftParms shift(int direction, int distance) {
        return Shift(direction, distance);
    }

    /** The grids of the dimensions that remain. Collective. */
    public CartComm sub(boolean[] remain) {
        return Sub(remain);
    }

    /** The rank that this process would have in a grid, or UNDEFINED. */
    public int map(int[] dims, boolean[] periods) {
        return Map(dims, periods);
    }

    /** Fills the zeros with dimensions whose product, with the others, is the number of nodes. */
    public static void createDims(int nodes, int[] dims) {
        Dims_create(nodes, dims);
    }
}
