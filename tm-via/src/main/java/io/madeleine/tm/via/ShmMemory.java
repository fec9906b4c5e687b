package io.madeleine.tm.via;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * The memory of an endpoint of the provider shm, as libfabric 1.17 lays it out on x86-64. This class does not touch
 * memory with another layout.
 *
 * <p>Threading: stateless.
 */
final class ShmMemory {
    /** A spin lock of glibc. */
    static final int LOCK = 24;

    /** An int that is not 0 if the endpoint has to look at its queues. */
    static final int SIGNAL = 28;

    /** Where the queue of responses begins. */
    static final int RESPONSES = 72;

    /** Where what lies behind that queue begins. */
    static final int BEHIND_RESPONSES = 80;

    static final int HEAD_BYTES = 128;

    private static final System.Logger LOGGER = System.getLogger("io.madeleine.tm.via");
    private static final int VERSION = 0;
    private static final int PID = 4;
    private static final byte KNOWN_VERSION = 4;
    private static final String KNOWN_PROCESSOR = "amd64";

    private ShmMemory() {}

    /** The head of the memory of a process; null if it cannot be opened, or if its layout is unknown. */
    static @Nullable MemorySegment headOf(ViaAddress process) {
        if (!System.getProperty("os.arch").equals(KNOWN_PROCESSOR)) {
            return null;
        }
        try {
            MemorySegment head = map(process, 0, HEAD_BYTES, Arena.ofAuto());
            boolean isKnown = head.get(ValueLayout.JAVA_BYTE, VERSION) == KNOWN_VERSION
                    && head.get(ValueLayout.JAVA_INT, PID) == process.pid();
            if (!isKnown) {
                LOGGER.log(
                        Level.DEBUG,
                        "the memory of {0} has version {1}, and not that of libfabric 1.17, {2}: if a process is killed"
                                + " while it polls or while others send to it, they may wait for ever",
                        process,
                        head.get(ValueLayout.JAVA_BYTE, VERSION),
                        KNOWN_VERSION);
            }
            return isKnown ? head : null;
        } catch (IOException e) {
            LOGGER.log(Level.DEBUG, "cannot open the memory of " + process, e);
            return null;
        }
    }

    /** Maps a part of the memory of a process. */
    static MemorySegment map(ViaAddress process, long begin, long bytes, Arena arena) throws IOException {
        Path file = ShmFiles.of(process.name());
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            if (begin < 0 || bytes < 0 || begin + bytes > channel.size()) {
                throw new IOException(file + " has " + channel.size() + " bytes; expected " + bytes + " at " + begin);
            }
            return channel.map(MapMode.READ_WRITE, begin, bytes, arena);
        }
    }
}
