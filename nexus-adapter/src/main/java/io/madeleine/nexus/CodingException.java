package io.madeleine.nexus;

/**
 * A value cannot be written or read: the cause is what its codec, its constructor or its accessors have thrown, errors such as a
 * stack that overflows among them. The call or stream it belongs to ends with this.
 */
final class CodingException extends NexusException {
    private static final long serialVersionUID = 1L;

    /**
     * A failure.
     *
     * @param what as {@code "item 6 of Streams.items"}
     * @param done as {@code "read"} or {@code "sent"}
     */
    CodingException(String what, String done, Throwable cause) {
        super(what + " cannot be " + done + ": " + textOf(cause), cause);
    }

    /** What it says of itself, if it can. */
    private static String textOf(Throwable thrown) {
        try {
            return thrown instanceof NexusException ? String.valueOf(thrown.getMessage()) : thrown.toString();
        } catch (Throwable e) { // its own message cannot be made
            return thrown.getClass().getName();
        }
    }
}
