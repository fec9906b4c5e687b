package io.madeleine.tm.sci;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigValue;
import io.madeleine.api.ConfigurationException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/**
 * The settings of the family, {@code madeleine.tm.sci}.
 *
 * <p>Threading: immutable.
 *
 * @param enabled whether the family may be used
 * @param directory where the files of shared memory are made; empty for the default place
 * @param shortMaxBlockBytes the largest block for {@code sci/short}
 * @param shortBufferBytes the size of one static buffer of {@code sci/short}
 * @param shortRingBytes the ring of one direction of a connection
 * @param regularCellBytes the size of one cell of {@code sci/regular}
 * @param regularCells how many cells one direction of a connection has
 * @param singleCopy whether there is to be {@code sci/dma}
 * @param dmaFromBytes the smallest block for {@code sci/dma}
 * @param dmaToBytes the largest block that is read out of another process's own memory; {@link Long#MAX_VALUE} for any, 0
 *     for none
 * @param sharedBlocks whether large blocks of the session's are in memory that peers can map
 * @param dmaOffloadFromBytes the smallest block that a second thread helps to copy; {@link Long#MAX_VALUE} for none
 */
public record SciConfig(
        boolean enabled,
        Optional<Path> directory,
        long shortMaxBlockBytes,
        int shortBufferBytes,
        int shortRingBytes,
        int regularCellBytes,
        int regularCells,
        SingleCopyUse singleCopy,
        long dmaFromBytes,
        long dmaToBytes,
        boolean sharedBlocks,
        long dmaOffloadFromBytes) {
    /** Whether there is to be {@code sci/dma}. */
    public enum SingleCopyUse {
        /** Yes; where it cannot work, its blocks go through cells of its own, and that is said. */
        ON,

        /** No. */
        OFF,

        /** Where this process has an engine that may be used, or blocks that its peers can map. */
        AUTO
    }

    /** Where the settings stand. */
    public static final String ROOT = "madeleine.tm.sci";

    /** The keys of what decides which module takes a block. */
    static final List<String> THRESHOLDS =
            List.of(ROOT + ".short.max-block", ROOT + ".dma.single-copy", ROOT + ".dma.from");

    private static final String AUTO = "auto";
    private static final String UNLIMITED = "unlimited";
    private static final String NONE = "none";
    private static final long MIN_OFFLOAD_BYTES = 1 << 20;
    private static final Path SHARED_MEMORY = Path.of("/dev/shm");
    private static final TreeSet<String> KEYS = new TreeSet<>(List.of(
            "enabled",
            "guice-module",
            "directory",
            "short.max-block",
            "short.buffer",
            "short.ring",
            "regular.cell",
            "regular.cells",
            "dma.single-copy",
            "dma.from",
            "dma.to",
            "dma.shared-blocks",
            "dma.offload-from"));

    /**
     * Reads the settings.
     *
     * @param root the whole configuration
     * @throws ConfigurationException naming key, place and what is accepted
     */
    public static SciConfig from(Config root) {
        try {
            return read(root.getConfig(ROOT));
        } catch (ConfigException e) {
            throw new ConfigurationException("the configuration under " + ROOT + " is wrong: " + e.getMessage(), e);
        }
    }

    private static SciConfig read(Config sci) {
        rejectUnknownKeys(sci);
        int bufferBytes = bytes(sci, "short.buffer", 64, PairSizes.MAX_BUFFER_BYTES);
        require(sci, "short.buffer", bufferBytes % Long.BYTES == 0, "a multiple of 8 bytes");
        int ringBytes = bytes(sci, "short.ring", 1024, PairSizes.MAX_RING_BYTES);
        require(sci, "short.ring", Integer.bitCount(ringBytes) == 1, "a power of two");
        long minRingBytes = RingLayout.minRingBytes(bufferBytes);
        require(sci, "short.ring", ringBytes >= minRingBytes, minRingBytes + " bytes or more for this short.buffer");
        int cellBytes = bytes(sci, "regular.cell", CellLayout.PAGE_BYTES, PairSizes.MAX_CELL_BYTES);
        require(sci, "regular.cell", cellBytes % CellLayout.PAGE_BYTES == 0, "a multiple of 4 KiB");
        int cells = sci.getInt("regular.cells");
        require(
                sci,
                "regular.cells",
                cells >= PairSizes.MIN_CELLS && cells <= PairSizes.MAX_CELLS,
                PairSizes.MIN_CELLS + " to " + PairSizes.MAX_CELLS);
        return new SciConfig(
                sci.getBoolean("enabled"),
                directory(sci),
                bytes(sci, "short.max-block", 0, Integer.MAX_VALUE),
                bufferBytes,
                ringBytes,
                cellBytes,
                cells,
                singleCopy(sci),
                fromBytes(sci),
                toBytes(sci),
                sci.getBoolean("dma.shared-blocks"),
                offloadFromBytes(sci));
    }

    private static SingleCopyUse singleCopy(Config sci) {
        return switch (sci.getString("dma.single-copy")) {
            case "on", "true", "yes" -> SingleCopyUse.ON;
            case "off", "false", "no" -> SingleCopyUse.OFF;
            case AUTO -> SingleCopyUse.AUTO;
            default -> throw wrong(sci, "dma.single-copy", "auto, on or off");
        };
    }

    private static long fromBytes(Config sci) {
        long bytes = sci.getBytes("dma.from");
        require(sci, "dma.from", bytes >= Lender.MIN_BYTES, "a size of " + Lender.MIN_BYTES + " bytes or more");
        return bytes;
    }

    private static long toBytes(Config sci) {
        switch (sci.getString("dma.to")) {
            case UNLIMITED -> {
                return Long.MAX_VALUE;
            }
            case NONE -> {
                return 0;
            }
            default -> {}
        }
        long bytes = sci.getBytes("dma.to");
        require(
                sci,
                "dma.to",
                bytes >= Lender.MIN_BYTES,
                UNLIMITED + ", " + NONE + ", or a size of " + Lender.MIN_BYTES + " bytes or more");
        return bytes;
    }

    /** Off unless a size is given: what is faster with two processors has not been found, and with more not been measured. */
    private static long offloadFromBytes(Config sci) {
        return switch (sci.getString("dma.offload-from")) {
            case "off", "false", "no" -> Long.MAX_VALUE;
            default -> {
                long bytes = sci.getBytes("dma.offload-from");
                require(sci, "dma.offload-from", bytes >= MIN_OFFLOAD_BYTES, "off, or a size of 1 MiB or more");
                yield bytes;
            }
        };
    }

    private static Optional<Path> directory(Config sci) {
        String name = sci.getString("directory");
        if (name.equals(AUTO)) {
            return Optional.empty();
        }
        try {
            Path path = Path.of(name);
            require(sci, "directory", path.isAbsolute(), "the absolute path of a directory, or \"auto\"");
            return Optional.of(path);
        } catch (InvalidPathException _) {
            throw wrong(sci, "directory", "the absolute path of a directory, or \"auto\"");
        }
    }

    private static int bytes(Config sci, String key, int min, int max) {
        long bytes = sci.getBytes(key);
        require(sci, key, bytes >= min && bytes <= max, "a size of " + min + " to " + max + " bytes");
        return (int) bytes;
    }

    private static void rejectUnknownKeys(Config sci) {
        for (var entry : sci.entrySet()) {
            if (!KEYS.contains(entry.getKey())) {
                throw new ConfigurationException("unknown key " + ROOT + "." + entry.getKey() + " in "
                        + entry.getValue().origin().description() + "; known are " + String.join(", ", KEYS));
            }
        }
    }

    private static void require(Config sci, String key, boolean met, String accepted) {
        if (!met) {
            throw wrong(sci, key, accepted);
        }
    }

    private static ConfigurationException wrong(Config sci, String key, String accepted) {
        ConfigValue value = sci.getValue(key);
        return new ConfigurationException(ROOT + "." + key + " = " + value.unwrapped() + " in "
                + value.origin().description() + " is not accepted; expected " + accepted);
    }

    /** The directory to use: the one configured, else {@code /dev/shm} where that is writable, else the one for temporary files. */
    public Path memoryDirectory() {
        return directory.orElseGet(() -> Files.isDirectory(SHARED_MEMORY) && Files.isWritable(SHARED_MEMORY)
                ? SHARED_MEMORY
                : Path.of(System.getProperty("java.io.tmpdir")).toAbsolutePath());
    }
}
