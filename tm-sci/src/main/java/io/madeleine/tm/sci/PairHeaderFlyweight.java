package io.madeleine.tm.sci;

import io.madeleine.pmm.spi.ProcessIdentity;
import java.lang.foreign.MemorySegment;

/**
 * The first bytes of a pair segment: what the initiator says before the file gets its name, and the acceptor's answer.
 *
 * <pre>
 *   0   magic and version       40  table digest            72  acceptor's incarnation
 *   8   segment bytes           48  initiator's id          80  hash of the channel's name
 *   16  ring bytes              56  initiator's incarnation 88  proof of membership
 *   24  cell bytes              64  acceptor's id           96  initiator's slot
 *   32  cells
 *   512 answer: 0 not yet       520 acceptor's slot         528 acceptor's table digest
 * </pre>
 *
 * <p>Threading: stateless; the answer is written last, with release.
 */
final class PairHeaderFlyweight {
    static final long MAGIC = 0x4d61_6449_7061_0001L;

    /** The answers. */
    static final long MAPPED = 1;

    static final long OTHER_DIGEST = 2;
    static final long NOT_UNDERSTOOD = 3;

    private static final long MAGIC_OFFSET = 0;
    private static final long SEGMENT_BYTES_OFFSET = 8;
    private static final long RING_BYTES_OFFSET = 16;
    private static final long CELL_BYTES_OFFSET = 24;
    private static final long CELLS_OFFSET = 32;
    private static final long DIGEST_OFFSET = 40;
    private static final long INITIATOR_OFFSET = 48;
    private static final long ACCEPTOR_OFFSET = 64;
    private static final long CHANNEL_OFFSET = 80;
    private static final long PROOF_OFFSET = 88;
    private static final long INITIATOR_SLOT_OFFSET = 96;
    private static final long ANSWER_OFFSET = 512;
    private static final long ACCEPTOR_SLOT_OFFSET = 520;
    private static final long ACCEPTOR_DIGEST_OFFSET = 528;

    /** Of the words by which a side's memory is recognised, behind its pid. */
    private static final long MARK_ADDRESS_OFFSET = 8;

    private static final long MARK_OFFSET = 16;

    /**
     * Whom a segment is for; equal at both ends.
     *
     * @param initiator who made it
     * @param acceptor who is to map it
     * @param channelHash of the channel's name
     * @param proof that its maker belongs to the session
     */
    record Parties(ProcessIdentity initiator, ProcessIdentity acceptor, long channelHash, long proof) {}

    private PairHeaderFlyweight() {}

    static void write(MemorySegment memory, Parties parties, PairSizes sizes, long tableDigest, int slot) {
        Words.setPlain(memory, SEGMENT_BYTES_OFFSET, memory.byteSize());
        Words.setPlain(memory, RING_BYTES_OFFSET, sizes.ringBytes());
        Words.setPlain(memory, CELL_BYTES_OFFSET, sizes.cellBytes());
        Words.setPlain(memory, CELLS_OFFSET, sizes.cells());
        Words.setPlain(memory, DIGEST_OFFSET, tableDigest);
        writeIdentity(memory, INITIATOR_OFFSET, parties.initiator());
        writeIdentity(memory, ACCEPTOR_OFFSET, parties.acceptor());
        Words.setPlain(memory, CHANNEL_OFFSET, parties.channelHash());
        Words.setPlain(memory, PROOF_OFFSET, parties.proof());
        Words.setPlain(memory, INITIATOR_SLOT_OFFSET, slot);
        Words.setVolatile(memory, MAGIC_OFFSET, MAGIC);
    }

    private static void writeIdentity(MemorySegment memory, long offset, ProcessIdentity identity) {
        Words.setPlain(memory, offset, identity.id());
        Words.setPlain(memory, offset + Long.BYTES, identity.incarnation());
    }

    private static ProcessIdentity identity(MemorySegment memory, long offset) {
        return new ProcessIdentity(Words.plain(memory, offset), (int) Words.plain(memory, offset + Long.BYTES));
    }

    static boolean isOfThisVersion(MemorySegment memory) {
        return Words.acquire(memory, MAGIC_OFFSET) == MAGIC
                && Words.plain(memory, SEGMENT_BYTES_OFFSET) == memory.byteSize();
    }

    static Parties parties(MemorySegment memory) {
        return new Parties(
                identity(memory, INITIATOR_OFFSET),
                identity(memory, ACCEPTOR_OFFSET),
                Words.plain(memory, CHANNEL_OFFSET),
                Words.plain(memory, PROOF_OFFSET));
    }

    static PairSizes sizes(MemorySegment memory) {
        return new PairSizes(
                bounded(memory, RING_BYTES_OFFSET), bounded(memory, CELL_BYTES_OFFSET), bounded(memory, CELLS_OFFSET));
    }

    /** An int, or -1 for what is none. */
    private static int bounded(MemorySegment memory, long offset) {
        long value = Words.plain(memory, offset);
        return value == (int) value ? (int) value : -1;
    }

    static long tableDigest(MemorySegment memory) {
        return Words.plain(memory, DIGEST_OFFSET);
    }

    static int initiatorSlot(MemorySegment memory) {
        return bounded(memory, INITIATOR_SLOT_OFFSET);
    }

    static int acceptorSlot(MemorySegment memory) {
        return bounded(memory, ACCEPTOR_SLOT_OFFSET);
    }

    static long acceptorDigest(MemorySegment memory) {
        return Words.plain(memory, ACCEPTOR_DIGEST_OFFSET);
    }

    static void answer(MemorySegment memory, long answer, int slot, long tableDigest) {
        Words.setPlain(memory, ACCEPTOR_SLOT_OFFSET, slot);
        Words.setPlain(memory, ACCEPTOR_DIGEST_OFFSET, tableDigest);
        Words.setVolatile(memory, ANSWER_OFFSET, answer);
    }

    static long answer(MemorySegment memory) {
        return Words.acquire(memory, ANSWER_OFFSET);
    }

    static void writeLender(MemorySegment memory, long lender, long pid, long markAddress, long mark) {
        Words.setPlain(memory, lender + MARK_ADDRESS_OFFSET, markAddress);
        Words.setPlain(memory, lender + MARK_OFFSET, mark);
        Words.setVolatile(memory, lender, pid);
    }

    static long lenderPid(MemorySegment memory, long lender) {
        return Words.acquire(memory, lender);
    }

    static long lenderMarkAddress(MemorySegment memory, long lender) {
        return Words.plain(memory, lender + MARK_ADDRESS_OFFSET);
    }

    static long lenderMark(MemorySegment memory, long lender) {
        return Words.plain(memory, lender + MARK_OFFSET);
    }
}
