package io.madeleine.pmm.spi;

import java.util.List;

/**
 * Whether a protocol can be used in this process, and why or why not. To find out opens nothing, loads no native library that
 * the configuration does not name, and takes less than some milliseconds: it is asked whenever a session opens, once.
 *
 * @param on whether it can
 * @param reason one clause: what it uses, or what is missing
 * @param remedy which key or flag mends that, as a clause; empty if nothing is to be mended, or if the reason says it
 * @param details what else there is to know for who looks closer ({@code mad info}), a sentence each without its full stop
 */
public record Availability(boolean on, String reason, String remedy, List<String> details) {
    /** Copies the list. */
    public Availability {
        details = List.copyOf(details);
    }

    /** Usable, in the way described. */
    public static Availability on(String reason) {
        return new Availability(true, reason, "", List.of());
    }

    /** Not usable, for the reason given, which says itself what mends it if anything does. */
    public static Availability off(String reason) {
        return off(reason, "");
    }

    /** Not usable, for the reason given, and what mends it. */
    public static Availability off(String reason, String remedy) {
        return new Availability(false, reason, remedy, List.of());
    }

    /** The same with details. */
    public Availability with(List<String> more) {
        return new Availability(on, reason, remedy, more);
    }

    /** Reason and remedy in one line. */
    public String text() {
        return remedy.isEmpty() ? reason : reason + "; " + remedy;
    }
}
