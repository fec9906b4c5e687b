package io.madeleine.tm.via.link;

/**
 * The sizes of via/registered.
 *
 * <p>Threading: immutable.
 *
 * @param fromBytes the smallest block that takes the module; {@link Long#MAX_VALUE} if there is none
 * @param pieceBytes the longest tagged message
 * @param window how many tagged messages and announcements may be under way in each direction
 */
public record RegisteredSizes(long fromBytes, int pieceBytes, int window) {
    /** The module is not offered. */
    public static final RegisteredSizes OFF = new RegisteredSizes(Long.MAX_VALUE, 0, 0);

    /** Whether the module is offered. */
    public boolean isOn() {
        return fromBytes != Long.MAX_VALUE;
    }
}
