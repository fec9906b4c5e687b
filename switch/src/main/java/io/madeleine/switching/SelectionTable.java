package io.madeleine.switching;

import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.api.SessionException;
import io.madeleine.pmm.spi.BufferMode;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Which transmission module takes a block: a pure function of its size and modes, resolved when the connection is made
 * and the same at both ends, since the receiver repeats it (paper, section 4.2). A block goes to the first module that
 * accepts its size, which may be larger for SAFER blocks: they are copied anyway, and a module with static buffers copies them
 * once. The other modes make no difference with the families there are today.
 *
 * <p>Nothing that only one end knows may enter here.
 *
 * <p>Threading: immutable.
 */
public final class SelectionTable {
    private static final long FNV_OFFSET = 0xcbf29ce484222325L;
    private static final long FNV_PRIME = 0x100000001b3L;

    private final List<TransmissionCapabilities> modules;
    private final long[] upperBounds;
    private final long[] saferBounds;

    private SelectionTable(List<TransmissionCapabilities> modules) {
        this.modules = List.copyOf(modules);
        this.upperBounds = modules.stream()
                .mapToLong(TransmissionCapabilities::maxBlockBytes)
                .toArray();
        this.saferBounds = modules.stream()
                .mapToLong(TransmissionCapabilities::maxSaferBlockBytes)
                .toArray();
    }

    /** The table of one process alone, as it would agree with its like. */
    public static SelectionTable of(List<TransmissionCapabilities> modules) {
        return agree("", modules, modules);
    }

    /**
     * The table of a connection: the modules that both ends have, in the order and with the thresholds of the end with
     * the lower rank, and with the smaller static buffers of the two: a process may have posted its own before it knew of the
     * other. The last module takes blocks of any size.
     *
     * @param channel for the error message
     * @throws SessionException if they have no module in common
     */
    public static SelectionTable agree(
            String channel, List<TransmissionCapabilities> lowerRank, List<TransmissionCapabilities> higherRank) {
        List<TransmissionCapabilities> common = new ArrayList<>();
        for (TransmissionCapabilities module : lowerRank) {
            higherRank.stream()
                    .filter(other -> other.id().equals(module.id()))
                    .findFirst()
                    .ifPresent(other -> common.add(withSmallerBuffer(module, other)));
        }
        if (common.isEmpty()) {
            throw new SessionException(
                    "channel " + channel + ": the two ends have no transmission module in common; the"
                            + " lower rank has " + ids(lowerRank) + ", the higher " + ids(higherRank));
        }
        common.set(common.size() - 1, common.getLast().withMaxBlockBytes(Long.MAX_VALUE));
        return new SelectionTable(common);
    }

    private static TransmissionCapabilities withSmallerBuffer(
            TransmissionCapabilities module, TransmissionCapabilities other) {
        boolean smaller = other.bufferMode() == module.bufferMode() && other.bufferBytes() < module.bufferBytes();
        return smaller ? module.withBufferBytes(other.bufferBytes()) : module;
    }

    private static List<String> ids(List<TransmissionCapabilities> modules) {
        return modules.stream().map(TransmissionCapabilities::id).toList();
    }

    /** The modules, in the order of the connection's links. */
    public List<TransmissionCapabilities> modules() {
        return modules;
    }

    /** The index of the module, and link, that takes a block of this size and these modes. */
    @SuppressWarnings("unused") // the receive mode: see the class comment
    public int select(long bytes, SendMode sendMode, ReceiveMode receiveMode) {
        return first(sendMode == SendMode.SAFER ? saferBounds : upperBounds, bytes);
    }

    private static int first(long[] bounds, long bytes) {
        int link = 0;
        while (bytes > bounds[link]) {
            link++;
        }
        return link;
    }

    /** A number that differs when two tables do, but for one chance in 2^64. */
    public long digest() {
        long hash = FNV_OFFSET;
        for (byte b : toString().getBytes(StandardCharsets.UTF_8)) {
            hash = (hash ^ b) * FNV_PRIME;
        }
        return hash;
    }

    /** The table by size range; SAFER blocks have rows of their own where that makes a difference. */
    public List<Row> rows() {
        List<Row> rows = new ArrayList<>();
        List<Row> others = rows(false);
        for (Row safer : rows(true)) {
            Optional<Row> same = others.stream()
                    .filter(other -> other.takesTheSizesOf(safer))
                    .findFirst();
            same.ifPresent(others::remove);
            rows.add(same.map(Row::forAnyModes).orElse(safer));
        }
        rows.addAll(others);
        rows.sort(Comparator.comparingLong(Row::fromBytes)); // stable
        return rows;
    }

