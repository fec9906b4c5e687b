package io.madeleine.api;

/** The peer is gone: its process ended, its connection was reset, or it was silent for too long. */
public final class PeerFailedException extends MadeleineException {
    private static final long serialVersionUID = 1L;

    private final int rank;
    private final LossKind kind;

    /**
     * Creates the exception for the loss of a whole peer ({@link LossKind#PEER}).
     *
     * @param rank the peer's rank, or -1 where a wait for any sender has no peer left
     */
    public PeerFailedException(int rank, String message) {
        this(rank, LossKind.PEER, message);
    }

    /** Creates the exception for the given kind of loss. */
    public PeerFailedException(int rank, LossKind kind, String message) {
        super(message);
        this.rank = rank;
        this.kind = kind;
    }

    /** The rank of the peer, or -1 where every peer is gone. */
    public int rank() {
        return rank;
    }

    /** What is lost, as this process first detected it. */
    public LossKind kind() {
        return kind;
    }
}
