package io.madeleine.bench;

import io.madeleine.bench.measure.Conditions;
import io.madeleine.bench.measure.Pattern;
import io.madeleine.bench.measure.Pinning;
import io.madeleine.session.SessionInfo;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A mechanism between two processors.
 *
 * <p>Threading: as {@link io.madeleine.bench.measure.Subject}.
 */
final class TuneSubject extends ProtocolSubject {
    static final String NETWORK = "sci";

    private final Mechanism mechanism;
    private final Optional<Cores> cores;

    private TuneSubject(
            Mechanism mechanism, Optional<Cores> cores, SessionInfo.Protocol protocol, Setup setup, PrintWriter err) {
        super(
                protocol,
                setup,
                new Conditions(io.madeleine.pmm.WaitMode.ADAPTIVE, cores.isPresent()),
                new Variant(Optional.empty(), Optional.of(mechanism.id())),
                err);
        this.mechanism = mechanism;
        this.cores = cores;
    }

    static TuneSubject of(Mechanism mechanism, Optional<Cores> cores, Setup setup, PrintWriter err) {
        List<String> settings = new ArrayList<>(setup.settings());
        settings.addAll(mechanism.settings());
        List<String> arguments = new ArrayList<>(settings);
        setup.configuration().ifPresent(file -> arguments.add("--conf=" + file));
        SessionInfo.Protocol protocol =
                SessionInfo.of(arguments).protocol(NETWORK).orElseThrow();
        return new TuneSubject(
                mechanism, cores, protocol, new Setup(settings, setup.configuration(), setup.nativeAccess()), err);
    }

    Mechanism mechanism() {
        return mechanism;
    }

    @Override
    public boolean has(Pattern pattern, long bytes) {
        return mechanism.has(bytes);
    }

    @Override
    protected Running start(Map<String, String> environment) {
        Map<String, String> all = new HashMap<>(environment);
        cores.ifPresent(pair -> all.put(Pinning.PROCESSORS, pair.processors()));
        return super.start(all);
    }
}