    private List<Row> rows(boolean safer) {
        long[] bounds = safer ? saferBounds : upperBounds;
        List<Row> rows = new ArrayList<>();
        long from = 0;
        for (int link = 0; link < bounds.length; link++) {
            if (bounds[link] >= from) {
                TransmissionCapabilities module = modules.get(link);
                String copied = safer && module.bufferMode() == BufferMode.DYNAMIC ? "copied aside, then " : "";
                rows.add(new Row(
                        from,
                        bounds[link],
                        safer ? "SAFER" : "LATER, CHEAPER",
                        module.id(),
                        copied + bufferManagement(module)));
                from = bounds[link] == Long.MAX_VALUE ? Long.MAX_VALUE : bounds[link] + 1;
            }
        }
        return rows;
    }

    /**
     * A line of the table.
     *
     * @param fromBytes the smallest block
     * @param toBytes the largest block, {@link Long#MAX_VALUE} for any
     * @param modes which modes
     * @param moduleId the transmission module
     * @param bufferManagement what becomes of the block in the buffer management module
     */
    public record Row(long fromBytes, long toBytes, String modes, String moduleId, String bufferManagement) {
        private boolean takesTheSizesOf(Row other) {
            return fromBytes == other.fromBytes && toBytes == other.toBytes && moduleId.equals(other.moduleId);
        }

        private Row forAnyModes() {
            return new Row(fromBytes, toBytes, "any modes", moduleId, bufferManagement);
        }
    }

    /** Why a block goes where it goes, in sentences. */
    public String explain(long bytes, SendMode sendMode, ReceiveMode receiveMode) {
        int link = select(bytes, sendMode, receiveMode);
        TransmissionCapabilities module = modules.get(link);
        StringBuilder text = new StringBuilder();
        text.append(module.id()).append(": ").append(module.summary()).append(".\n");
        for (int i = 0; i < link; i++) {
            text.append("  not ")
                    .append(modules.get(i).id())
                    .append(
                            sendMode == SendMode.SAFER
                                    ? ", which takes SAFER blocks of up to "
                                    : ", which takes up to ")
                    .append(sendMode == SendMode.SAFER ? saferBounds[i] : upperBounds[i])
                    .append(" bytes.\n");
        }
        text.append("  ").append(bufferManagement(module)).append(".\n");
        text.append(
                switch (sendMode) {
                    case SAFER ->
                        module.bufferMode() == BufferMode.STATIC
                                ? "  SAFER: may be changed after pack; it is copied into those buffers at once.\n"
                                : "  SAFER: may be changed after pack; it is copied first.\n";
                    case LATER ->
                        "  LATER: read at endPacking; this block and all behind it are recorded and replayed there.\n";
                    case CHEAPER -> "  CHEAPER: stays untouched until endPacking.\n";
                });
        text.append(
                switch (receiveMode) {
                    case EXPRESS -> "  EXPRESS: unpack waits for it; on symmetric links the group ends with it.\n";
                    case CHEAPER -> "  CHEAPER: extracted at the latest at endUnpacking.\n";
                });
        return text.toString();
    }

    private static String bufferManagement(TransmissionCapabilities module) {
        String policy = switch (module.bufferMode()) {
            case STATIC -> "static buffers of " + module.bufferBytes() + " bytes, filled by copying";
            case DYNAMIC ->
                switch (module.linkMode()) {
                    case BUFFER -> "dynamic buffers, each block sent by itself without a copy";
                    case BUFFER_GROUP -> "dynamic buffers, blocks gathered without a copy";
                };
        };
        return policy
                + switch (module.aggregation()) {
                    case SYMMETRIC -> ", symmetric";
                    case ASYMMETRIC -> ", asymmetric: the receiver extracts parts";
                };
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (TransmissionCapabilities module : modules) {
            text.append(module.id())
                    .append("<=")
                    .append(module.maxBlockBytes())
                    .append(" SAFER<=")
                    .append(module.maxSaferBlockBytes())
                    .append(' ')
                    .append(module.bufferMode())
                    .append(' ')
                    .append(module.linkMode())
                    .append(' ')
                    .append(module.aggregation())
                    .append(' ')
                    .append(module.bufferBytes())
                    .append(';');
        }
        return text.toString();
    }
}
