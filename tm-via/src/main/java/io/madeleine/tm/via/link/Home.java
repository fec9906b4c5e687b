package io.madeleine.tm.via.link;

import io.madeleine.tm.via.port.RegionUses;
import io.madeleine.tm.via.port.ViaPort;

/**
 * The adapter, as its connections see it.
 *
 * <p>Threading: any thread calls it; the calls do not wait.
 */
public interface Home {
    /** The endpoint. */
    ViaPort port();

    /** The session's memory. */
    RegionUses regions();

    /** Ends the engine's sleep, after an event has been made visible. */
    void wake();

    /** The connection has something to tell the layer above. */
    void active(ViaConnection connection);

    /** A connection has to send something in the next poll. */
    void behind();

    /** A frame of the handshake has arrived for a line, or the line has ended. */
    void lineHasWork();

    /** The connection is closed: it is freed when its sends have left. */
    void closing(ViaConnection connection);
}
