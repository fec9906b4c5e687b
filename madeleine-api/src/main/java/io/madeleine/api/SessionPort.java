package io.madeleine.api;

import java.util.Objects;

/**
 * A place of this process where others find it, to open sessions with it at run time, one after the other or several at once:
 * this process is rank 0 of all of them. Unlike rank 0 of a plain {@link SessionRequest}, a port knows its address before
 * anybody comes, so that it can be told to others; and who comes before {@link #open} waits, up to its own
 * {@code madeleine.session.open-timeout}, in the order of coming.
 *
 * <p>Threading: thread-safe.
 */
public interface SessionPort extends AutoCloseable {
    /**
     * Listens.
     *
     * @param address an address of this machine by which the others reach it, {@code host} for any free port, or
     *     {@code host:port}; {@code 127.0.0.1} if all are on this machine
     * @throws ConfigurationException if this is no address
     * @throws SessionException if nobody can listen there
     */
    static SessionPort open(String address) {
        Objects.requireNonNull(address, "address");
        return Providers.session().openPort(address);
    }

    /** Where it listens, {@code host:port}. */
    String address();

    /** A secret of its own, which nobody can guess; the others need it. Do not hand it over on a command line. */
    String secret();

    /** What a process has to ask for, with the port's address and secret. */
    default SessionRequest request(String name, int size, int rank) {
        return SessionRequest.of(name, size, rank, address(), secret());
    }

    /**
     * Opens a session here, as its rank 0. Of several groups that want a session of this name and size, the one that came first
     * gets it; the next call takes the next.
     *
     * @param request a request of this port
     * @throws IllegalArgumentException if it is for another rank, address or secret
     * @throws SessionException if the others have not come in time, if one of them has failed, or if the port is closed
     */
    Session open(SessionRequest request);

    /**
     * Listens no more. Sessions that are open stay open, and those whose processes are all there are opened to their end; who
     * waits for others is told, in {@link #open} too. Idempotent.
     */
    @Override
    void close();
}
