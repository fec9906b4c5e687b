package io.madeleine.testkit.messages;

import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.testkit.LoopTm;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * What the contract tests of messages are run over.
 *
 * @param name for reports
 * @param network makes a fresh network: for each rank a driver
 * @param selfDescribed whether blocks are preceded by their descriptions
 */
public record MessageSetup(String name, Supplier<Network> network, boolean selfDescribed) {
    private static final boolean THOROUGH = Boolean.getBoolean("thorough");

    /** A fresh network: drivers by rank, or modules in memory. */
    public sealed interface Network {
        /** A network of a real family. */
        record OfDrivers(IntFunction<ProtocolModule> driverOfRank) implements Network {}

        /** A network in memory. */
        record OfLoop(List<LoopTm> tms) implements Network {}
    }

    /** Over drivers of a family, with and without descriptions. */
    public static Stream<MessageSetup> of(String name, Supplier<IntFunction<ProtocolModule>> drivers) {
        return both(name, () -> new Network.OfDrivers(drivers.get()));
    }

    /** Over modules in memory, with and without descriptions. */
    public static Stream<MessageSetup> ofLoop(String name, LoopTm... tms) {
        return both(name, () -> new Network.OfLoop(List.of(tms)));
    }

    private static Stream<MessageSetup> both(String name, Supplier<Network> network) {
        return Stream.of(
                new MessageSetup(name, network, false), new MessageSetup(name + ", self-described", network, true));
    }

    /** Without descriptions only, unless tests may take long. */
    private static Stream<MessageSetup> plain(String name, LoopTm... tms) {
        Stream<MessageSetup> both = ofLoop(name, tms);
        return THOROUGH ? both : both.filter(setup -> !setup.selfDescribed);
    }

    /**
     * The modules in memory that between them have every combination of buffers, grouping and symmetry. Descriptions are
     * blocks like others to what carries them: they go through each kind of buffer once, and cut into crumbs.
     */
    public static Stream<MessageSetup> loops() {
        LoopTm shortAsymmetric = LoopTm.withStaticBuffers("short", AggregationMode.ASYMMETRIC, 112, 1024);
        LoopTm shortSymmetric = LoopTm.withStaticBuffers("short", AggregationMode.SYMMETRIC, 1024, 1024);
        LoopTm cells = LoopTm.withStaticBuffers("cells", AggregationMode.SYMMETRIC, Long.MAX_VALUE, 8192);
        LoopTm eager = LoopTm.withDynamicBuffers("eager", LinkMode.BUFFER, AggregationMode.SYMMETRIC, 8192);
        LoopTm group =
                LoopTm.withDynamicBuffers("group", LinkMode.BUFFER_GROUP, AggregationMode.SYMMETRIC, Long.MAX_VALUE);
        LoopTm stream =
                LoopTm.withDynamicBuffers("stream", LinkMode.BUFFER_GROUP, AggregationMode.ASYMMETRIC, Long.MAX_VALUE);
        return Stream.of(
                        plain("stream", stream),
                        plain(
                                "short+posting stream",
                                shortAsymmetric,
                                stream.ring(100_000).posting(1)),
                        ofLoop("symmetric short+cells", shortSymmetric.slots(3), cells.slots(4)),
                        plain("eager+symmetric group", eager.ring(5000), group.ring(20_000)),
                        ofLoop(
                                "short+eager+late stream in crumbs",
                                shortAsymmetric.slots(2).delayed(2),
                                eager.delivering(701),
                                stream.ring(30_011)
                                        .accepting(10_007)
                                        .delivering(9001)
                                        .delayed(5)))
                .flatMap(setups -> setups);
    }

    LocalSessions.Builder sessions(int size) {
        LocalSessions.Builder builder = LocalSessions.of(size).selfDescribed(selfDescribed);
        switch (network.get()) {
            case Network.OfDrivers(var driverOfRank) -> builder.network("network", driverOfRank);
            case Network.OfLoop(var tms) -> builder.loop("network", tms);
        }
        return builder;
    }

    /** Whether it is a real network, on which more is tried. */
    boolean isReal() {
        return network.get() instanceof Network.OfDrivers;
    }

    /** Whether memory of the Java heap, which is posted, takes other ways than that of arenas. */
    boolean postsHeapMemory() {
        return network.get() instanceof Network.OfLoop(var tms) && tms.stream().anyMatch(tm -> tm.postingSeed() != 0);
    }

    @Override
    public String toString() {
        return name;
    }
}
