package io.madeleine.bench.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Keeps labels in a column from covering each other: each stays as near to its place as the others allow.
 *
 * <p>Threading: stateless.
 */
final class LabelColumn {
    private LabelColumn() {}

    /** Neighbours that touch, and move together. */
    private record Block(double sum, int size) {
        double offset() {
            return sum / size;
        }

        Block with(Block next) {
            return new Block(sum + next.sum, size + next.size);
        }
    }

    /** The places of labels that should be near {@code wished}: at least {@code gap} apart, in the same order. */
    static double[] spread(double[] wished, double gap, double top, double bottom) {
        Integer[] order = new Integer[wished.length];
        Arrays.setAll(order, i -> i);
        Arrays.sort(order, Comparator.comparingDouble(i -> wished[i]));
        List<Block> blocks = new ArrayList<>();
        for (int i = 0; i < order.length; i++) {
            Block block = new Block(wished[order[i]] - i * gap, 1);
            while (!blocks.isEmpty() && blocks.getLast().offset() > block.offset()) {
                block = blocks.removeLast().with(block);
            }
            blocks.add(block);
        }
        double[] placed = new double[wished.length];
        int i = 0;
        for (Block block : blocks) {
            for (int k = 0; k < block.size(); k++, i++) {
                double highest = top + i * gap;
                double lowest = bottom - (order.length - 1 - i) * gap;
                placed[order[i]] = Math.max(highest, Math.min(lowest, block.offset() + i * gap));
            }
        }
        return placed;
    }
}
