package io.madeleine.testkit.messages;

import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.BufferMode;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.testkit.LoopTm;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * The network over which the contract tests of messages run.
 *
 * @param name the name in reports
 * @param network makes a fresh network
 * @param selfDescribed whether a descriptor precedes each block
 */
public record MessageSetup(String name, Supplier<Network> network, boolean selfDescribed) {
    private static final boolean THOROUGH = Boolean.getBoolean("thorough");

    /** A fresh network: a driver for each rank, or modules in memory. */
    public sealed interface Network {
        /** A network of a real family. */
        record OfDrivers(IntFunction<ProtocolModule> driverOfRank) implements Network {}

        /** A network in memory. */
        record OfLoop(List<LoopTm> tms) implements Network {}
    }

    /**
     * A set-up over the drivers of a family; one with descriptors, too, if tests may take long. To a driver,
     * descriptors are blocks like others, and the set-ups in memory have them in each kind of buffer.
     */
    public static Stream<MessageSetup> of(String name, Supplier<IntFunction<ProtocolModule>> drivers) {
        return plain(both(name, () -> new Network.OfDrivers(drivers.get())));
    }

    /** Set-ups over modules in memory, with and without descriptors. */
    public static Stream<MessageSetup> ofLoop(String name, LoopTm... tms) {
        return both(name, () -> new Network.OfLoop(List.of(tms)));
    }

    private static Stream<MessageSetup> both(String name, Supplier<Network> network) {
        return Stream.of(
                new MessageSetup(name, network, false), new MessageSetup(name + ", self-described", network, true));
    }

    /** The set-up without descriptors; the one with descriptors, too, if tests may take long. */
    private static Stream<MessageSetup> plain(Stream<MessageSetup> both) {
        return THOROUGH ? both : both.filter(setup -> !setup.selfDescribed);
    }

    /**
     * Modules in memory that together cover every combination of buffers, grouping and symmetry. To a module,
     * descriptors are blocks like others; so they go through each kind of buffer only once, and once in small parts.
     * A stream alone, which the drivers of the heap and of tcp have, too, has its turn if tests may take long.
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
                        THOROUGH ? ofLoop("stream", stream) : Stream.<MessageSetup>empty(),
                        plain(ofLoop(
                                "short+posting stream",
                                shortAsymmetric,
                                stream.ring(100_000).posting(1))),
                        ofLoop("symmetric short+cells", shortSymmetric.slots(3), cells.slots(4)),
                        plain(ofLoop("eager+symmetric group", eager.ring(5000), group.ring(20_000))),
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

    /** Whether it is a real network, on which more cases are tested. */
    boolean isReal() {
        return network.get() instanceof Network.OfDrivers;
    }

    /** Whether heap memory, which is posted, is sent differently from memory of arenas. */
    boolean postsHeapMemory() {
        return network.get() instanceof Network.OfLoop(var tms) && tms.stream().anyMatch(tm -> tm.postingSeed() != 0);
    }

    /**
     * Whether small blocks travel in static buffers that leave when they are full or the message ends: a short message
     * is one packet.
     */
    boolean beginsWithStaticBuffers() {
        return network.get() instanceof Network.OfLoop(var tms)
                && tms.getFirst().capabilities().bufferMode() == BufferMode.STATIC
                && tms.getFirst().capabilities().aggregation() == AggregationMode.ASYMMETRIC;
    }

    @Override
    public String toString() {
        return name;
    }
}
