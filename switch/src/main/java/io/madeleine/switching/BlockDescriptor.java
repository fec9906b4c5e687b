package io.madeleine.switching;

import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.pmm.spi.Blocks;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * The descriptor that precedes each block when {@code madeleine.debug.self-described} is on, always over the primary
 * link.
 *
 * <pre>
 *   0        8        12       13       14       15
 *  +--------+--------+--------+--------+--------+
 *  | bytes  | number | send   | receive| link   | (unused)
 *  +--------+--------+--------+--------+--------+
 * </pre>
 */
final class BlockDescriptor {
    static final int BYTES = 16;

    private static final int NUMBER_OFFSET = 8;
    private static final int SEND_OFFSET = 12;
    private static final int RECEIVE_OFFSET = 13;
    private static final int LINK_OFFSET = 14;

    private BlockDescriptor() {}

    static void put(MemorySegment target, long bytes, int number, SendMode send, ReceiveMode receive, int link) {
        target.set(Blocks.LONG, 0, bytes);
        target.set(Blocks.INT, NUMBER_OFFSET, number);
        target.set(Blocks.BYTE, SEND_OFFSET, code(send));
        target.set(Blocks.BYTE, RECEIVE_OFFSET, code(receive));
        target.set(Blocks.BYTE, LINK_OFFSET, (byte) link);
    }

    private static byte code(SendMode mode) {
        return switch (mode) {
            case SAFER -> 1;
            case LATER -> 2;
            case CHEAPER -> 3;
        };
    }

    private static byte code(ReceiveMode mode) {
        return switch (mode) {
            case EXPRESS -> 1;
            case CHEAPER -> 2;
        };
    }

    static boolean equal(MemorySegment a, MemorySegment b) {
        return a.get(Blocks.LONG, 0) == b.get(Blocks.LONG, 0) && a.get(Blocks.LONG, 8) == b.get(Blocks.LONG, 8);
    }

    /** A descriptor as text. It may come from the peer: any content must be accepted. */
    static String describe(MemorySegment descriptor, List<TransmissionCapabilities> modules) {
        int link = descriptor.get(Blocks.BYTE, LINK_OFFSET);
        return "block " + descriptor.get(Blocks.INT, NUMBER_OFFSET) + " of " + descriptor.get(Blocks.LONG, 0)
                + " bytes, "
                + sendMode(descriptor.get(Blocks.BYTE, SEND_OFFSET)) + "/"
                + receiveMode(descriptor.get(Blocks.BYTE, RECEIVE_OFFSET)) + " via "
                + (link >= 0 && link < modules.size() ? modules.get(link).id() : "unknown module " + link);
    }

    private static String sendMode(byte code) {
        for (SendMode mode : SendMode.values()) {
            if (code(mode) == code) {
                return mode.name();
            }
        }
        return "unknown mode " + code;
    }

    private static String receiveMode(byte code) {
        for (ReceiveMode mode : ReceiveMode.values()) {
            if (code(mode) == code) {
                return mode.name();
            }
        }
        return "unknown mode " + code;
    }
}
