package io.madeleine.switching;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.api.SessionException;
import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.BufferMode;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SelectionTableTest {
    private static final TransmissionCapabilities LARGE = new TransmissionCapabilities(
            "x/large", BufferMode.DYNAMIC, LinkMode.BUFFER_GROUP, AggregationMode.ASYMMETRIC, Long.MAX_VALUE, 0, "all");

    private static TransmissionCapabilities small(long maxBlockBytes, int bufferBytes) {
        return new TransmissionCapabilities(
                "x/small",
                BufferMode.STATIC,
                LinkMode.BUFFER,
                AggregationMode.ASYMMETRIC,
                maxBlockBytes,
                bufferBytes,
                "small ones");
    }

    private static int select(SelectionTable table, long bytes) {
        return table.select(bytes, SendMode.CHEAPER, ReceiveMode.CHEAPER);
    }

    @Test
    void shouldTakeTheThresholdOfTheLowerRankAndTheSmallerBufferOfBoth() {
        List<TransmissionCapabilities> one = List.of(small(512, 1024), LARGE);
        List<TransmissionCapabilities> other = List.of(small(2048, 256), LARGE);
        SelectionTable table = SelectionTable.agree("main", one, other);
        assertEquals(512, table.modules().getFirst().maxBlockBytes());
        assertEquals(256, table.modules().getFirst().bufferBytes());
        SelectionTable turned = SelectionTable.agree("main", other, one);
        assertEquals(2048, turned.modules().getFirst().maxBlockBytes());
        assertEquals(256, turned.modules().getFirst().bufferBytes());
        assertNotEquals(table.digest(), turned.digest());
    }

    @Test
    void shouldGiveSaferBlocksToStaticBuffersFurtherUp() {
        SelectionTable table = SelectionTable.of(List.of(small(512, 1024).withMaxSaferBlockBytes(4096), LARGE));
        assertEquals(0, table.select(4096, SendMode.SAFER, ReceiveMode.CHEAPER));
        assertEquals(1, table.select(4097, SendMode.SAFER, ReceiveMode.EXPRESS));
        assertEquals(1, table.select(4096, SendMode.CHEAPER, ReceiveMode.CHEAPER));
        assertEquals(1, table.select(4096, SendMode.LATER, ReceiveMode.CHEAPER));
        assertEquals(1, table.select(Long.MAX_VALUE, SendMode.SAFER, ReceiveMode.CHEAPER));
    }

    @Test
    void shouldAgreeOnTheThresholdForSaferBlocksOfTheLowerRank() {
        List<TransmissionCapabilities> one = List.of(small(512, 1024).withMaxSaferBlockBytes(4096), LARGE);
        List<TransmissionCapabilities> other = List.of(small(512, 1024), LARGE);
        SelectionTable table = SelectionTable.agree("main", one, other);
        SelectionTable turned = SelectionTable.agree("main", other, one);
        assertEquals(0, table.select(4096, SendMode.SAFER, ReceiveMode.CHEAPER));
        assertEquals(1, turned.select(4096, SendMode.SAFER, ReceiveMode.CHEAPER));
        assertNotEquals(table.digest(), turned.digest());
    }

    @Test
    void shouldTakeSaferBlocksOfAnySizeByTheLastModule() {
        List<TransmissionCapabilities> alone = List.of(small(512, 1024).withMaxSaferBlockBytes(4096));
        assertEquals(0, SelectionTable.of(alone).select(4097, SendMode.SAFER, ReceiveMode.CHEAPER));
    }

    @Test
    void shouldListTheSizesOfEachModeWhereItMakesADifference() {
        SelectionTable table = SelectionTable.of(List.of(small(512, 1024).withMaxSaferBlockBytes(4096), LARGE));
        assertEquals(
                List.of(
                        "0 to 4096 SAFER: x/small",
                        "0 to 512 LATER, CHEAPER: x/small",
                        "513 to " + Long.MAX_VALUE + " LATER, CHEAPER: x/large",
                        "4097 to " + Long.MAX_VALUE + " SAFER: x/large"),
                lines(table));
        assertEquals(
                List.of("0 to 512 any modes: x/small", "513 to " + Long.MAX_VALUE + " any modes: x/large"),
                lines(SelectionTable.of(List.of(small(512, 1024), LARGE))));
    }

    private static List<String> lines(SelectionTable table) {
        return table.rows().stream()
                .map(row -> row.fromBytes() + " to " + row.toBytes() + " " + row.modes() + ": " + row.moduleId())
                .toList();
    }

    @Test
    void shouldExplainASaferBlockByItsOwnThreshold() {
        SelectionTable table = SelectionTable.of(List.of(small(512, 1024).withMaxSaferBlockBytes(4096), LARGE));
        String large = table.explain(5000, SendMode.SAFER, ReceiveMode.CHEAPER);
        assertTrue(large.contains("not x/small, which takes SAFER blocks of up to 4096 bytes"), large);
        assertTrue(large.contains("it is copied first"), large);
        String small = table.explain(4000, SendMode.SAFER, ReceiveMode.CHEAPER);
        assertTrue(small.contains("copied into those buffers at once"), small);
    }

    @Test
    void shouldGiveABlockToTheFirstModuleThatTakesItsSize() {
        SelectionTable table = SelectionTable.of(List.of(small(512, 1024), LARGE));
        assertEquals(0, select(table, 0));
        assertEquals(0, select(table, 512));
        assertEquals(1, select(table, 513));
        assertEquals(1, select(table, Long.MAX_VALUE));
    }

    /** The same as trying the modules one after the other, for any bounds, also for those that lie in disorder. */
    @Test
    void shouldSelectTheFirstModuleWhoseBoundIsNotExceededWhateverTheBounds() {
        Random random = new Random(3);
        for (int round = 0; round < 300; round++) {
            List<TransmissionCapabilities> modules = new ArrayList<>();
            for (int i = random.nextInt(4); i >= 0; i--) {
                modules.add(module("x/" + i, random.nextInt(6)).withMaxSaferBlockBytes(random.nextInt(6)));
            }
            SelectionTable table = SelectionTable.of(modules);
            for (long bytes = 0; bytes < 8; bytes++) {
                for (SendMode mode : SendMode.values()) {
                    int expected = expected(table.modules(), bytes, mode);
                    assertEquals(expected, table.select(bytes, mode, ReceiveMode.EXPRESS), () -> "" + table);
                    assertEquals(1, rowsFor(table, bytes, mode, modules.get(expected)), () -> "" + table.rows());
                    assertTrue(
                            table.explain(bytes, mode, ReceiveMode.CHEAPER)
                                    .startsWith(modules.get(expected).id() + ": "),
                            () -> "" + table);
                }
            }
        }
    }

    private static TransmissionCapabilities module(String id, long maxBlockBytes) {
        return new TransmissionCapabilities(
                id, BufferMode.STATIC, LinkMode.BUFFER, AggregationMode.SYMMETRIC, maxBlockBytes, 64, "some");
    }

    private static int expected(List<TransmissionCapabilities> modules, long bytes, SendMode mode) {
        for (int i = 0; i < modules.size(); i++) {
            TransmissionCapabilities each = modules.get(i);
            if (bytes <= (mode == SendMode.SAFER ? each.maxSaferBlockBytes() : each.maxBlockBytes())) {
                return i;
            }
        }
        throw new AssertionError("the last one takes any size");
    }

    /** How many rows say that this module takes such blocks. */
    private static long rowsFor(SelectionTable table, long bytes, SendMode mode, TransmissionCapabilities module) {
        return table.rows().stream()
                .filter(row -> row.fromBytes() <= bytes && bytes <= row.toBytes())
                .filter(row -> row.modes().equals("any modes") || row.modes().contains(mode.name()))
                .filter(row -> row.moduleId().equals(module.id()))
                .count();
    }

    @Test
    void shouldHaveAnotherDigestForEachPropertyThatDiffers() {
        TransmissionCapabilities x = small(512, 1024);
        List<List<TransmissionCapabilities>> tables = List.of(
                List.of(x, LARGE),
                List.of(x.withMaxBlockBytes(513), LARGE),
                List.of(x.withMaxSaferBlockBytes(513), LARGE),
                List.of(x.withBufferBytes(1025), LARGE),
                List.of(changed("x/smalk", x.bufferMode(), x.linkMode(), x.aggregation()), LARGE),
                List.of(changed(x.id(), BufferMode.DYNAMIC, x.linkMode(), x.aggregation()), LARGE),
                List.of(changed(x.id(), x.bufferMode(), LinkMode.BUFFER_GROUP, x.aggregation()), LARGE),
                List.of(changed(x.id(), x.bufferMode(), x.linkMode(), AggregationMode.SYMMETRIC), LARGE),
                List.of(LARGE.withMaxBlockBytes(9), x),
                List.of(x),
                List.of(LARGE));
        Set<Long> digests = new HashSet<>();
        tables.forEach(each -> digests.add(SelectionTable.of(each).digest()));
        assertEquals(tables.size(), digests.size());
        assertEquals(
                SelectionTable.of(tables.getFirst()).digest(),
                SelectionTable.agree("main", tables.getFirst(), tables.getFirst())
                        .digest());
    }

    /** FNV-1a of 64 bits, by its definition. Processes of the same release compare it, on whatever machine they are. */
    @Test
    void shouldDigestItsTextByFnv1a() {
        SelectionTable table = SelectionTable.of(List.of(small(512, 1024), LARGE));
        BigInteger hash = new BigInteger("14695981039346656037");
        for (byte each : table.toString().getBytes(StandardCharsets.US_ASCII)) {
            hash = hash.xor(BigInteger.valueOf(each))
                    .multiply(BigInteger.valueOf(1099511628211L))
                    .mod(BigInteger.TWO.pow(Long.SIZE));
        }
        assertEquals(hash.longValue(), table.digest());
    }

    private static TransmissionCapabilities changed(String id, BufferMode buffers, LinkMode link, AggregationMode how) {
        int bufferBytes = buffers == BufferMode.STATIC ? 1024 : 0;
        return new TransmissionCapabilities(id, buffers, link, how, 512, bufferBytes, "small ones");
    }

    @Test
    void shouldNotCompareTheBuffersOfAStaticAndADynamicModule() {
        TransmissionCapabilities mine = small(512, 1024);
        TransmissionCapabilities others = changed(mine.id(), BufferMode.DYNAMIC, mine.linkMode(), mine.aggregation());
        SelectionTable table = SelectionTable.agree("main", List.of(mine, LARGE), List.of(others, LARGE));
        assertEquals(1024, table.modules().getFirst().bufferBytes());
    }

    @Test
    void shouldSayWhatBothEndsHaveIfTheyHaveNothingInCommon() {
        String text = assertThrows(
                        SessionException.class,
                        () -> SelectionTable.agree("main", List.of(small(1, 2)), List.of(LARGE)))
                .getMessage();
        assertEquals(
                "channel main: the two ends have no transmission module in common; the lower rank has [x/small], the"
                        + " higher rank has [x/large]",
                text);
    }

    @Test
    void shouldExplainEachModeOnEachKindOfBuffers() {
        SelectionTable table = SelectionTable.of(List.of(
                small(10, 1024),
                changed("x/each", BufferMode.DYNAMIC, LinkMode.BUFFER, AggregationMode.SYMMETRIC)
                        .withMaxBlockBytes(20),
                LARGE));
        assertEquals(
                "x/small: small ones.\n"
                        + "  static buffers of 1024 bytes, filled by copying, asymmetric: the receiver extracts parts.\n"
                        + "  SAFER: may be changed after pack; it is copied into those buffers at once.\n"
                        + "  EXPRESS: unpack waits for it; on symmetric links the group ends with it.\n",
                table.explain(10, SendMode.SAFER, ReceiveMode.EXPRESS));
        assertEquals(
                "x/each: small ones.\n"
                        + "  not x/small, which takes up to 10 bytes.\n"
                        + "  dynamic buffers, each block sent by itself without a copy, symmetric.\n"
                        + "  CHEAPER: stays untouched until endPacking.\n"
                        + "  CHEAPER: extracted at the latest at endUnpacking.\n",
                table.explain(11, SendMode.CHEAPER, ReceiveMode.CHEAPER));
        assertEquals(
                "x/large: all.\n"
                        + "  not x/small, which takes up to 10 bytes.\n"
                        + "  not x/each, which takes up to 20 bytes.\n"
                        + "  dynamic buffers, blocks gathered without a copy, asymmetric: the receiver extracts parts.\n"
                        + "  LATER: read at endPacking; this block and all behind it are recorded and replayed there.\n"
                        + "  CHEAPER: extracted at the latest at endUnpacking.\n",
                table.explain(21, SendMode.LATER, ReceiveMode.CHEAPER));
        assertEquals(
                List.of(
                        "filled by copying",
                        "each block sent by itself without a copy",
                        "blocks gathered without a copy"),
                table.rows().stream()
                        .map(row -> row.bufferManagement().split(", ")[1])
                        .toList());
    }

    @Test
    void shouldSayInItsRowsWhereSaferBlocksAreCopiedAside() {
        SelectionTable table = SelectionTable.of(List.of(small(512, 1024).withMaxSaferBlockBytes(4096), LARGE));
        assertEquals(
                List.of("SAFER false", "LATER, CHEAPER false", "LATER, CHEAPER false", "SAFER true"),
                table.rows().stream()
                        .map(row -> row.modes() + " " + row.bufferManagement().startsWith("copied aside, then "))
                        .toList());
    }
}
