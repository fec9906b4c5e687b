package io.madeleine.testkit;

import io.madeleine.pmm.faults.Faults;
import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.Availability;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.pmm.spi.Reactor;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import java.util.List;
import java.util.Optional;

/** A driver whose adapters have faults, as a session makes them. */
record FaultyPmm(ProtocolModule driver, Faults faults) implements ProtocolModule {
    @Override
    public String name() {
        return driver.name();
    }

    @Override
    public Availability availability() {
        return driver.availability();
    }

    @Override
    public List<TransmissionCapabilities> transmissionModules() {
        return driver.transmissionModules();
    }

    @Override
    public List<String> adapterNames() {
        return driver.adapterNames();
    }

    @Override
    public Optional<Reactor> offerReactor() {
        return driver.offerReactor();
    }

    @Override
    public Adapter openAdapter(String name, ProcessContext context) {
        return faults.around(
                driver.openAdapter(name, context), (int) context.self().id(), peer -> (int) peer.id());
    }
}
