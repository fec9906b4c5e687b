package io.madeleine.nexus;

/**
 * A value cannot be written or read. The cause is what its codec, constructor or accessor has thrown, an error such as
 * a stack overflow included. The call or stream that the value belongs to ends with this.
 */
final class CodingException extends NexusException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates a failure.
     *
     * @param what the value, as {@code "item 6 of Streams.items"}
     * @param done {@code "read"} or {@code "sent"}
     */
    CodingException(String what, String done, Throwable cause) {
        super(what + " cannot be " + done + ": " + textOf(cause), cause);
    }

    /** The text of an exception whose own methods may throw. */
    private static String textOf(Throwable thrown) {
        try {
            return thrown instanceof NexusException ? String.valueOf(thrown.getMessage()) : thrown.toString();
        } catch (Throwable e) { // getMessage or toString has thrown
            return thrown.getClass().getName();
        }
    }
}
