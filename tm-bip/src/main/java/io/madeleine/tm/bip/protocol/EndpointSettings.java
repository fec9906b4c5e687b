package io.madeleine.tm.bip.protocol;

/**
 * The bounds and times of a connection.
 *
 * @param shortWindowBytes how many bytes of bip/short a receiver takes before they are read, and a sender keeps until
 *     they are acknowledged; a power of two
 * @param longWindowBytes the same for bip/long
 * @param maxDatagramBytes the longest datagram
 * @param ackDelayNs how long an acknowledgement may wait for data to travel with
 * @param peerTimeoutNs the silence after which a peer that should answer counts as lost
 * @param lingerNs how long a closed connection tries to deliver what was sent before to a peer that does not answer;
 *     one that answers has the longer of this time and {@code peerTimeoutNs} for messages that are whole
 * @param encrypts whether datagrams are encrypted once both ends have keys
 */
public record EndpointSettings(
        int shortWindowBytes,
        int longWindowBytes,
        int maxDatagramBytes,
        long ackDelayNs,
        long peerTimeoutNs,
        long lingerNs,
        boolean encrypts) {
    /** The longest time that an end which has nothing to deliver waits for its peer. */
    public static final long SHORT_LINGER_NS = 1_000_000_000;

    /** The window of the handshake's stream. */
    public static final int CONTROL_WINDOW_BYTES = 8192;

    /** The least window of bip/long. */
    public static final int LEAST_LONG_WINDOW_BYTES = 65_536;

    /** The window of the stream of headers. */
    public static final int HEADER_WINDOW_BYTES = 1024;

    /**
     * Settings with windows that fit together in the receive buffer of the socket, so that a peer that obeys them loses
     * nothing to this process's being busy.
     *
     * @param bufferBytes what the system gave; it counts more than the payload of a datagram
     */
    public EndpointSettings fitting(int bufferBytes) {
        int forLong = Integer.highestOneBit(Math.max(1, bufferBytes - shortWindowBytes));
        return new EndpointSettings(
                shortWindowBytes,
                Math.max(LEAST_LONG_WINDOW_BYTES, Math.min(longWindowBytes, forLong)),
                maxDatagramBytes,
                ackDelayNs,
                peerTimeoutNs,
                lingerNs,
                encrypts);
    }

    /** Settings of the connection that carries the TLS handshake: datagrams that every path carries. */
    EndpointSettings ofOpening() {
        return new EndpointSettings(
                shortWindowBytes,
                longWindowBytes,
                DatagramLayout.SAFE_DATAGRAM_BYTES,
                ackDelayNs,
                peerTimeoutNs,
                lingerNs,
                encrypts);
    }

    /** What {@code INIT}, {@code OPEN} and {@code ACCEPT} say of it. */
    int encryption() {
        return encrypts ? DatagramLayout.AES_GCM : DatagramLayout.PLAIN;
    }

    /** As {@code lingerNs}, of a connection of which nothing is promised, or of which all messages have arrived. */
    public long shortLingerNs() {
        return Math.min(lingerNs, SHORT_LINGER_NS);
    }

    /** How long a closed connection stays at most. */
    public long longestLingerNs() {
        return Math.max(lingerNs, peerTimeoutNs);
    }

    int windowBytes(int stream) {
        return switch (stream) {
            case DatagramLayout.CONTROL_STREAM -> CONTROL_WINDOW_BYTES;
            case DatagramLayout.SHORT_STREAM -> shortWindowBytes;
            case DatagramLayout.HEADER_STREAM -> HEADER_WINDOW_BYTES;
            default -> longWindowBytes;
        };
    }
}
