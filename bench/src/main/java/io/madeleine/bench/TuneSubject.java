package io.madeleine.bench;

import io.madeleine.bench.experiment.Variation;
import io.madeleine.bench.measure.Conditions;
import io.madeleine.bench.measure.Pattern;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A mechanism between two processors.
 *
 * <p>Threading: as {@link io.madeleine.bench.measure.Subject}.
 */
final class TuneSubject extends ProtocolSubject {
    private final Mechanism mechanism;

    private TuneSubject(Mechanism mechanism, Network network, Setup setup, PrintWriter err) {
        super(
                network,
                setup,
                new Conditions(io.madeleine.pmm.WaitMode.ADAPTIVE, setup.cores().isPresent()),
                new Variant(Optional.empty(), Optional.of(mechanism.id()), Optional.empty()),
                err);
        this.mechanism = mechanism;
    }

    static TuneSubject of(Network network, Mechanism mechanism, Optional<Cores> cores, Setup setup, PrintWriter err) {
        Setup changed = new Setup(setup.sessions().with(mechanism.settings())).with(Variation.PLAIN, cores);
        changed = changed.with(changed.exchange().withSendMode(mechanism.sendMode()));
        return new TuneSubject(mechanism, network.with(changed.sessions().arguments()), changed, err);
    }

    /** Whether blocks take the module by its settings, which those of a provider may count more than. */
    static boolean isForced(Network network, Mechanism mechanism, List<String> arguments) {
        List<String> all = new ArrayList<>(arguments);
        all.addAll(mechanism.settings());
        return moduleFor(network.with(all), mechanism.sizes().toBytes(), mechanism.sendMode())
                .equals(mechanism.id());
    }

    Mechanism mechanism() {
        return mechanism;
    }

    @Override
    String tool() {
        return TuneTool.NAME;
    }

    @Override
    public boolean has(Pattern pattern, long bytes) {
        return mechanism.has(bytes);
    }
}
