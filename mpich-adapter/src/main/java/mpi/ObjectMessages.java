package mpi;

import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.MpiFault;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InvalidClassException;
import java.io.ObjectInputFilter;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * Messages of MPI.OBJECT: Java serialization. What arrives passes a filter with limits; the system property {@code
 * mpi.object-filter} replaces it, in the syntax of {@code jdk.serialFilter}. Nothing is read unless the program
 * receives objects.
 *
 * <p>Threading: without state.
 */
final class ObjectMessages {
    private static final String LIMITS = "maxdepth=1000;maxrefs=10000000;maxarray=100000000";

    private ObjectMessages() {}

    private static final class Filter {
        static final String RULES = System.getProperty("mpi.object-filter", LIMITS);
        static final ObjectInputFilter FILTER = ObjectInputFilter.Config.createFilter(RULES);
    }

    /** The error for a buffer that is no array of objects. */
    static MpiFault noObjects(String what, @Nullable Object buffer) {
        return new MpiFault(
                ErrorClass.BUFFER,
                "the buffer of " + what + " of MPI.OBJECT is "
                        + (buffer == null ? "null" : "of " + buffer.getClass().getTypeName())
                        + ": expected an Object[]");
    }

    static byte[] write(Object[] objects, int offset, int count) {
        if (offset < 0 || count < 0 || count > objects.length - offset) {
            throw new MpiFault(
                    ErrorClass.BUFFER,
                    "a message of objects covers " + count + " elements from " + offset + " on of an array of "
                            + objects.length + ": expected it to lie within the array");
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeInt(count);
            for (int i = offset; i < offset + count; i++) {
                out.writeObject(objects[i]);
            }
        } catch (IOException | RuntimeException | StackOverflowError e) { // of the objects' own methods, too
            throw new MpiFault(ErrorClass.BUFFER, "an object cannot be serialized: " + e + stackHint(e), e);
        }
        return bytes.toByteArray();
    }

    /** Puts the objects of a message into the array; returns their number. */
    @SuppressWarnings("BanSerializableRead") // behind a filter; only if the program asks for objects
    static int read(byte[] bytes, Object[] objects, int offset, int most) {
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
            in.setObjectInputFilter(Filter.FILTER);
            int count = in.readInt();
            if (count > most || count > objects.length - offset) {
                throw new MpiFault(
                        ErrorClass.TRUNCATE,
                        "a message of " + count + " objects is received into room for "
                                + Math.min(most, objects.length - offset) + ": expected an array that is long enough");
            }
            for (int i = 0; i < count; i++) {
                objects[offset + i] = in.readObject();
            }
            return count;
        } catch (MpiFault e) {
            throw e;
        } catch (IOException | ClassNotFoundException | RuntimeException | StackOverflowError e) {
            boolean isRefused = e instanceof InvalidClassException; // by the filter, for instance
            throw new MpiFault(
                    ErrorClass.OTHER,
                    "a message of objects cannot be read: " + e + stackHint(e)
                            + (isRefused
                                    ? "; the filter is " + Filter.RULES + " (system property mpi.object-filter;"
                                            + " maxdepth is how deep objects refer to each other)"
                                    : ""),
                    e);
        }
    }

    private static String stackHint(Throwable thrown) {
        return thrown instanceof StackOverflowError
                ? ": the objects refer to each other deeper than the thread's stack reaches; expected a larger one"
                        + " (-Xss, or the stack size of the thread)"
                : "";
    }
}
