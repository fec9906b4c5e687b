package io.madeleine.mpi.device;

import java.util.List;
import java.util.function.LongPredicate;

/**
 * What the device holds at the moment, for reports.
 *
 * <p>Threading: thread-safe.
 */
final class Inspection {
    private final Matching matching;
    private final OperationTable<Operation> operations;

    Inspection(Matching matching, OperationTable<Operation> operations) {
        this.matching = matching;
        this.operations = operations;
    }

    /** How many messages of these contexts have arrived that nobody has asked for. */
    int arrivedCount(LongPredicate contexts) {
        matching.lock.lock();
        try {
            return matching.arrivedCount(contexts);
        } finally {
            matching.lock.unlock();
        }
    }

    /** The operations of this process that others have to end. */
    List<Pending> pending() {
        List<Operation> all;
        matching.lock.lock();
        try {
            all = matching.allPosted();
            all.addAll(matching.ownSends());
        } finally {
            matching.lock.unlock();
        }
        all.addAll(operations.all(_ -> true));
        return all.stream().map(Operation::pending).toList();
    }

    /** The messages of these contexts that nobody has asked for; at most this many. */
    List<Pending> unexpected(int most, LongPredicate contexts) {
        matching.lock.lock();
        try {
            return matching.describeArrived(most, contexts);
        } finally {
            matching.lock.unlock();
        }
    }
}
