package io.madeleine.mpi.report;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Finds processes that wait for each other in a circle. Threading: without state. */
final class Circles {
    private Circles() {}

    /**
     * A circle, if there is one: the ranks in order, the first again at the end.
     *
     * @param waits the ranks that each rank waits for
     */
    static Optional<List<Integer>> find(Map<Integer, Set<Integer>> waits) {
        Set<Integer> done = new HashSet<>();
        for (int rank : waits.keySet()) {
            List<Integer> path = new ArrayList<>();
            if (hasCircle(rank, waits, path, done)) {
                return Optional.of(path.subList(path.indexOf(path.getLast()), path.size()));
            }
        }
        return Optional.empty();
    }

    private static boolean hasCircle(
            int rank, Map<Integer, Set<Integer>> waits, List<Integer> path, Set<Integer> done) {
        boolean isAgain = path.contains(rank);
        path.add(rank);
        if (isAgain) {
            return true;
        }
        if (!done.contains(rank)) {
            for (int next : waits.getOrDefault(rank, Set.of())) {
                if (hasCircle(next, waits, path, done)) {
                    return true;
                }
            }
            done.add(rank);
        }
        path.removeLast();
        return false;
    }
}
