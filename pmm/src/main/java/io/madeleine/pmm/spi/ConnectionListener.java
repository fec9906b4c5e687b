package io.madeleine.pmm.spi;

import io.madeleine.api.LossKind;

/**
 * What a connection tells the layer above: the only way up.
 *
 * <p>Threading: {@link #onReadable} comes from the thread that polls, and never from within a call of a link; {@link
 * #onLost} from any, also from within a link: what follows from it is done later, by the thread that polls.
 */
public interface ConnectionListener {
    /**
     * Something may have arrived. The listener takes the receive lock, if it is free, and reads the links.
     *
     * @return how many packets or blocks were moved, 0 if none
     */
    int onReadable();

    /**
     * The connection will bring no more than what has arrived already. Called at least once when the peer ends, dies
     * or breaks the protocol, or what lies between is lost; repeated calls are ignored.
     *
     * @param kind what is lost: say no more than what is known, the connection where it may be that alone. Of an adapter that is
     *     lost each of its connections tells
     * @param orderly whether the peer {@linkplain ProtocolConnection#finish() finished} of its own will
     * @param reason what was seen, as a clause: "its process ended", "the connection was reset"
     */
    void onLost(LossKind kind, boolean orderly, String reason);
}
