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
 * Selects the transmission module for a block: a pure function of the block's size and modes. The two ends resolve it
 * when they make the connection, and it is the same at both, since the receiver repeats the selection (paper, section
 * 4.2). A block goes to the first module that accepts its size. The bound may be higher for SAFER blocks: they are
 * copied anyway, and a module with static buffers copies them once. The other modes make no difference to the present
 * modules.
 *
 * <p>The selection must not depend on anything that only one end knows.
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

    /** The table of one process alone, as two processes with these modules would agree on it. */
    public static SelectionTable of(List<TransmissionCapabilities> modules) {
        return agree("", modules, modules);
    }

    /**
     * The table of a connection: the modules that both ends have, in the order and with the thresholds of the end with
     * the lower rank. Static buffers have the smaller of the two sizes, since a process may have posted its own before
     * it knew the other's. The last module takes blocks of any size.
     *
     * @param channel the channel's name, for the error message
     * @throws SessionException if the ends have no module in common
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
                            + " lower rank has " + ids(lowerRank) + ", the higher rank has " + ids(higherRank));
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

    /** The index of the module, and of its link, that takes a block of this size and these modes. */
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

    /** A 64-bit hash of the table; different tables have the same digest with a probability of 2^-64. */
    public long digest() {
        long hash = FNV_OFFSET;
        for (byte b : toString().getBytes(StandardCharsets.UTF_8)) {
            hash = (hash ^ b) * FNV_PRIME;
        }
        return hash;
    }

    /** The table by size range; SAFER blocks have rows of their own where they differ. */
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
     * A row of the table.
     *
     * @param fromBytes the smallest block
     * @param toBytes the largest block, {@link Long#MAX_VALUE} for no bound
     * @param modes the modes to which the row applies
     * @param moduleId the transmission module
     * @param bufferManagement how the buffer management module treats the block
     */
    public record Row(long fromBytes, long toBytes, String modes, String moduleId, String bufferManagement) {
        private boolean takesTheSizesOf(Row other) {
            return fromBytes == other.fromBytes && toBytes == other.toBytes && moduleId.equals(other.moduleId);
        }

        private Row forAnyModes() {
            return new Row(fromBytes, toBytes, "any modes", moduleId, bufferManagement);
        }
    }

    /** Explains the selection for a block, in sentences. */
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
