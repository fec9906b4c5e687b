package io.madeleine.samples.mpi;

import java.nio.DoubleBuffer;
import java.util.Locale;
import mpi.CartComm;
import mpi.Datatype;
import mpi.MPI;
import mpi.Request;
import mpi.ShiftParms;

/**
 * Heat spreads on a plate. The processes form a grid; each has a part of the plate and exchanges its border rows and
 * columns with four neighbours in each step. A column is a datatype. The result does not depend on the number of
 * processes.
 *
 * <pre>
 * ./mad run -n 4 samples/src/main/java/io/madeleine/samples/mpi/HeatStencil.java
 *
 * [0] after 200 steps the heat is 1.000000, the warmest place has 0.001986
 * </pre>
 */
public final class HeatStencil {
    private static final int EDGE = 120;
    private static final int STEPS = 200;
    private static final double SPREAD = 0.2;

    private final CartComm grid;
    private final int rows;
    private final int columns;
    private final int firstRow;
    private final int firstColumn;
    private final Datatype column;
    private final ShiftParms vertical;
    private final ShiftParms horizontal;

    private HeatStencil(CartComm grid) {
        this.grid = grid;
        int[] coords = grid.getCoords(grid.getRank());
        int[] dims = {grid.getTopo().getDim(0), grid.getTopo().getDim(1)};
        firstRow = EDGE * coords[0] / dims[0];
        rows = EDGE * (coords[0] + 1) / dims[0] - firstRow;
        firstColumn = EDGE * coords[1] / dims[1];
        columns = EDGE * (coords[1] + 1) / dims[1] - firstColumn;
        column = Datatype.createVector(rows, 1, width(), MPI.DOUBLE);
        vertical = grid.shift(0, 1);
        horizontal = grid.shift(1, 1);
    }

    /** With a border on both sides. */
    private int width() {
        return columns + 2;
    }

    private int at(int row, int place) {
        return row * width() + place;
    }

    public static void main(String[] args) {
        MPI.Init(args);
        int[] dims = new int[2];
        CartComm.createDims(MPI.COMM_WORLD.getSize(), dims);
        new HeatStencil(MPI.COMM_WORLD.createCart(dims, new boolean[2], false)).run();
        MPI.Finalize();
    }

    private void run() {
        DoubleBuffer now = MPI.newDoubleBuffer((rows + 2) * width());
        DoubleBuffer next = MPI.newDoubleBuffer((rows + 2) * width());
        int hotRow = EDGE / 2 - firstRow;
        int hotColumn = EDGE / 2 - firstColumn;
        if (hotRow >= 0 && hotRow < rows && hotColumn >= 0 && hotColumn < columns) {
            now.put(at(hotRow + 1, hotColumn + 1), 1);
        }
        for (int step = 0; step < STEPS; step++) {
            exchangeBorders(now);
            for (int row = 1; row <= rows; row++) {
                for (int place = 1; place <= columns; place++) {
                    double old = now.get(at(row, place));
                    double around = now.get(at(row - 1, place))
                            + now.get(at(row + 1, place))
                            + now.get(at(row, place - 1))
                            + now.get(at(row, place + 1));
                    next.put(at(row, place), old + SPREAD * (around - 4 * old));
                }
            }
            DoubleBuffer swap = now;
            now = next;
            next = swap;
        }
        report(now);
    }

    private void exchangeBorders(DoubleBuffer field) {
        Request[] requests = {
            grid.iRecv(MPI.slice(field, at(0, 1)), columns, MPI.DOUBLE, vertical.getRankSource(), 0),
            grid.iRecv(MPI.slice(field, at(rows + 1, 1)), columns, MPI.DOUBLE, vertical.getRankDest(), 1),
            grid.iRecv(MPI.slice(field, at(1, 0)), 1, column, horizontal.getRankSource(), 2),
            grid.iRecv(MPI.slice(field, at(1, columns + 1)), 1, column, horizontal.getRankDest(), 3),
            grid.iSend(MPI.slice(field, at(rows, 1)), columns, MPI.DOUBLE, vertical.getRankDest(), 0),
            grid.iSend(MPI.slice(field, at(1, 1)), columns, MPI.DOUBLE, vertical.getRankSource(), 1),
            grid.iSend(MPI.slice(field, at(1, columns)), 1, column, horizontal.getRankDest(), 2),
            grid.iSend(MPI.slice(field, at(1, 1)), 1, column, horizontal.getRankSource(), 3)
        };
        Request.waitAll(requests);
    }

    private void report(DoubleBuffer field) {
        double[] sum = new double[1];
        double[] warmest = new double[1];
        for (int row = 1; row <= rows; row++) {
            for (int place = 1; place <= columns; place++) {
                sum[0] += field.get(at(row, place));
                warmest[0] = Math.max(warmest[0], field.get(at(row, place)));
            }
        }
        grid.reduce(sum, 1, MPI.DOUBLE, MPI.SUM, 0);
        grid.reduce(warmest, 1, MPI.DOUBLE, MPI.MAX, 0);
        if (grid.getRank() == 0) {
            System.out.printf(
                    Locale.ROOT,
                    "after %d steps the heat is %.6f, the warmest place has %.6f%n",
                    STEPS,
                    sum[0],
                    warmest[0]);
        }
    }
}
