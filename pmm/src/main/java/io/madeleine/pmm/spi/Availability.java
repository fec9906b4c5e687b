package io.madeleine.pmm.spi;

/**
 * Whether a protocol can be used in this process, and why or why not.
 *
 * @param on whether it can
 * @param reason one sentence for {@code mad info}: what it uses, or what is missing and which key or flag mends it
 */
public record Availability(boolean on, String reason) {
    /** Usable, in the way described. */
    public static Availability on(String reason) {
        return new Availability(true, reason);
    }

    /** Not usable, for the reason given. */
    public static Availability off(String reason) {
        return new Availability(false, reason);
    }
}
