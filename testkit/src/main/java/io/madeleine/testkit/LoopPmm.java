package io.madeleine.testkit;

import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import java.util.List;

/**
 * The in-memory family "loop". It connects processes that are simulated in one JVM, is as awkward as a test configures
 * it, and checks that the layers above keep the rules. Authors of a network copy
 * {@link io.madeleine.testkit.heap.HeapPmm} instead.
 *
 * <p>Threading: as {@link ProtocolModule}.
 */
public final class LoopPmm implements ProtocolModule {
    private final LoopFabric fabric;
    private final List<LoopTm> tms;

    /** Creates the driver of one process; all processes of a test share the fabric. */
    public LoopPmm(LoopFabric fabric, List<LoopTm> tms) {
        this.fabric = fabric;
        this.tms = List.copyOf(tms);
    }

    @Override
    public String name() {
        return "loop";
    }

    @Override
    public Availability availability() {
        return Availability.on("queues in the memory of this process");
    }

    @Override
    public List<TransmissionCapabilities> transmissionModules() {
        return tms.stream().map(LoopTm::capabilities).toList();
    }

    @Override
    public List<String> adapterNames() {
        return List.of("default");
    }

    @Override
    public Adapter openAdapter(String name, ProcessContext context) {
        return new LoopAdapter(fabric, name, tms, context);
    }
}
