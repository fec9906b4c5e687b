package io.madeleine.tm.via.link;

/**
 * The sizes of pieces that are registered one by one while earlier ones are on their way: the first is small, so that
 * its transfer begins soon, and each is twice as long as the one before, up to a bound, since many registrations cost
 * more than one (Open-MX, section IV.C: chunks of 1 to 1,024 pages).
 *
 * <p>Threading: guarded by the owner's lock.
 */
final class GrowingPieces {
    private final int firstBytes;
    private final int mostBytes;
    private int bytes;

    GrowingPieces(int firstBytes, int mostBytes) {
        this.firstBytes = Math.min(firstBytes, mostBytes);
        this.mostBytes = mostBytes;
        this.bytes = this.firstBytes;
    }

    /** How long the next piece may be; it is the first if nothing is on its way. */
    int next(boolean isFirst) {
        bytes = isFirst ? firstBytes : Math.min(2 * bytes, mostBytes);
        return bytes;
    }
}
