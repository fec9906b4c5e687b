package io.madeleine.tm.sci;

import com.typesafe.config.Config;
import io.madeleine.api.ConfigurationException;
import io.madeleine.pmm.spi.ConfigReader;
import io.madeleine.pmm.spi.CopyEngine;
import io.madeleine.tm.sci.link.Lender;
import io.madeleine.tm.sci.link.PairSizes;
import io.madeleine.tm.sci.link.RingLayout;
import io.madeleine.tm.sci.link.SingleCopy;
import io.madeleine.tm.sci.memory.OrderedWords;
import io.madeleine.tm.sci.memory.SciKeys;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The settings of shared memory, {@code madeleine.tm.sci}. {@code reference.conf} describes the keys.
 *
 * <p>Threading: immutable.
 *
 * @param enabled whether sessions may use shared memory
 * @param directory the directory for the files of shared memory; empty for the default directory
 * @param shortMaxBlockBytes the largest block that {@code sci/short} takes
 * @param shortMaxSaferBlockBytes the largest SAFER block that {@code sci/short} takes, if this is larger than {@code
 *     shortMaxBlockBytes}
 * @param shortBufferBytes the size of one static buffer of {@code sci/short}
 * @param shortRingBytes the size of the ring for one direction of a connection
 * @param regularCellBytes the size of one cell of {@code sci/regular}
 * @param regularCells the number of cells for one direction of a connection
 * @param singleCopy whether the driver offers {@code sci/dma}
 * @param dmaFromBytes the smallest block that {@code sci/dma} takes
 * @param dmaToBytes the largest block that the receiver reads from unshared memory of the sender; {@link
 *     Long#MAX_VALUE} for no limit, 0 for none
 * @param sharedBlocks whether large blocks of {@code Session.allocate} lie in memory that peers can map
 * @param dmaOffloadFromBytes the smallest block that a second thread helps to copy; {@link Long#MAX_VALUE} for none
 */
public record SciConfig(
        boolean enabled,
        Optional<Path> directory,
        long shortMaxBlockBytes,
        long shortMaxSaferBlockBytes,
        int shortBufferBytes,
        int shortRingBytes,
        int regularCellBytes,
        int regularCells,
        SingleCopyUse singleCopy,
        long dmaFromBytes,
        long dmaToBytes,
        boolean sharedBlocks,
        long dmaOffloadFromBytes) {
    /** Whether the driver offers {@code sci/dma}. */
    public enum SingleCopyUse {
        /**
         * Yes. Where single copy is impossible, the module sends its blocks through its own cells and logs a warning.
         */
        ON,

        /** No. */
        OFF,

        /** If this process has a usable copy engine, or if its peers can map its shared blocks. */
        AUTO
    }

    /** The path of the settings in the configuration. */
    public static final String ROOT = SciKeys.ROOT;

    /** The keys that decide which module takes a block. */
    static final List<String> THRESHOLDS = List.of(
            ROOT + ".short.max-block", ROOT + ".short.max-safer-block", ROOT + ".dma.single-copy", ROOT + ".dma.from");

    private static final String AUTO = "auto";
    private static final String UNLIMITED = "unlimited";
    private static final String NONE = "none";
    private static final long MIN_OFFLOAD_BYTES = 1 << 20;
    private static final Path SHARED_MEMORY = Path.of("/dev/shm");

    /**
     * Reads the settings.
     *
     * @param root the whole configuration
     * @throws ConfigurationException if a value is wrong; the message names the key, its origin and the accepted values
     */
    public static SciConfig from(Config root) {
        ConfigReader sci = new ConfigReader(root, ROOT);
        sci.onlyKeys("enabled", "guice-module", "providers", "tuning", "directory", "short", "regular", "dma");
        ConfigReader small = sci.at("short");
        small.onlyKeys("max-block", "max-safer-block", "buffer", "ring");
        ConfigReader regular = sci.at("regular");
        regular.onlyKeys("cell", "cells");
        ConfigReader dma = sci.at("dma");
        dma.onlyKeys("single-copy", "from", "to", "shared-blocks", "offload-from");
        int bufferBytes = small.bytes("buffer", 64, PairSizes.MAX_BUFFER_BYTES);
        small.require("buffer", bufferBytes % Long.BYTES == 0, "a multiple of 8 bytes");
        long minRingBytes = Math.max(1024, RingLayout.minRingBytes(bufferBytes));
        String accepted = "a power of two, " + minRingBytes + " bytes or more for this short.buffer, "
                + PairSizes.MAX_RING_BYTES + " at most";
        int ringBytes = (int) small.bytes("ring", minRingBytes, PairSizes.MAX_RING_BYTES, accepted);
        small.require("ring", Integer.bitCount(ringBytes) == 1, accepted);
        int cellBytes = regular.bytes("cell", OrderedWords.PAGE_BYTES, PairSizes.MAX_CELL_BYTES);
        regular.require("cell", cellBytes % OrderedWords.PAGE_BYTES == 0, "a multiple of 4 KiB");
        return new SciConfig(
                sci.bool("enabled"),
                directory(sci),
                small.bytes("max-block", 0, Integer.MAX_VALUE),
                small.bytes("max-safer-block", 0, Integer.MAX_VALUE),
                bufferBytes,
                ringBytes,
                cellBytes,
                regular.integer("cells", PairSizes.MIN_CELLS, PairSizes.MAX_CELLS),
                singleCopy(dma),
                size(dma, "from", Lender.MIN_BYTES, "a size of " + Lender.MIN_BYTES + " bytes or more"),
                toBytes(dma),
                dma.bool("shared-blocks"),
                offloadFromBytes(dma));
    }

    private static long size(ConfigReader dma, String key, long least, String accepted) {
        return dma.bytes(key, least, Long.MAX_VALUE, accepted);
    }

    private static SingleCopyUse singleCopy(ConfigReader dma) {
        return switch (dma.text("single-copy")) {
            case "on", "true", "yes" -> SingleCopyUse.ON;
            case "off", "false", "no" -> SingleCopyUse.OFF;
            case AUTO -> SingleCopyUse.AUTO;
            case String found -> throw dma.wrong("single-copy", found, "auto, on or off");
        };
    }

    private static long toBytes(ConfigReader dma) {
        return switch (dma.text("to")) {
            case UNLIMITED -> Long.MAX_VALUE;
            case NONE -> 0;
            default ->
                size(
                        dma,
                        "to",
                        Lender.MIN_BYTES,
                        UNLIMITED + ", " + NONE + ", or a size of " + Lender.MIN_BYTES + " bytes or more");
        };
    }

    /** Off by default: on two busy processors the second thread made copies slower. */
    private static long offloadFromBytes(ConfigReader dma) {
        return switch (dma.text("offload-from")) {
            case "off", "false", "no" -> Long.MAX_VALUE;
            default -> size(dma, "offload-from", MIN_OFFLOAD_BYTES, "off, or a size of 1 MiB or more");
        };
    }

    private static Optional<Path> directory(ConfigReader sci) {
        String name = sci.text("directory");
        if (name.equals(AUTO)) {
            return Optional.empty();
        }
        String accepted = "the absolute path of a directory, or \"auto\"";
        try {
            Path path = Path.of(name);
            sci.require("directory", path.isAbsolute(), accepted);
            return Optional.of(path);
        } catch (InvalidPathException _) {
            throw sci.wrong("directory", name, accepted);
        }
    }

    /** Whether a process with this configuration offers {@code sci/dma} to its peers. */
    boolean wantsSingleCopy() {
        return switch (singleCopy) {
            case ON -> true;
            case OFF -> false;
            case AUTO -> sharedBlocks || SingleCopy.availability().on();
        };
    }

    /**
     * Whether the launcher should grant native access for the engine. With "auto" it should not where the system would
     * refuse the engine anyway.
     */
    boolean wantsFlagFor(CopyEngine engine) {
        return switch (singleCopy) {
            case ON -> true;
            case OFF -> false;
            case AUTO -> dmaToBytes > 0 && engine.forbidden().isEmpty();
        };
    }

    /** The smallest block of messages that lies in memory that peers can map; {@link Long#MAX_VALUE} if none does. */
    long sharesFromBytes() {
        return wantsSingleCopy() && sharedBlocks ? dmaFromBytes : Long.MAX_VALUE;
    }

    /**
     * The directory to use: the configured one; else {@code /dev/shm} if it is a writable directory; else {@code
     * java.io.tmpdir}.
     */
    public Path memoryDirectory() {
        return directory.orElseGet(() -> Files.isDirectory(SHARED_MEMORY) && Files.isWritable(SHARED_MEMORY)
                ? SHARED_MEMORY
                : Path.of(System.getProperty("java.io.tmpdir")).toAbsolutePath());
    }
}
