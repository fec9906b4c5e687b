package io.madeleine.linux;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import io.madeleine.pmm.spi.CopyEngine;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Reads this process's own memory, which is as foreign to the call as another's. */
class VmReaderTest {
    private static final int BYTES = 1_000_003;
    private static final int READS = 20_000;

    /** A bit more than the JDK takes for a downcall that keeps errno, until the optimizing compiler does without. */
    private static final int DOWNCALL_BYTES = 48;

    private final Arena arena = Arena.ofShared();
    private CopyEngine.Reader reader;

    @BeforeEach
    void open() {
        CopyEngine engine = new ProcessVmEngine();
        assumeTrue(engine.availability().on(), engine.availability().reason());
        reader = engine.open(ProcessHandle.current().pid(), arena);
    }

    @AfterEach
    void close() {
        arena.close();
    }

    private MemorySegment pattern() {
        MemorySegment memory = arena.allocate(BYTES);
        for (int i = 0; i < BYTES; i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31));
        }
        return memory;
    }

    @Test
    void shouldCopyBytesFromTheirAddressToAnOffset() {
        MemorySegment source = pattern();
        MemorySegment target = arena.allocate(BYTES + 20L);
        long copied = 0;
        while (copied < BYTES) {
            long count = reader.read(source.address() + copied, target, 10 + copied, BYTES - copied);
            assertTrue(count > 0, () -> reader.explain(count));
            copied += count;
        }
        assertEquals(-1, target.asSlice(10, BYTES).mismatch(source));
        assertEquals(0, target.get(ValueLayout.JAVA_BYTE, 9));
        assertEquals(0, target.get(ValueLayout.JAVA_BYTE, BYTES + 10L));
    }

    @Test
    void shouldSayWhyItCannotRead() {
        MemorySegment target = arena.allocate(8);
        long nowhere = reader.read(4096, target, 0, 8);
        assertTrue(reader.explain(nowhere).contains("EFAULT"), reader.explain(nowhere));
        CopyEngine.Reader nobody = new ProcessVmEngine().open(Integer.MAX_VALUE, arena);
        long gone = nobody.read(target.address(), target, 0, 8);
        assertTrue(nobody.explain(gone).contains("ESRCH"), nobody.explain(gone));
        assertTrue(reader.explain(-1).contains("ptrace_scope"));
        assertTrue(reader.explain(-99).contains("99"));
    }

    @Test
    void shouldRefuseTargetsThatItCannotKeepOrMayNotWrite() {
        long address = arena.allocate(8).address();
        assertThrows(
                IllegalArgumentException.class, () -> reader.read(address, MemorySegment.ofArray(new byte[8]), 0, 8));
        assertThrows(
                IllegalArgumentException.class,
                () -> reader.read(address, arena.allocate(8).asReadOnly(), 0, 8));
        assertThrows(IndexOutOfBoundsException.class, () -> reader.read(address, arena.allocate(8), 1, 8));
        assertThrows(IndexOutOfBoundsException.class, () -> reader.read(address, arena.allocate(8), 0, 0));
    }

    @Test
    void shouldThrowRatherThanWriteIntoFreedMemoryOrAnotherThreads() throws InterruptedException {
        long address = arena.allocate(8).address();
        MemorySegment freed;
        try (Arena brief = Arena.ofShared()) {
            freed = brief.allocate(8);
        }
        assertThrows(IllegalStateException.class, () -> reader.read(address, freed, 0, 8));
        MemorySegment[] confined = new MemorySegment[1];
        Thread owner =
                Thread.ofPlatform().start(() -> confined[0] = Arena.ofConfined().allocate(8));
        owner.join();
        assertThrows(WrongThreadException.class, () -> reader.read(address, confined[0], 0, 8));
    }

    @Test
    @Tag("measures")
    void shouldAllocateNoMoreThanTheDowncall() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        MemorySegment source = arena.allocate(64);
        MemorySegment target = arena.allocate(64);
        assertEquals(64, reader.read(source.address(), target, 0, 64)); // links what is called
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < READS; i++) {
            assertEquals(64, reader.read(source.address(), target, 0, 64));
        }
        long perRead = (threads.getCurrentThreadAllocatedBytes() - before) / READS;
        assertTrue(perRead <= DOWNCALL_BYTES, perRead + " bytes for each of " + READS + " reads");
    }
}
