package mpi;

import io.madeleine.mpi.collectives.Schedule;
import java.util.ArrayList;
import java.util.List;

/**
 * A collective operation that is ready to start, and what is to be done when it has ended.
 *
 * <p>Threading: confined to caller.
 */
final class Plan {
    final Schedule schedule;
    private final List<Operand> copies = new ArrayList<>();

    Plan(Schedule schedule) {
        this.schedule = schedule;
    }

    /** A receive buffer; arrays that were replaced by copies are filled at the end. */
    void receives(Operand operand) {
        if (operand.isCopy()) {
            copies.add(operand);
        }
    }

    void finish() {
        copies.forEach(Operand::giveBack);
    }
}
