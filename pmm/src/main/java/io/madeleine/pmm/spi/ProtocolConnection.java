package io.madeleine.pmm.spi;

import java.util.List;

/**
 * A point-to-point connection to one peer ({@code mad_connection_t}). Each of its links is reliable and keeps the
 * order.
 *
 * <p>Threading: one thread at a time calls the sending halves of all links, and one at a time the receiving halves; the
 * layer above ensures this with a lock for each direction. The two directions run in parallel, and in parallel to the
 * engine's poll.
 */
public interface ProtocolConnection extends AutoCloseable {
    /** The process at the other end. */
    ProcessIdentity peer();

    /** Whether this object serves both directions; if not, a second connection serves the other one. */
    boolean bidirectional();

    /** The links, one for each agreed transmission module, in the agreed order; the first is the primary link. */
    List<TransmissionLink> links();

    /** Sets the receiver of upcalls; the connection makes no upcall before. Called once. */
    void start(ConnectionListener listener);

    /**
     * Says whether the layer above wants upcalls about arriving bytes. While it does not, because a message waits to be
     * opened, arrived bytes cause no upcall and do not keep the engine from sleeping. Initially true. One call at a
     * time, possibly in parallel to receiving calls of another thread.
     */
    void receiveInterest(boolean wanted);

    /**
     * Whether data may have arrived on the primary link, as far as a check without a system call can tell. A thread
     * that expects a message from this peer checks here before it polls all networks (Nemesis, section 3.2). Any
     * thread, also after the connection was closed.
     *
     * @return false also if such a check cannot tell
     */
    default boolean hasArrivals() {
        return false;
    }

    /** Whether {@link #hasArrivals()} turns true for each message without a poll; if not, spinning on it is useless. */
    default boolean showsArrivals() {
        return false;
    }

    /**
     * What this process has observed of the connection's end, as a clause, possibly before {@link
     * ConnectionListener#onLost}; for the error text of a call that finds a link closed. So it is there before a link
     * answers {@link LinkStatus#CLOSED} because of the peer. Any thread.
     *
     * @return the clause; empty if nothing has been observed
     */
    default String seenOfLoss() {
        return "";
    }

    /**
     * Tells the peer that nothing more will be sent. What was sent before still arrives. The caller holds the send
     * lock. Not called on a connection that was {@linkplain #giveUp given up}.
     */
    void finish();

    /**
     * This process gives the peer up, although it may be alive. Nothing more is sent, and the layer above reads nothing
     * more. The network tells the peer as far as it can, so that it sees a {@linkplain ConnectionListener#onLost loss}
     * that is not orderly. The thread that polls calls this, in parallel to calls of the links, which return {@link
     * LinkStatus#CLOSED} from then on. Idempotent.
     */
    default void giveUp() {
        // a network without it leaves the peer to learn of the loss at close()
    }

    /**
     * Whether the connection is lost together with everything that had arrived on it, for instance because its memory
     * is gone. A thread that waits for a further message then fails at once, even while an earlier message is open. Any
     * thread.
     */
    default boolean hasLostArrivals() {
        return false;
    }

    /**
     * Frees the connection's resources. Its links return {@link LinkStatus#CLOSED} from then on, and the network no
     * longer reads or writes posted memory. Idempotent; the caller holds both locks.
     */
    @Override
    void close();
}
