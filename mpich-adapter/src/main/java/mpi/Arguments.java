package mpi;

import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.MpiFault;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What arguments must be. A call with a communicator raises the fault there; one without has no error handler, and
 * throws.
 *
 * <p>Threading: without state.
 */
final class Arguments {
    private Arguments() {}

    /**
     * Returns the argument if it is not null.
     *
     * @param errorClass a class of {@link ErrorClass}
     * @param what the argument, as in "the group"
     * @param expected what it must be, as in "a group such as MPI.GROUP_EMPTY"
     */
    static <T> T present(@Nullable T argument, int errorClass, String what, String expected) {
        if (argument == null) {
            throw new MpiFault(errorClass, isNull(what, expected));
        }
        return argument;
    }

    /** As {@link #present}, in a call without a communicator. */
    static <T> T required(@Nullable T argument, int errorClass, String what, String expected) {
        if (argument == null) {
            throw new MPIException(errorClass, isNull(what, expected), null);
        }
        return argument;
    }

    private static String isNull(String what, String expected) {
        return what + " is null: expected " + expected;
    }

    /** Calls what has no communicator, hence no error handler: a fault becomes an {@link MPIException}. */
    static <T> T unhandled(Supplier<T> call) {
        try {
            return call.get();
        } catch (MpiFault e) {
            throw new MPIException(e.errorClass(), e.getMessage(), e);
        }
    }

    /** As {@link #unhandled(Supplier)}, for a call without a result. */
    static void unhandled(Runnable call) {
        try {
            call.run();
        } catch (MpiFault e) {
            throw new MPIException(e.errorClass(), e.getMessage(), e);
        }
    }
}
