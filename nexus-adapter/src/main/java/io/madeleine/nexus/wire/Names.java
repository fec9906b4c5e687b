package io.madeleine.nexus.wire;

/**
 * Finds the names behind the numbers on the wire, for messages that people read. Remembers recently used names of this
 * process only.
 *
 * <p>Threading: thread-safe by benign races: strings are immutable, and for a lost name the number is shown.
 */
public final class Names {
    private static final int REMEMBERED = 1 << 10;
    private static final String[] LAST = new String[REMEMBERED];

    private Names() {}

    /** The number of a name: its {@link String#hashCode}, which the language specifies and strings cache. */
    @SuppressWarnings("ReferenceEquality") // the comparison only saves a store
    public static int number(String name) {
        int number = name.hashCode();
        int place = number & (REMEMBERED - 1);
        if (LAST[place] != name) {
            LAST[place] = name;
        }
        return number;
    }

    /** The name of the handler with a number, or {@code #number}. */
    public static String handler(int number) {
        String name = LAST[number & (REMEMBERED - 1)];
        return name != null && name.hashCode() == number ? name : "#" + number;
    }

    /** The name of the endpoint with a number, or {@code #number}. */
    public static String endpoint(int number) {
        String name = LAST[number & (REMEMBERED - 1)];
        return name != null && RequestLayout.endpointId(name) == number ? name : "#" + number;
    }
}
