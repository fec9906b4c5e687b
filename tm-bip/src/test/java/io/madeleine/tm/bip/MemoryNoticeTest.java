package io.madeleine.tm.bip;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** A datagram dropped for lack of memory names the flag of the memory that was lacking. */
class MemoryNoticeTest {
    @Test
    void shouldNameTheFlagOfTheHeap() {
        for (String why : new String[] {"Java heap space", "GC overhead limit exceeded"}) {
            String text = BipAdapter.remedy(why);
            assertTrue(text.contains("-Xmx"), text);
            assertFalse(text.contains("MaxDirectMemorySize"), text);
        }
    }

    @Test
    void shouldNameTheFlagOfDirectMemory() {
        String text = BipAdapter.remedy("Cannot reserve 65536 bytes of direct buffer memory (allocated: 1, limit: 2)");
        assertTrue(text.contains("-XX:MaxDirectMemorySize"), text);
        assertTrue(text.contains("madeleine.tm.bip.short.window"), text);
    }
}
