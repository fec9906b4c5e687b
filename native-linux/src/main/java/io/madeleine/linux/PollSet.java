package io.madeleine.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.madeleine.pmm.spi.DescriptorPoller;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.SelectionKey;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A set of descriptors for {@code poll(2)}. Its first entry is an event descriptor, which ends waits.
 *
 * <p>Threading: as {@link DescriptorPoller.Poll} says. {@link #close} frees the memory of the entries, so no thread may
 * poll any more when it is called. A thread may still wake the set up: the last of the threads to finish frees the set.
 */
final class PollSet implements DescriptorPoller.Poll {
    /** struct pollfd: int fd, short events, short revents. */
    private static final long ENTRY_BYTES = 8;

    private static final long EVENTS_OFFSET = 4;
    private static final long RETURNED_OFFSET = 6;
    private static final short IN = 0x1;
    private static final short OUT = 0x4;
    private static final short BROKEN = 0x8 | 0x10 | 0x20; // POLLERR, POLLHUP, POLLNVAL
    private static final int CLOSED = Integer.MIN_VALUE;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment one = arena.allocate(JAVA_LONG);
    private final MemorySegment counter = arena.allocate(JAVA_LONG);
    private final int event;

    /** The number of threads that write to the event descriptor, and the sign bit once the set is closed. */
    private final AtomicInteger users = new AtomicInteger();

    private MemorySegment entries;
    private int count = 1;

    PollSet() {
        event = PollCalls.eventDescriptor();
        if (event < 0) {
            arena.close();
            throw new UncheckedIOException(
                    "cannot open an event descriptor",
                    new IOException("is the limit of open files reached (ulimit -n)?"));
        }
        one.set(JAVA_LONG, 0, 1);
        entries = arena.allocate(ENTRY_BYTES, ENTRY_BYTES);
        enter(0, event, IN);
    }

    private void enter(int place, int descriptor, short events) {
        entries.set(JAVA_INT, place * ENTRY_BYTES, descriptor);
        entries.set(JAVA_SHORT, place * ENTRY_BYTES + EVENTS_OFFSET, events);
        entries.set(JAVA_SHORT, place * ENTRY_BYTES + RETURNED_OFFSET, (short) 0);
    }

    @Override
    public void watch(int[] descriptors, int[] operations) {
        int needed = descriptors.length + 1;
        if (entries.byteSize() < needed * ENTRY_BYTES) {
            entries = arena.allocate(2L * needed * ENTRY_BYTES, ENTRY_BYTES);
            enter(0, event, IN);
        }
        for (int i = 0; i < descriptors.length; i++) {
            // poll reports a broken descriptor even without requested events, but ignores a negative one
            enter(i + 1, operations[i] == 0 ? -1 : descriptors[i], events(operations[i]));
        }
        count = needed;
    }

    private static short events(int operations) {
        return (short) (((operations & SelectionKey.OP_READ) != 0 ? IN : 0)
                | ((operations & SelectionKey.OP_WRITE) != 0 ? OUT : 0));
    }

    @Override
    public int poll(boolean waits) {
        int ready = PollCalls.poll(entries, count, waits ? -1 : 0);
        if (ready <= 0) {
            for (int i = 0; i < count; i++) {
                entries.set(JAVA_SHORT, i * ENTRY_BYTES + RETURNED_OFFSET, (short) 0);
            }
            return 0;
        }
        if (entries.get(JAVA_SHORT, RETURNED_OFFSET) != 0) {
            PollCalls.read(event, counter);
            return ready - 1;
        }
        return ready;
    }

    @Override
    public int ready(int index) {
        long place = (index + 1L) * ENTRY_BYTES;
        short returned = entries.get(JAVA_SHORT, place + RETURNED_OFFSET);
        short seen = (returned & BROKEN) != 0 ? entries.get(JAVA_SHORT, place + EVENTS_OFFSET) : returned;
        return ((seen & IN) != 0 ? SelectionKey.OP_READ : 0) | ((seen & OUT) != 0 ? SelectionKey.OP_WRITE : 0);
    }

    @Override
    public void wakeUp() {
        if (users.getAndUpdate(now -> now < 0 ? now : now + 1) < 0) {
            return; // closed: its descriptor may belong to something else by now
        }
        try {
            PollCalls.write(event, one);
        } finally {
            if (users.decrementAndGet() == CLOSED) {
                free();
            }
        }
    }

    @Override
    public void close() {
        if (users.getAndUpdate(now -> now | CLOSED) == 0) {
            free();
        }
    }

    private void free() {
        PollCalls.close(event);
        arena.close();
    }
}
