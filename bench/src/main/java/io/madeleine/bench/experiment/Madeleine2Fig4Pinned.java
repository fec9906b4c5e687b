package io.madeleine.bench.experiment;

import io.madeleine.bench.experiment.Experiment.SetUp;
import io.madeleine.bench.experiment.Experiment.Status;
import io.madeleine.bench.report.Original;
import java.util.ArrayList;
import java.util.List;

/** Figure 4 with registrations that pin pages, as those of the original did. */
final class Madeleine2Fig4Pinned {
    static final Experiment EXPERIMENT = pinned(Madeleine2Fig4.EXPERIMENT);

    private Madeleine2Fig4Pinned() {}

    private static Experiment pinned(Experiment plain) {
        SetUp free = plain.setUp();
        Original original = plain.original();
        return new Experiment(
                plain.id() + "-pinned",
                plain.paper(),
                plain.figure() + ", with pinned memory",
                Status.READY,
                new SetUp(
                        free.protocols(),
                        free.variations().stream()
                                .map(Madeleine2Fig4Pinned::pinned)
                                .toList(),
                        free.peers(),
                        free.patterns(),
                        free.sizes(),
                        free.layers(),
                        free.bindings()),
                new Original(
                        original.title(),
                        original.source(),
                        original.quotes(),
                        "Here the network is libfabric's shm between two processes of one machine, and each registration"
                                + " locks its pages (tm.via.pin = mlock)."));
    }

    private static Variation pinned(Variation free) {
        List<String> settings = new ArrayList<>(free.settings());
        settings.add(OpenMx.PIN);
        return Variation.with(free.name(), settings.toArray(String[]::new));
    }
}
