package io.madeleine.tm.bip.protocol;

/**
 * The numbers of the wire format, which PROTOCOL.md describes. All fields are little-endian.
 *
 * <pre>
 *   0        4         5      6        8                16                24        28
 *   +--------+---------+------+--------+----------------+----------------+---------+--------
 *   |sum/key | version | kind | length | destination id | packet number  |  floor  | frames
 *   +--------+---------+------+--------+----------------+----------------+---------+--------
 * </pre>
 *
 * <p>Threading: constants.
 */
public final class DatagramLayout {
    /** The version of this format. */
    public static final int VERSION = 2;

    /** The CRC32C of all bytes behind this field: 4 bytes. */
    public static final int CHECKSUM_OFFSET = 0;

    /** The number of the key with which SEALED was encrypted, in the place of the checksum: 4 bytes. */
    public static final int KEY_OFFSET = 0;

    /** The version: 1 byte. */
    public static final int VERSION_OFFSET = 4;

    /** The kind of the datagram: 1 byte. */
    public static final int KIND_OFFSET = 5;

    /** The length of the datagram in bytes: 2 bytes. */
    public static final int LENGTH_OFFSET = 6;

    /** The id that the receiver chose for itself, or 0 in INIT, OPEN and UNKNOWN: 8 bytes. */
    public static final int DESTINATION_OFFSET = 8;

    /** The packet number of DATA and SEALED, the sender's id of the other kinds: 8 bytes. */
    public static final int NUMBER_OFFSET = 16;

    /**
     * In DATA and SEALED the distance down to the lowest packet number that the sender still tracks, in INIT, OPEN and
     * ACCEPT the sender's encryption, else 0: 4 bytes.
     */
    public static final int FLOOR_OFFSET = 24;

    /** Where the frames or the body begin. */
    public static final int HEADER_BYTES = 28;

    /** The longest datagram: UDP over IPv4 carries no more. */
    public static final int MAX_DATAGRAM_BYTES = 65_507;

    /** The size that every path carries, as in QUIC (RFC 9000, section 14). */
    public static final int SAFE_DATAGRAM_BYTES = 1200;

    // ---- kinds of datagrams

    /** The initiator asks for a cookie. */
    public static final int INIT = 1;

    /** The acceptor's answer, a cookie; it keeps no state. */
    public static final int COOKIE = 2;

    /** The initiator returns the cookie. */
    public static final int OPEN = 3;

    /** The acceptor has made a connection. */
    public static final int ACCEPT = 4;

    /** Frames of a connection. */
    public static final int DATA = 5;

    /** The receiver of a DATA datagram knows no such connection. */
    public static final int UNKNOWN = 6;

    /** Frames of a connection, encrypted and authenticated. */
    public static final int SEALED = 7;

    /** Encryption: none. */
    public static final int PLAIN = 0;

    /** Encryption: AES-128-GCM, with keys from TLS 1.3. */
    public static final int AES_GCM = 1;

    /** The length of the tag behind the frames of SEALED. */
    public static final int TAG_BYTES = 16;

    /** The length of a cookie. */
    public static final int COOKIE_BYTES = 24;

    /** The length of INIT and OPEN: longer than the answer, so that a spoofed source address amplifies nothing. */
    public static final int REQUEST_BYTES = 64;

    // ---- frames of a DATA datagram

    /** Acknowledged packet numbers: type, number of ranges, 2 bytes 0, delay in µs (4), largest number (8), ranges. */
    public static final int ACK = 1;

    /** The receiver takes bytes of a stream up to an offset: type, stream, 2 bytes 0, offset (8). */
    public static final int CREDIT = 2;

    /** Bytes of a stream: type, stream, length (2), offset (8), bytes. */
    public static final int STREAM = 3;

    /** Asks for an acknowledgement: type, 3 bytes 0. */
    public static final int PING = 4;

    /** Fills a probe of the path: type, 1 byte 0, length of the rest (2), zeros. */
    public static final int PADDING = 5;

    /** The sender sends nothing more: type, how (1 byte), 2 bytes 0, the length of each stream (4 times 8). */
    public static final int END = 6;

    /** The sender has given the connection up: type, 3 bytes 0. */
    public static final int RESET = 7;

    /** The sender wants to send bytes of a stream up to an offset: type, stream, 2 bytes 0, offset (8). */
    public static final int WANT = 8;

    /** The fixed part of an ACK frame. */
    public static final int ACK_BYTES = 16;

    /** One range of an ACK frame: the gap above it (4), the number of packets in it (4). */
    public static final int ACK_RANGE_BYTES = 8;

    /** The most ranges of an ACK frame. */
    public static final int MAX_ACK_RANGES = 32;

    /** The length of a CREDIT frame. */
    public static final int CREDIT_BYTES = 12;

    /** The fixed part of a STREAM frame. */
    public static final int STREAM_BYTES = 12;

    /** The length of a PING frame. */
    public static final int PING_BYTES = 4;

    /** The fixed part of a PADDING frame. */
    public static final int PADDING_BYTES = 4;

    /** The length of an END frame. */
    public static final int END_BYTES = 36;

    /** The length of a RESET frame. */
    public static final int RESET_BYTES = 4;

    /** The length of a WANT frame. */
    public static final int WANT_BYTES = 12;

    /** A bit of {@link #END}: the sender has finished of its own will. */
    public static final int HOW_FINISHED = 1;

    /** A bit of {@link #END}: the sender receives nothing more either. */
    public static final int HOW_CLOSED = 2;

    // ---- streams

    /** The frames of the handshake. */
    public static final int CONTROL_STREAM = 0;

    /** The packets of bip/short. */
    public static final int SHORT_STREAM = 1;

    /** The headers of the packets of bip/long. */
    public static final int HEADER_STREAM = 2;

    /** The payload of the packets of bip/long. */
    public static final int LONG_STREAM = 3;

    /** How many streams a connection has in each direction. */
    public static final int STREAM_COUNT = 4;

    private DatagramLayout() {}
}
