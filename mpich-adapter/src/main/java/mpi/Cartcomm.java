package mpi;

import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.MpiFault;

/**
 * A communicator with a Cartesian topology (MPI 4.1, section 8.5), mpiJava style. Ranks go row by row: the last
 * coordinate counts fastest.
 *
 * <p>Threading: as {@link Comm}.
 */
@SuppressWarnings("MemberName") // the names of mpiJava
public class Cartcomm extends Intracomm {
    final Grid grid;

    Cartcomm(Grid grid) {
        this.grid = grid;
    }

    final int cells() {
        return grid.cells();
    }

    @Override
    CartComm another() {
        return new CartComm(grid.dims(), grid.periods());
    }

    @Override
    public Cartcomm clone() {
        return (Cartcomm) dup();
    }

    @Override
    public int getTopology() {
        return MPI.CART;
    }

    /** The rank at coordinates; periodic dimensions wrap. */
    public int Rank(int[] coords) {
        try {
            return grid.rank(coords);
        } catch (MpiFault e) {
            throw raise(e);
        }
    }

    /** The coordinates of a rank. */
    public int[] Coords(int rank) {
        try {
            if (rank < 0 || rank >= getSize()) {
                throw new MpiFault(
                        ErrorClass.RANK, "rank " + rank + " is not in the grid: expected 0 to " + (getSize() - 1));
            }
            return grid.coords(rank);
        } catch (MpiFault e) {
            throw raise(e);
        }
    }

    /** The ranks to receive from and to send to, at a distance in a dimension. */
    public ShiftParms Shift(int direction, int distance) {
        try {
            return grid.shift(getRank(), direction, distance);
        } catch (MpiFault e) {
            throw raise(e);
        }
    }

    /** The grids of the dimensions that remain. Collective. */
    public CartComm Sub(boolean[] remain) {
        try {
            CartComm part = new CartComm(grid.remaining(remain));
            split(part, grid.colour(getRank(), remain), getRank());
            return part;
        } catch (MpiFault e) {
            throw raise(e);
        }
    }

    /** The rank that this process would have in a grid, or UNDEFINED. */
    public int Map(int[] dims, boolean[] periods) {
        try {
            return getRank() < new Grid(dims, periods).cells() ? getRank() : MPI.UNDEFINED;
        } catch (MpiFault e) {
            throw raise(e);
        }
    }

    /** The grid, and where this process is. */
    public CartParms Get() {
        return new CartParms(grid.dims(), grid.periods(), Coords(getRank()));
    }

    /** Fills the zeros with dimensions whose product, with the others, is the number of nodes. */
    public static void Dims_create(int nodes, int[] dims) {
        Arguments.unhandled(() -> Grid.createDims(nodes, dims));
    }
}
