package io.madeleine.bmm;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.madeleine.api.BlockLayout;
import io.madeleine.pmm.spi.PacketHeader;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Blocks and packets as texts, so that a test can say what it expects. */
final class Texts {
    private Texts() {}

    static MemorySegment block(String text) {
        return MemorySegment.ofArray(text.getBytes(US_ASCII));
    }

    /** A block whose every other byte belongs to the text. */
    static BlockLayout ranges(String text) {
        MemorySegment memory =
                MemorySegment.ofArray(new byte[2 * text.length()]).fill((byte) '-');
        for (int i = 0; i < text.length(); i++) {
            memory.set(ValueLayout.JAVA_BYTE, 2 * i, (byte) text.charAt(i));
        }
        return BlockLayout.strided(memory, 0, 1, 2, text.length());
    }

    static String text(MemorySegment memory) {
        return new String(memory.toArray(ValueLayout.JAVA_BYTE), US_ASCII);
    }

    static String packet(long header, MemorySegment memory, long offset) {
        return packet(header, text(memory.asSlice(offset, PacketHeader.payloadBytes(header))));
    }

    static String packet(long header, String payload) {
        return PacketHeader.describe(header) + (payload.isEmpty() ? "" : ": " + payload);
    }
}
