package io.madeleine.pmm.spi;

import java.util.List;

/**
 * Whether this process can use a protocol, and why or why not. The check opens nothing, loads no native library that
 * the configuration does not name, and takes at most a few milliseconds: each session makes it once when it opens.
 *
 * @param on whether the protocol can be used
 * @param reason one clause: what the protocol uses, or what is missing
 * @param remedy a clause that names the key or flag to set; empty if nothing needs mending, or if the reason names it
 * @param details further facts for {@code mad info}, one sentence each, without the full stop
 */
public record Availability(boolean on, String reason, String remedy, List<String> details) {
    /** Copies the list. */
    public Availability {
        details = List.copyOf(details);
    }

    /** Usable; the reason says by which mechanism. */
    public static Availability on(String reason) {
        return new Availability(true, reason, "", List.of());
    }

    /** Not usable; the reason also says how to mend that, if it can be mended. */
    public static Availability off(String reason) {
        return off(reason, "");
    }

    /** Not usable, with a reason and a remedy. */
    public static Availability off(String reason, String remedy) {
        return new Availability(false, reason, remedy, List.of());
    }

    /** A copy with these details. */
    public Availability with(List<String> more) {
        return new Availability(on, reason, remedy, more);
    }

    /** Reason and remedy in one line. */
    public String text() {
        return remedy.isEmpty() ? reason : reason + "; " + remedy;
    }
}
