package io.madeleine.nexus;

/**
 * A communication method by which a node may be reached: a line of a startpoint's communication descriptor table, and what is
 * known of it here.
 *
 * @param name {@code mad/sci}, {@code mad/tcp} ... for a channel's network, or {@code wan}
 * @param address {@code channel NAME} or {@code nexus://host:port}
 * @param state how it stands
 * @param reason why that is so
 */
public record MethodStatus(String name, String address, State state, String reason) {
    /** How a method stands. */
    public enum State {
        /** Requests go this way. */
        IN_USE,
        /** It works, and is used if asked for, or if what is in use fails. */
        WORKS,
        /** It is tried when those before it do not work. */
        UNTRIED,
        /** It does not work. */
        FAILED,
        /** It cannot be used from here. */
        NOT_APPLICABLE
    }

    @Override
    public String toString() {
        return name + " (" + address + ") " + state + ": " + reason;
    }
}
