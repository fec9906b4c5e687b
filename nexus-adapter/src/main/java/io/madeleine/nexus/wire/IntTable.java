package io.madeleine.nexus.wire;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A map from numbers to values without boxing, for tables that every request reads and that rarely change.
 *
 * <p>Threading: thread-safe; readers take no lock and allocate nothing.
 *
 * @param <T> the type of the values
 */
public final class IntTable<T> {
    private static final int LEAST_SLOTS = 8;
    private static final int SPREAD = 0x9E3779B9;

    /** A hash table with open addressing, at most half full. */
    private static final class Slots {
        private final int[] keys;
        private final @Nullable Object[] values;
        private final int shift;
        private final int count;

        Slots(int slots, int count) {
            this.keys = new int[slots];
            this.values = new Object[slots];
            this.shift = Integer.numberOfLeadingZeros(slots - 1);
            this.count = count;
        }

        @Nullable
        Object get(int key) {
            int mask = keys.length - 1;
            int slot = (key * SPREAD) >>> shift;
            for (Object value = values[slot]; value != null; value = values[slot]) {
                if (keys[slot] == key) {
                    return value;
                }
                slot = (slot + 1) & mask;
            }
            return null;
        }

        /** Adds a value; only before the table is published. */
        void add(int key, Object value) {
            int mask = keys.length - 1;
            int slot = (key * SPREAD) >>> shift;
            while (values[slot] != null) {
                slot = (slot + 1) & mask;
            }
            keys[slot] = key;
            values[slot] = value;
        }
    }

    private volatile Slots slots = new Slots(LEAST_SLOTS, 0);

    @SuppressWarnings("unchecked") // only put adds values
    @Nullable
    public T get(int key) {
        return (T) slots.get(key);
    }

    /** Adds a value; false if the number has one already. */
    public synchronized boolean putIfAbsent(int key, T value) {
        if (slots.get(key) != null) {
            return false;
        }
        Slots grown = copyWithout(key, slots.count + 1);
        grown.add(key, value);
        slots = grown;
        return true;
    }

    public synchronized void remove(int key) {
        if (slots.get(key) != null) {
            slots = copyWithout(key, slots.count - 1);
        }
    }

    private Slots copyWithout(int key, int count) {
        Slots old = slots;
        int size = LEAST_SLOTS;
        while (size < 2 * count) {
            size *= 2;
        }
        Slots copy = new Slots(size, count);
        for (int i = 0; i < old.keys.length; i++) {
            Object value = old.values[i];
            if (value != null && old.keys[i] != key) {
                copy.add(old.keys[i], value);
            }
        }
        return copy;
    }

    @SuppressWarnings("unchecked") // only put adds values
    public void forEach(Consumer<T> action) {
        for (Object value : slots.values) {
            if (value != null) {
                action.accept((T) value);
            }
        }
    }
}
