package io.madeleine.nexus;

/**
 * Names behind the numbers on the wire, for what people read: those used last in this process, as far as it remembers.
 *
 * <p>Threading: thread-safe; racy on purpose, since strings are immutable and a name that is missing stays a number.
 */
final class Names {
    private static final int REMEMBERED = 1 << 10;
    private static final String[] LAST = new String[REMEMBERED];

    private Names() {}

    /** The number of a name: {@link String#hashCode}, which the language specifies and strings cache. */
    @SuppressWarnings("ReferenceEquality") // it only saves a store
    static int number(String name) {
        int number = name.hashCode();
        int place = number & (REMEMBERED - 1);
        if (LAST[place] != name) {
            LAST[place] = name;
        }
        return number;
    }

    /** The handler of that number. */
    static String handler(int number) {
        String name = LAST[number & (REMEMBERED - 1)];
        return name != null && name.hashCode() == number ? name : "#" + number;
    }

    /** The endpoint of that number. */
    static String endpoint(int number) {
        String name = LAST[number & (REMEMBERED - 1)];
        return name != null && Endpoints.idOf(name) == number ? name : "#" + number;
    }
}
