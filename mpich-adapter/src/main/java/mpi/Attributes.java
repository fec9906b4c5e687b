package mpi;

import io.madeleine.mpi.ErrorClass;
import io.madeleine.mpi.MpiFault;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The attributes of a communicator or datatype. A value is serialized when it is set, and each reader gets a copy; only
 * values that this process has set are read.
 *
 * <p>Threading: thread-safe.
 */
final class Attributes {
    private static final int FIRST_KEYVAL = 100;

    private final Space space;
    private final Map<Integer, byte[]> values = new ConcurrentHashMap<>();

    /** The keys of one kind of objects. */
    static final class Space {
        private final Set<Integer> keyvals = new HashSet<>();
        private int next = FIRST_KEYVAL;

        synchronized int create() {
            keyvals.add(next);
            return next++;
        }

        synchronized void free(int keyval) {
            check(keyval);
            keyvals.remove(keyval);
        }

        synchronized void check(int keyval) {
            if (!keyvals.contains(keyval)) {
                throw new MpiFault(
                        ErrorClass.KEYVAL, "the key " + keyval + " is unknown: expected one of createKeyval");
            }
        }
    }

    Attributes(Space space) {
        this.space = space;
    }

    static String checkName(String text) {
        if (Arguments.present(text, ErrorClass.ARG, "the name", "a text, which may be empty")
                        .length()
                >= MPI.MAX_OBJECT_NAME) {
            throw new MpiFault(
                    ErrorClass.ARG,
                    "a name has " + text.length() + " characters: expected at most " + (MPI.MAX_OBJECT_NAME - 1));
        }
        return text;
    }

    void set(int keyval, Object value) {
        space.check(keyval);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(value);
        } catch (IOException | RuntimeException | StackOverflowError e) { // of its own methods, too
            throw new MpiFault(ErrorClass.ARG, "the value of an attribute cannot be serialized: " + e, e);
        }
        values.put(keyval, bytes.toByteArray());
    }

    @SuppressWarnings("BanSerializableRead") // what this process has written itself
    @Nullable
    Object get(int keyval) {
        space.check(keyval);
        byte[] bytes = values.get(keyval);
        if (bytes == null) {
            return null;
        }
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
            return in.readObject();
        } catch (IOException | ClassNotFoundException | RuntimeException | StackOverflowError e) {
            throw new MpiFault(ErrorClass.OTHER, "the value of an attribute cannot be read: " + e, e);
        }
    }

    void delete(int keyval) {
        space.check(keyval);
        values.remove(keyval);
    }

    void copyFrom(Attributes other) {
        values.putAll(other.values);
    }

    void clear() {
        values.clear();
    }
}
