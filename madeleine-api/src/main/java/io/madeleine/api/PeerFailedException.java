package io.madeleine.api;

/** The peer is gone: its process ended, its connection was reset, or it was silent for too long. */
public final class PeerFailedException extends MadeleineException {
    private static final long serialVersionUID = 1L;

    private final int rank;
    private final LossKind kind;

    /**
     * A failure of the peer of the given rank, which itself is lost.
     *
     * @param rank the peer's rank, or -1 where a wait on anyone has nobody left to wait for
     */
    public PeerFailedException(int rank, String message) {
        this(rank, LossKind.PEER, message);
    }

    /** The same, where that much is lost. */
    public PeerFailedException(int rank, LossKind kind, String message) {
        super(message);
        this.rank = rank;
        this.kind = kind;
    }

    /** The rank of the peer, or -1 where every peer is gone. */
    public int rank() {
        return rank;
    }

    /** What is lost, as this process saw it first. */
    public LossKind kind() {
        return kind;
    }
}
