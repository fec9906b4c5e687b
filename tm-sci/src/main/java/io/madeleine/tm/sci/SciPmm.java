package io.madeleine.tm.sci;

import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.BufferMode;
import io.madeleine.pmm.spi.CopyEngine;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.tm.sci.files.SessionDirectory;
import io.madeleine.tm.sci.link.SciCellLink;
import io.madeleine.tm.sci.link.SciShortLink;
import io.madeleine.tm.sci.link.SingleCopy;
import io.madeleine.tm.sci.memory.SciKeys;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The driver of shared memory inside one host. The paper's SCI driver used memory that several hosts mapped (section
 * 5.2.3); this one uses memory that several processes of a host map, with the ideas of the Nemesis paper.
 *
 * <p>It has up to three transmission modules: {@code sci/short} for small blocks, {@code sci/dma} for large blocks
 * where a process can read its peer's memory, and {@code sci/regular} for all other blocks.
 *
 * <p>Threading: thread-safe, immutable.
 */
public final class SciPmm implements ProtocolModule {
    private static final System.Logger LOGGER = System.getLogger("io.madeleine.tm.sci");

    /** The name of the driver. */
    public static final String NAME = SciKeys.NAME;

    private static final String ADAPTER = "host";

    private final SciConfig config;

    /** Creates the driver. */
    public SciPmm(SciConfig config) {
        this.config = config;
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Availability availability() {
        if (!config.enabled()) {
            return Availability.off("switched off by " + SciConfig.ROOT + ".enabled");
        }
        Path directory = config.memoryDirectory();
        if (!Files.isDirectory(directory) || !Files.isWritable(directory)) {
            if (config.directory().isPresent()) { // nobody names a directory and wants to do without it
                LOGGER.log(
                        System.Logger.Level.WARNING,
                        () -> "sci is off: " + directory + ", given by " + SciConfig.ROOT
                                + ".directory, is not a writable directory");
            }
            return Availability.off(
                    directory + " is not a writable directory", "give one with " + SciConfig.ROOT + ".directory");
        }
        if (!directory.getFileSystem().supportedFileAttributeViews().contains("unix")) {
            return Availability.off(
                    "the file system of " + directory + " has no owners and modes (POSIX permissions), which"
                            + " protect the memory from other users",
                    "give a directory on another file system with " + SciConfig.ROOT + ".directory");
        }
        try (ServerSocketChannel _ = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            return Availability.on("shared memory of this host in " + directory).with(details(directory));
        } catch (IOException | UnsupportedOperationException e) {
            return Availability.off(
                    "this system has no Unix-domain sockets, which sci needs to wake processes: " + e.getMessage());
        } catch (InternalError | LinkageError e) { // The JDK throws these when it cannot open files of its own.
            return Availability.off("sci cannot create a Unix-domain socket, which it needs to wake processes: " + e);
        }
    }

    private List<String> details(Path directory) {
        Availability engine = SingleCopy.availability();
        return List.of(
                room(directory),
                config.singleCopy() == SciConfig.SingleCopyUse.OFF
                        ? "no single copy: switched off by " + SciConfig.ROOT + ".dma.single-copy"
                        : engine.on() ? engine.reason() : "no single copy of unshared memory: " + engine.text());
    }

    private static String room(Path directory) {
        try {
            return "room in " + directory + ": "
                    + (Files.getFileStore(directory).getUsableSpace() >> 20) + " MiB";
        } catch (IOException e) {
            return "room in " + directory + ": unknown, " + e.getMessage();
        }
    }

    @Override
    public List<TransmissionCapabilities> transmissionModules() {
        TransmissionCapabilities small = new TransmissionCapabilities(
                SciShortLink.ID,
                BufferMode.STATIC,
                LinkMode.BUFFER,
                AggregationMode.ASYMMETRIC,
                config.shortMaxBlockBytes(),
                Math.max(config.shortMaxBlockBytes(), config.shortMaxSaferBlockBytes()),
                config.shortBufferBytes(),
                "small blocks, copied into a ring of records in shared memory");
        boolean singleCopy = config.wantsSingleCopy();
        TransmissionCapabilities regular = dynamic(
                SciCellLink.REGULAR,
                singleCopy ? config.dmaFromBytes() - 1 : Long.MAX_VALUE,
                "blocks of any size, streamed through " + cells());
        return singleCopy
                ? List.of(small, regular, dynamic(SciCellLink.DMA, Long.MAX_VALUE, dmaSummary()))
                : List.of(small, regular);
    }

    @Override
    public List<String> thresholdKeys() {
        return SciConfig.THRESHOLDS;
    }

    private static TransmissionCapabilities dynamic(String id, long maxBlockBytes, String summary) {
        return new TransmissionCapabilities(
                id, BufferMode.DYNAMIC, LinkMode.BUFFER_GROUP, AggregationMode.ASYMMETRIC, maxBlockBytes, 0, summary);
    }

    private String cells() {
        return config.regularCells() + " cells of " + config.regularCellBytes() / 1024 + " KiB in shared memory";
    }

    private String dmaSummary() {
        Availability engine = SingleCopy.availability();
        StringBuilder summary = new StringBuilder("large blocks, ");
        if (config.sharedBlocks()) {
            summary.append("those of Session.allocate read in place, others ");
        }
        if (!engine.on()) {
            summary.append("without single copy (").append(engine.text()).append(") ");
        } else if (config.dmaToBytes() > 0) {
            summary.append("by ")
                    .append(engine.reason())
                    .append(
                            config.dmaToBytes() == Long.MAX_VALUE
                                    ? ""
                                    : " up to " + config.dmaToBytes() / 1024 + " KiB")
                    .append(" where the peer's memory may be read, else ");
        }
        return summary.append("through ").append(cells()).toString();
    }

    @Override
    public List<String> nativeModules() {
        return SingleCopy.engine()
                .filter(config::wantsFlagFor)
                .map(CopyEngine::nativeModules)
                .orElse(List.of());
    }

    @Override
    public List<String> adapterNames() {
        return List.of(ADAPTER);
    }

    @Override
    public Adapter openAdapter(String name, ProcessContext context) {
        return SciAdapter.open(name, config, context);
    }

    @Override
    public void removeLeftovers() {
        SessionDirectory.sweep(config.memoryDirectory());
    }
}
