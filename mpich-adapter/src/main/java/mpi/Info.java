package mpi;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Hints: an ordered set of keys with values.
 *
 * <p>Threading: thread-safe.
 */
@SuppressWarnings("AvoidCommonTypeNames") // the name in Open MPI
public final class Info implements Freeable, Cloneable {
    private @Nullable Map<String, String> entries;

    /** Without keys. */
    public Info() {
        entries = new LinkedHashMap<>();
    }

    private Info(@Nullable Map<String, String> entries) {
        this.entries = entries;
    }

    static Info ofNull() {
        return new Info((Map<String, String>) null);
    }

    private Map<String, String> entries() {
        Map<String, String> all = entries;
        if (all == null) {
            throw new MPIException(MPI.ERR_INFO, "the info is null: expected one that was made and is not freed", null);
        }
        return all;
    }

    private static void check(String text, int most, int errorClass, String what) {
        if (text.isEmpty() || text.length() >= most) {
            throw new MPIException(
                    errorClass,
                    "the " + what + " of an info has " + text.length() + " characters: expected 1 to " + (most - 1),
                    null);
        }
    }

    /** Sets the value of a key. */
    public synchronized void set(String key, String value) {
        check(key, MPI.MAX_INFO_KEY, MPI.ERR_INFO_KEY, "key");
        check(value, MPI.MAX_INFO_VAL, MPI.ERR_INFO_VALUE, "value");
        entries().put(key, value);
    }

    /** The value of a key; null if there is none. */
    public synchronized @Nullable String get(String key) {
        check(key, MPI.MAX_INFO_KEY, MPI.ERR_INFO_KEY, "key");
        return entries().get(key);
    }

    /** Removes a key. */
    public synchronized void delete(String key) {
        if (entries().remove(key) == null) {
            throw new MPIException(MPI.ERR_INFO_NOKEY, "the info has no key '" + key + "'", null);
        }
    }

    /** The number of keys. */
    public synchronized int size() {
        return entries().size();
    }

    /** The key with this number, from 0 on. */
    public synchronized String getKey(int number) {
        if (number < 0 || number >= entries().size()) {
            throw new MPIException(
                    MPI.ERR_ARG, "the info has no key number " + number + ": expected 0 to " + (size() - 1), null);
        }
        return new ArrayList<>(entries().keySet()).get(number);
    }

    /** A copy. */
    @Override
    public Info clone() {
        return dup();
    }

    /** A copy. */
    public synchronized Info dup() {
        return new Info(new LinkedHashMap<>(entries()));
    }

    @Override
    public synchronized void free() {
        entries = null;
    }

    /** Whether it is the null info, or freed. */
    public synchronized boolean isNull() {
        return entries == null;
    }
}
