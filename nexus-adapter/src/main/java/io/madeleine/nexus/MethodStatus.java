package io.madeleine.nexus;

/**
 * A communication method by which a node can be reached, with its state: an entry of a startpoint's communication
 * descriptor table.
 *
 * @param name {@code mad/sci}, {@code mad/tcp} ... for a channel's network, or {@code wan}
 * @param address {@code channel NAME} or {@code nexus://host:port}
 * @param state the state of the method
 * @param reason the reason for the state
 */
public record MethodStatus(String name, String address, State state, String reason) {
    /** The state of a method. */
    public enum State {
        /** Requests take this method. */
        IN_USE,
        /** It works; it is used if {@link Startpoint#via} chooses it, or if the method in use fails. */
        WORKS,
        /** It has not been tried; it is tried when the methods before it do not work. */
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
