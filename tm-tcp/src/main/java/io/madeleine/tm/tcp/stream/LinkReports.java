package io.madeleine.tm.tcp.stream;

import java.io.IOException;

/**
 * What the sending and receiving halves of a connection report to it. A class, not an interface, because calls to the
 * one subclass are then compiled as direct ones.
 *
 * <p>Threading: the methods are called under the lock of their direction, except {@link #sentKept}.
 */
abstract class LinkReports {
    /** Whether packets may be sent: the connection is neither finished, lost nor closed. */
    abstract boolean canSend();

    /** Notes that the link has sent; {@code pending} if the socket did not accept everything. */
    abstract void sent(boolean pending);

    /** Notes that held-back messages were written; {@code pending} if the socket did not accept all. Any thread. */
    abstract void sentKept(boolean pending);

    abstract void sendFailed(IOException e);

    /** Sets whether a further header lies in the buffer, which no readiness event reports. */
    abstract void headerIsBuffered(boolean is);

    /** The stream of the peer has ended, and all that came before its end was read. */
    abstract void receiveEnded();

    abstract void receiveFailed(IOException e);

    /** What was received is no valid stream of packets. */
    abstract void broken(String reason);
}
