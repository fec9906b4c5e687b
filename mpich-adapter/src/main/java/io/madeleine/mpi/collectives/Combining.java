package io.madeleine.mpi.collectives;

import io.madeleine.mpi.datatypes.Reduction;
import io.madeleine.mpi.datatypes.Type;

/**
 * How values are combined: an operation on a type. Operands keep the order of the ranks if the operation is not
 * commutative.
 *
 * <p>Threading: immutable.
 *
 * @param operation the operation
 * @param type the type of the items, which lie packed
 */
public record Combining(Reduction operation, Type type) {
    /** {@code upper = lower op upper}. */
    void intoUpper(Area lower, Area upper) {
        if (lower.bytes() > 0) {
            operation.apply(lower.memory(), upper.memory(), lower.bytes(), type);
        }
    }

    /** {@code lower = lower op upper}; the content of {@code upper} is lost. */
    void intoLower(Area lower, Area upper) {
        if (lower.bytes() == 0) {
            return;
        }
        if (operation.isCommutative()) {
            operation.apply(upper.memory(), lower.memory(), lower.bytes(), type);
        } else {
            operation.apply(lower.memory(), upper.memory(), lower.bytes(), type);
            lower.copyFrom(upper);
        }
    }

    /** The number of items in an area. */
    long items(Area area) {
        return type.size() == 0 ? 0 : area.bytes() / type.size();
    }
}
