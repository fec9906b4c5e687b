package io.madeleine.tm.via.remote;

import io.madeleine.tm.via.port.RegionUses;
import io.madeleine.tm.via.port.ViaPort;

/**
 * The adapter, as its remote memory sees it.
 *
 * <p>Threading: any thread calls it; the calls do not wait.
 */
public interface RemoteHome {
    /** The endpoint. */
    ViaPort port();

    /** The session's memory. */
    RegionUses regions();

    /** Ends the engine's sleep, after an event has been made visible. */
    void wake();

    /** The adapter's address, as on the process's card. */
    String address();

    /**
     * Uses a peer, which is added to the endpoint's peers if it is new; returns its number. Each use has to end with
     * {@link #releasePeer}.
     */
    long usePeer(byte[] name);

    /** Adds a use of a peer that is in use. */
    void keepPeer(long peer);

    /** Ends a use of a peer: nothing of this user is outstanding. The last one removes the peer in a later poll. */
    void releasePeer(long peer);

    /** The own endpoint's name, as short as possible. */
    byte[] shortName();

    /** The name of an endpoint, from its {@link #shortName}. */
    byte[] nameOf(byte[] shortName);

    /** The name of the endpoint with this address, which is not trusted; empty if it is none. */
    byte[] nameIn(String address);

    /** Whether the process with this address has certainly ended. */
    boolean isDead(String address);
}
