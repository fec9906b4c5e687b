package io.madeleine.testkit.heap;

import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.BufferMode;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import java.util.List;

/**
 * The family "heap": one transmission module, which takes blocks of any size in groups.
 *
 * <p>Threading: as {@link ProtocolModule}.
 */
public final class HeapPmm implements ProtocolModule {
    /** Creates the driver of one process. The processes of one JVM can reach each other. */
    public HeapPmm() {}

    @Override
    public String name() {
        return "heap";
    }

    @Override
    public Availability availability() {
        return Availability.on("pipes in the heap of this process");
    }

    @Override
    public List<TransmissionCapabilities> transmissionModules() {
        return List.of(new TransmissionCapabilities(
                "heap/pipe",
                BufferMode.DYNAMIC,
                LinkMode.BUFFER_GROUP,
                AggregationMode.ASYMMETRIC,
                Long.MAX_VALUE,
                0,
                "a pipe of " + HeapPipe.CAPACITY_BYTES + " bytes"));
    }

    @Override
    public List<String> adapterNames() {
        return List.of("default");
    }

    @Override
    public Adapter openAdapter(String name, ProcessContext context) {
        return new HeapAdapter(name, context);
    }
}
