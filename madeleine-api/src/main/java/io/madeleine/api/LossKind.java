package io.madeleine.api;

/**
 * The kind of loss when a peer cannot be reached any more, as far as this process can tell. In each case both sides
 * count the other as dead from then on: connections are not made again.
 */
public enum LossKind {
    /** The peer: its process has ended, or a process that knows has reported it dead. */
    PEER("the peer"),

    /** A connection to it: the peer may be alive. */
    CONNECTION("the connection"),

    /** The adapter of this process, with all connections over it: the peers may be alive. */
    ADAPTER("the adapter");

    private final String noun;

    LossKind(String noun) {
        this.noun = noun;
    }

    /** The name as in a sentence: "the peer", "the connection", "the adapter". */
    public String noun() {
        return noun;
    }
}
