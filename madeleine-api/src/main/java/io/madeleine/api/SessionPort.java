package io.madeleine.api;

import java.util.Objects;

/**
 * A listening address of this process, where other processes open sessions with it at run time, one after the other or
 * several at once. This process is rank 0 of all of them. Unlike rank 0 of a plain {@link SessionRequest}, a port knows
 * its address before any process connects, so that the address can be handed out first. A process that connects before
 * {@link #open} is called waits, up to its own {@code madeleine.session.open-timeout}; waiting processes are served in
 * the order of their arrival.
 *
 * <p>Threading: thread-safe.
 */
public interface SessionPort extends AutoCloseable {
    /**
     * Opens a port and listens.
     *
     * @param address an address of this machine by which the others reach it, {@code host} for any free port, or
     *     {@code host:port}; {@code 127.0.0.1} if all are on this machine
     * @throws ConfigurationException if the address is malformed
     * @throws SessionException if this process cannot listen there
     */
    static SessionPort open(String address) {
        Objects.requireNonNull(address, "address");
        return Providers.session().openPort(address);
    }

    /** The address of the port, {@code host:port}. */
    String address();

    /**
     * The secret of the port, random and unguessable; the other processes need it. Do not hand it over on a command
     * line.
     */
    String secret();

    /** The request with which the process of the given rank joins: it carries the port's address and secret. */
    default SessionRequest request(String name, int size, int rank) {
        return SessionRequest.of(name, size, rank, address(), secret());
    }

    /**
     * Opens a session at this port, as its rank 0. If several groups of processes wait for a session of this name and
     * size, the call serves the group that came first; the next call serves the next.
     *
     * @param request a request of this port
     * @throws IllegalArgumentException if the request has another rank than 0, or another address or secret
     * @throws SessionException if the others have not come in time, if one of them has failed, or if the port is closed
     */
    Session open(SessionRequest request);

    /**
     * Stops listening. Open sessions stay open, and an opening session whose processes have all arrived still opens.
     * Whoever waits for missing processes gets an error: the processes that have arrived, and a thread in
     * {@link #open}. Idempotent.
     */
    @Override
    void close();
}
