package io.madeleine.api;

/**
 * What is lost, as far as this process can see, where a peer cannot be reached any more. Whatever it is, the peer counts as dead
 * from then on, on both sides: connections are not made again.
 */
public enum LossKind {
    /** The peer: its process has ended, or somebody who knows says so. */
    PEER("the peer"),

    /** A connection to it: the peer may be alive. */
    CONNECTION("the connection"),

    /** The adapter of this process, with all connections over it: the peers may be alive. */
    ADAPTER("the adapter");

    private final String noun;

    LossKind(String noun) {
        this.noun = noun;
    }

    /** As in a sentence: "the peer", "the connection", "the adapter". */
    public String noun() {
        return noun;
    }
}
