package io.madeleine.pmm.spi;

import java.util.List;

/**
 * A point-to-point connection to one peer ({@code mad_connection_t}), reliable and in order on each of its links.
 *
 * <p>Threading: the send halves of all links are called by one thread at a time, the receive halves likewise; the layer
 * above sees to it with a lock for each direction. The two directions run in parallel, and in parallel to the engine's
 * poll.
 */
public interface ProtocolConnection extends AutoCloseable {
    /** Who is at the other end. */
    ProcessIdentity peer();

    /** Whether both directions share this object; if not, a second connection serves the other direction. */
    boolean bidirectional();

    /** The links, one for each agreed transmission module, in the agreed order; the first is the primary. */
    List<TransmissionLink> links();

    /** Hands over the receiver of upcalls; there are none before. Called once. */
    void start(ConnectionListener listener);

    /**
     * Whether upcalls about arriving bytes are useful now. While they are not (a message waits to be opened), arrived
     * bytes neither cause upcalls nor keep the engine from sleeping. Initially true. One call at a time, possibly beside
     * the receiving calls of another thread.
     */
    void receiveInterest(boolean wanted);

    /**
     * Whether something may have arrived on the primary link, as far as a glance can tell that costs no system call: who
     * expects a message from this peer first looks here before it drives all networks (Nemesis, section 3.2). Any thread,
     * also after the connection was closed.
     *
     * @return false also where such a glance does not tell of all
     */
    default boolean hasArrivals() {
        return false;
    }

    /** Whether {@link #hasArrivals()} comes to tell of each message by itself; if not, looking again and again is in vain. */
    default boolean showsArrivals() {
        return false;
    }

    /**
     * What has been seen of the connection's end, as a clause, also before {@link ConnectionListener#onLost} tells of it: whose call
     * finds a link closed is told. Any thread.
     *
     * @return the clause, empty if nothing has been seen
     */
    default String seenOfLoss() {
        return "";
    }

    /** Tells the peer that nothing more will be sent. What was sent before still arrives. Called under the send lock. */
    void finish();

    /**
     * This process has given the peer up, which may be alive. Nothing more is sent, nor read by the layer above; the peer is told
     * so, as far as the network can: it is to hear of a {@linkplain ConnectionListener#onLost loss} that is not orderly. Called by
     * the thread that polls, beside the calls of the links, which answer {@link LinkStatus#CLOSED} from then on. Idempotent.
     */
    default void giveUp() {}

    /**
     * Whether the connection is lost together with everything that had arrived on it, for instance because its memory is gone. A thread
     * that waits for a further message then fails at once, even while an earlier message is still open. Any thread.
     */
    default boolean hasLostArrivals() {
        return false;
    }

    /**
     * Frees the connection's resources; links then answer {@link LinkStatus#CLOSED}, and nothing is read or written any more
     * that was posted. Idempotent, under both locks.
     */
    @Override
    void close();
}
