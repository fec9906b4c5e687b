package io.madeleine.tm.sci.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.CopyEngine;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class CopyHelperTest {
    private static final int BYTES = 64;

    /** Tells that it was called, then reads everything, or fails. */
    private record Announcing(CountDownLatch called, boolean fails) implements CopyEngine.Reader {
        @Override
        public long read(long address, MemorySegment into, long offset, long bytes) {
            called.countDown();
            if (fails) {
                throw new LinkageError("as a test");
            }
            return bytes;
        }

        @Override
        public String explain(long failure) {
            return "as a test";
        }
    }

    private static long copied(CopyHelper helper, boolean fails) throws InterruptedException {
        CountDownLatch called = new CountDownLatch(1);
        CopyHelper.Copy copy = new CopyHelper.Copy(new Announcing(called, fails));
        assertTrue(helper.offer(copy, 0, Arena.ofAuto().allocate(BYTES), 0, BYTES));
        assertTrue(called.await(20, TimeUnit.SECONDS), "the helper does not begin the copy");
        return helper.finish(copy);
    }

    @Test
    void shouldGoOnCopyingAfterAnErrorInOneCopy() throws Exception {
        try (CopyHelper helper = new CopyHelper("helper")) {
            assertEquals(BYTES, copied(helper, false));
            assertEquals(0, copied(helper, true));
            assertEquals(BYTES, copied(helper, false));
        }
    }
}
