package io.madeleine.tm.via.link;

/**
 * The tags of via/registered: the receiver's number of the connection, as many bits of its random token as there is
 * room for, and the number of the piece. So a message meets only the receive that its connection has posted for it.
 *
 * <p>Threading: stateless.
 */
final class PieceTags {
    /** Pieces are numbered modulo this. */
    static final int PIECES = 256;

    private static final int NUMBER_SHIFT = 8;
    private static final int TOKEN_SHIFT = 24;

    private PieceTags() {}

    /**
     * The tag of a piece.
     *
     * @param bits how many bits a tag has
     * @param number the receiver's number of the connection
     * @param token the receiver's token
     */
    static long of(int bits, int number, long token, int piece) {
        long all = token << TOKEN_SHIFT | (number & 0xFFFFL) << NUMBER_SHIFT | piece & 0xFF;
        return bits >= Long.SIZE ? all : all & (1L << bits) - 1;
    }
}
