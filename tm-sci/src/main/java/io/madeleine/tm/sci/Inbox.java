package io.madeleine.tm.sci;

import static io.madeleine.tm.sci.InboxLayout.ASLEEP;
import static io.madeleine.tm.sci.InboxLayout.SUMMARY;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;

/**
 * The arrival flags of one process: the one place that it looks at for all the connections that have been quiet, however
 * many there are (Nemesis, section 2.1: a single queue to poll). The owner takes the flags, peers and the owner's own
 * threads set them; and a word says whether the owner sleeps and wants the bell.
 *
 * <p>Nothing gets lost: who sets a flag has made his news visible before; the owner takes the flag before he looks.
 *
 * <p>Threading: {@link #announce} thread-safe; the rest belongs to the thread that polls.
 */
final class Inbox implements AutoCloseable {
    private final Arena arena;
    private MemorySegment memory;

    /** Over memory of {@link InboxLayout#BYTES} that is mapped already; the arena is closed with it. */
    Inbox(Arena arena, MemorySegment memory) {
        this.arena = arena;
        this.memory = memory;
    }

    /** Makes the inbox of this process. */
    static Inbox create(Path file) throws IOException {
        Arena arena = Arena.ofShared();
        try {
            MemorySegment memory = SegmentFile.create(file, InboxLayout.BYTES, arena);
            Words.setVolatile(memory, InboxLayout.MAGIC_OFFSET, InboxLayout.MAGIC);
            return new Inbox(arena, memory);
        } catch (IOException e) {
            arena.close();
            throw e;
        }
    }

    /** Maps the inbox of a peer. */
    static Inbox open(Path file) throws IOException {
        Arena arena = Arena.ofShared();
        try {
            MemorySegment memory = SegmentFile.open(file, InboxLayout.BYTES, InboxLayout.BYTES, arena);
            if (Words.acquire(memory, InboxLayout.MAGIC_OFFSET) != InboxLayout.MAGIC) {
                throw new IOException(file + " is not an inbox of this version of Madeleine; all processes of a session"
                        + " have to use the same");
            }
            return new Inbox(arena, memory);
        } catch (IOException e) {
            arena.close();
            throw e;
        }
    }

    /**
     * Sets a slot's flag. The caller's news is visible to all: a full fence lies between it and this call.
     *
     * @return 0 if the owner is awake, else the number of its sleep, for which the bell is to be rung
     */
    long announce(int slot) {
        Words.setBits(memory, InboxLayout.word(slot), InboxLayout.bit(slot));
        Words.setBits(memory, SUMMARY, InboxLayout.summaryBit(slot));
        long epoch = Words.volatileWord(memory, ASLEEP);
        return (epoch & 1) == 0 ? 0 : epoch;
    }

    /** Whether a flag may be set. */
    boolean hasArrivals() {
        return Words.opaque(memory, SUMMARY) != 0;
    }

    /** Takes the summary: bit w is set if word w has to be taken. */
    long takeSummary() {
        return Words.getAndSet(memory, SUMMARY, 0);
    }

    /** Takes the flags of 64 slots. */
    long takeWord(int word) {
        return Words.getAndSet(memory, InboxLayout.word(word * Long.SIZE), 0);
    }

    /** From now on, until {@link #wake()}, peers ring; what was announced before is to be looked for after this call. */
    void fallAsleep() {
        long epoch = Words.plain(memory, ASLEEP);
        Words.setVolatile(memory, ASLEEP, epoch | 1);
        VarHandle.fullFence();
    }

    /** Peers need not ring any more. */
    void wake() {
        long epoch = Words.plain(memory, ASLEEP);
        Words.setRelease(memory, ASLEEP, epoch + 1 & ~1L);
    }

    /** Whether its file is as long as it was. */
    boolean isWhole() {
        return CutMemory.isWhole(memory);
    }

    /** Has everybody in this process look at memory that is nobody else's from now on: the file is cut short. */
    void giveUpFile() {
        memory = arena.allocate(InboxLayout.BYTES, Words.LINE_BYTES);
    }

    @Override
    public void close() {
        arena.close();
    }
}
