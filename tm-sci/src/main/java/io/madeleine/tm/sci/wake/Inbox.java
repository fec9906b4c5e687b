package io.madeleine.tm.sci.wake;

import static io.madeleine.tm.sci.wake.InboxLayout.ASLEEP;
import static io.madeleine.tm.sci.wake.InboxLayout.SUMMARY;

import io.madeleine.tm.sci.memory.OrderedWords;
import io.madeleine.tm.sci.memory.SegmentFile;
import io.madeleine.tm.sci.memory.TruncatedFiles;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;
import java.util.function.BooleanSupplier;
import java.util.function.LongPredicate;

/**
 * The arrival flags of one process, one flag for each connection slot. The owner polls this one place for all
 * connections that are not on its watch list, however many there are (Nemesis, section 2.1: a single queue to poll).
 * Peers and the owner's own threads set flags; the owner takes them. Another word says whether the owner sleeps and has
 * to be woken by its doorbell.
 *
 * <p>No announcement is lost: a thread makes its data visible before it sets the flag, and the owner takes the flag
 * before it looks for data.
 *
 * <p>Threading: {@link #announce} and {@link #isRingNeeded} thread-safe; all other methods by the polling thread.
 */
public final class Inbox implements AutoCloseable {
    private final Arena arena;
    private final RingDelay ringDelay = new RingDelay();
    private final LongPredicate isInSleep = this::isInSleep;
    private MemorySegment memory;

    /**
     * Wraps an inbox that is mapped already.
     *
     * <p>Ownership: {@link #close} closes the arena.
     *
     * @param memory {@link InboxLayout#BYTES} bytes
     */
    public Inbox(Arena arena, MemorySegment memory) {
        this.arena = arena;
        this.memory = memory;
    }

    /** Creates the inbox of this process. */
    public static Inbox create(Path file) throws IOException {
        Arena arena = Arena.ofShared();
        try {
            MemorySegment memory = SegmentFile.create(file, InboxLayout.BYTES, arena);
            OrderedWords.setVolatile(memory, InboxLayout.MAGIC_OFFSET, InboxLayout.MAGIC);
            TruncatedFiles.settle();
            return new Inbox(arena, memory);
        } catch (InternalError e) {
            throw cutShort(file, arena, e);
        } catch (IOException | RuntimeException | Error e) {
            arena.close();
            throw e;
        }
    }

    /** Maps the inbox of a peer. */
    public static Inbox open(Path file) throws IOException {
        Arena arena = Arena.ofShared();
        try {
            MemorySegment memory = SegmentFile.open(file, InboxLayout.BYTES, InboxLayout.BYTES, arena);
            if (OrderedWords.acquire(memory, InboxLayout.MAGIC_OFFSET) != InboxLayout.MAGIC) {
                throw new IOException(file + " is not an inbox of this version of Madeleine; all processes of a session"
                        + " have to use the same version");
            }
            TruncatedFiles.settle();
            return new Inbox(arena, memory);
        } catch (InternalError e) {
            throw cutShort(file, arena, e);
        } catch (IOException | RuntimeException | Error e) {
            arena.close();
            throw e;
        }
    }

    private static IOException cutShort(Path file, Arena arena, InternalError cause) {
        arena.close();
        return new IOException(file + " was cut short by somebody", cause);
    }

    /**
     * Sets a slot's flag. A full fence lies between the caller's data and this call, so that the data is visible to the
     * owner.
     *
     * @return 0 if the owner is awake; else the number of its sleep, for which the caller has to ring the doorbell
     */
    public long announce(int slot) {
        OrderedWords.setBits(memory, InboxLayout.word(slot), InboxLayout.bit(slot));
        OrderedWords.setBits(memory, SUMMARY, InboxLayout.summaryBit(slot));
        long epoch = OrderedWords.volatileWord(memory, ASLEEP);
        return (epoch & 1) == 0 ? 0 : epoch;
    }

    /**
     * Whether the caller has to ring for an owner that sleeps: it first watches for some microseconds whether the owner
     * wakes up by itself, or reads everything.
     *
     * @param sleep the number of the sleep, from {@link #announce}
     * @param isAllRead whether the owner has read what was announced
     */
    public boolean isRingNeeded(long sleep, BooleanSupplier isAllRead) {
        return ringDelay.isRingNeeded(isInSleep, sleep, isAllRead);
    }

    private boolean isInSleep(long sleep) {
        return OrderedWords.opaque(memory, ASLEEP) == sleep;
    }

    /** Whether a flag may be set. */
    public boolean hasArrivals() {
        return OrderedWords.opaque(memory, SUMMARY) != 0;
    }

    /** Takes the summary: bit w is set if word w may have flags. */
    long takeSummary() {
        return OrderedWords.getAndSet(memory, SUMMARY, 0);
    }

    /** Takes the flags of 64 slots. */
    long takeWord(int word) {
        return OrderedWords.getAndSet(memory, InboxLayout.word(word * Long.SIZE), 0);
    }

    /**
     * Makes peers ring the doorbell from now on, until {@link #wake()}. The owner has to check for flags after this
     * call that were set before it.
     */
    void fallAsleep() {
        long epoch = OrderedWords.plain(memory, ASLEEP);
        OrderedWords.setVolatile(memory, ASLEEP, epoch | 1);
        VarHandle.fullFence();
    }

    /** Tells peers that they need not ring. */
    void wake() {
        long epoch = OrderedWords.plain(memory, ASLEEP);
        OrderedWords.setRelease(memory, ASLEEP, epoch + 1 & ~1L);
    }

    /** Whether the file has not been cut short. */
    public boolean isWhole() {
        return TruncatedFiles.isWhole(memory);
    }

    /**
     * Replaces the mapped file, which was cut short, by private memory, so that threads of this process can still
     * access it.
     */
    public void giveUpFile() {
        memory = arena.allocate(InboxLayout.BYTES, OrderedWords.LINE_BYTES);
    }

    @Override
    public void close() {
        arena.close();
    }
}
