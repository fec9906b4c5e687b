package io.madeleine.testkit;

import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import java.util.List;

/**
 * The in-memory family "loop": connects processes that are in truth one. It is as awkward as asked, and checks that the
 * layers above keep the rules. Who writes a network copies {@link io.madeleine.testkit.heap.HeapPmm} instead.
 *
 * <p>Threading: as {@link ProtocolModule} says.
 */
public final class LoopPmm implements ProtocolModule {
    private final LoopFabric fabric;
    private final List<LoopTm> tms;

    /** A driver for one process, over the medium it shares with the others. */
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
