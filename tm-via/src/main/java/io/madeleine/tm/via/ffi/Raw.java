package io.madeleine.tm.via.ffi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/**
 * Reads and writes memory that libfabric owns, by address. Do not initialise this class without native access.
 *
 * <p>Threading: stateless.
 */
public final class Raw {
    @SuppressWarnings("restricted") // structs of a C library lie at addresses that it returns
    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private static final int MAX_TEXT_BYTES = 1 << 20;

    private Raw() {}

    /** The word at an address. */
    public static long pointer(long address) {
        return ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, address);
    }

    static int number(long address) {
        return ALL.get(ValueLayout.JAVA_INT_UNALIGNED, address);
    }

    static void putPointer(long address, long value) {
        ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, address, value);
    }

    static void putNumber(long address, int value) {
        ALL.set(ValueLayout.JAVA_INT_UNALIGNED, address, value);
    }

    /** The bytes at an address. */
    static byte[] bytes(long address, int count) {
        return ALL.asSlice(address, count).toArray(ValueLayout.JAVA_BYTE);
    }

    /** The C string at an address; empty for a null pointer. */
    static String text(long address) {
        if (address == 0) {
            return "";
        }
        int length = 0;
        while (length < MAX_TEXT_BYTES && ALL.get(ValueLayout.JAVA_BYTE, address + length) != 0) {
            length++;
        }
        return new String(bytes(address, length), StandardCharsets.UTF_8);
    }

    /** A function pointer in a table of functions. */
    static MemorySegment function(long table, int offset) {
        return MemorySegment.ofAddress(pointer(table + offset));
    }
}
