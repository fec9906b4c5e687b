package mpi;

import java.util.stream.IntStream;

/**
 * Finds factors of a number that are as close to each other as possible: with the least difference of the largest and
 * the smallest, and then with the least largest. It tries all products that can still be better than the best so far.
 *
 * <p>Threading: confined.
 */
final class BalancedFactors {
    private final int[] divisors; // in increasing order
    private final int[] chosen; // in non-increasing order
    private int[] best;

    private BalancedFactors(int number, int count) {
        divisors = divisors(number);
        chosen = new int[count];
        best = new int[0];
    }

    /** This many factors whose product is the number, in non-increasing order; none if the count is 0. */
    static int[] of(int number, int count) {
        if (count == 0) {
            return new int[0];
        }
        BalancedFactors search = new BalancedFactors(number, count);
        search.choose(0, number);
        return search.best;
    }

    private static int[] divisors(int number) {
        int root = (int) Math.sqrt(number);
        int[] small =
                IntStream.rangeClosed(1, root).filter(i -> number % i == 0).toArray();
        IntStream large = IntStream.rangeClosed(1, small.length)
                .map(i -> number / small[small.length - i])
                .filter(i -> i > root);
        return IntStream.concat(IntStream.of(small), large).toArray();
    }

    private void choose(int at, int left) {
        int most = at == 0 ? left : chosen[at - 1];
        int others = chosen.length - at;
        for (int each : divisors) {
            boolean fits = left % each == 0 && Math.pow(each, others) >= left; // the others are no larger
            if (each > most) {
                return;
            }
            if (fits && others == 1 && each == left) {
                chosen[at] = each;
                best = isBetter(each) ? chosen.clone() : best;
            } else if (fits && others > 1 && canBeBetter(at, each)) {
                chosen[at] = each;
                choose(at + 1, left / each);
            }
        }
    }

    private boolean canBeBetter(int at, int each) {
        return best.length == 0 || at == 0 || chosen[0] - each <= spread(best);
    }

    private boolean isBetter(int smallest) {
        int spread = chosen[0] - smallest;
        return best.length == 0 || spread < spread(best) || spread == spread(best) && chosen[0] < best[0];
    }

    private static int spread(int[] factors) {
        return factors[0] - factors[factors.length - 1];
    }
}
