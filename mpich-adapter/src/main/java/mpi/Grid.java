package mpi;

import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.MpiFault;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A Cartesian grid, numbered row by row.
 *
 * <p>Threading: immutable.
 */
final class Grid {
    private final int[] dims;
    private final boolean[] periods;

    Grid(int[] dims, boolean[] periods) {
        int[] lengths = check(dims);
        boolean[] wraps =
                Arguments.present(periods, ErrorClass.ARG, "the array of periods", "a boolean for each dimension");
        if (lengths.length != wraps.length) {
            throw new MpiFault(
                    ErrorClass.DIMS,
                    "a grid has " + lengths.length + " dimensions and " + wraps.length
                            + " periods: expected as many of both");
        }
        if (Arrays.stream(lengths).anyMatch(length -> length < 1)) {
            throw new MpiFault(
                    ErrorClass.DIMS,
                    "a grid has the dimensions " + Arrays.toString(lengths) + ": expected lengths of 1 or more");
        }
        this.dims = lengths.clone();
        this.periods = wraps.clone();
    }

    private static int[] check(int @Nullable [] dims) {
        return Arguments.present(dims, ErrorClass.ARG, "the array of dimensions", "a length for each dimension");
    }

    int[] dims() {
        return dims.clone();
    }

    boolean[] periods() {
        return periods.clone();
    }

    int cells() {
        try {
            return Arrays.stream(dims).reduce(1, Math::multiplyExact);
        } catch (ArithmeticException e) {
            throw new MpiFault(
                    ErrorClass.DIMS, "a grid of " + Arrays.toString(dims) + " has more places than an int counts", e);
        }
    }

    int rank(int[] coords) {
        if (Arguments.present(coords, ErrorClass.ARG, "the array of coordinates", "a number for each dimension").length
                < dims.length) {
            throw new MpiFault(ErrorClass.ARG, coords.length + " coordinates are given: expected " + dims.length);
        }
        int rank = 0;
        for (int i = 0; i < dims.length; i++) {
            int coordinate = coords[i];
            if (periods[i]) {
                coordinate = Math.floorMod(coordinate, dims[i]);
            } else if (coordinate < 0 || coordinate >= dims[i]) {
                throw new MpiFault(
                        ErrorClass.ARG,
                        "coordinate " + i + " is " + coordinate + " in a dimension that is not periodic: expected 0 to "
                                + (dims[i] - 1));
            }
            rank = rank * dims[i] + coordinate;
        }
        return rank;
    }

    int[] coords(int rank) {
        int[] coords = new int[dims.length];
        int left = rank;
        for (int i = dims.length - 1; i >= 0; i--) {
            coords[i] = left % dims[i];
            left /= dims[i];
        }
        return coords;
    }

    ShiftParms shift(int rank, int direction, int distance) {
        if (direction < 0 || direction >= dims.length) {
            throw new MpiFault(
                    ErrorClass.ARG,
                    "the direction of a shift is " + direction + ": expected 0 to " + (dims.length - 1));
        }
        return new ShiftParms(neighbour(rank, direction, -distance), neighbour(rank, direction, distance));
    }

    private int neighbour(int rank, int direction, int distance) {
        int[] coords = coords(rank);
        coords[direction] += distance;
        boolean isOutside = coords[direction] < 0 || coords[direction] >= dims[direction];
        return isOutside && !periods[direction] ? MPI.PROC_NULL : rank(coords);
    }

    private static int[] places(boolean[] wanted, boolean value) {
        return IntStream.range(0, wanted.length).filter(i -> wanted[i] == value).toArray();
    }

    Grid remaining(boolean[] remain) {
        if (Arguments.present(
                                remain,
                                ErrorClass.ARG,
                                "the array of remaining dimensions",
                                "a boolean for each dimension")
                        .length
                != dims.length) {
            throw new MpiFault(
                    ErrorClass.ARG, "a part of a grid names " + remain.length + " dimensions: expected " + dims.length);
        }
        int[] kept = places(remain, true);
        boolean[] keptPeriods = new boolean[kept.length];
        for (int i = 0; i < kept.length; i++) {
            keptPeriods[i] = periods[kept[i]];
        }
        return new Grid(Arrays.stream(kept).map(i -> dims[i]).toArray(), keptPeriods);
    }

    /** The same for all ranks that differ in the remaining dimensions only. */
    int colour(int rank, boolean[] remain) {
        int[] coords = coords(rank);
        int colour = 0;
        for (int i : places(remain, false)) {
            colour = colour * dims[i] + coords[i];
        }
        return colour;
    }

    /** Lengths for the zeros, in non-increasing order, that are as close to each other as possible. */
    static void createDims(int nodes, int[] dims) {
        int set = 1;
        for (int length : check(dims)) {
            if (length < 0) {
                throw new MpiFault(ErrorClass.DIMS, "a dimension is " + length + ": expected 0 or more");
            }
            set *= Math.max(1, length);
        }
        int[] free = IntStream.range(0, dims.length).filter(i -> dims[i] == 0).toArray();
        if (nodes < 1 || nodes % set != 0 || (free.length == 0 && nodes != set)) {
            throw new MpiFault(
                    ErrorClass.DIMS,
                    nodes + " nodes cannot fill a grid of " + Arrays.toString(dims)
                            + ": expected a multiple of the product of the dimensions that are set");
        }
        int[] lengths = BalancedFactors.of(nodes / set, free.length);
        for (int i = 0; i < free.length; i++) {
            dims[free[i]] = lengths[i];
        }
    }
}
