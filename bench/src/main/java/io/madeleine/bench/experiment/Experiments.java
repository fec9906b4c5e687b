package io.madeleine.bench.experiment;

import java.util.List;
import java.util.Optional;

/**
 * All experiments. A new one gets a file beside this and a line here.
 *
 * <p>Threading: stateless.
 */
final class Experiments {
    static final List<Experiment> ALL = List.of(
            ArmciFig4.EXPERIMENT,
            Madeleine2Fig4.EXPERIMENT,
            Madeleine2Fig4Pinned.EXPERIMENT,
            Madeleine2Fig5.EXPERIMENT,
            Madeleine2Fig6.EXPERIMENT,
            Madeleine2Fig8.EXPERIMENT,
            Madeleine2Fig9.EXPERIMENT,
            Madeleine2Fig10.EXPERIMENT,
            Madeleine2Buffers.EXPERIMENT,
            NemesisAblations.EXPERIMENT,
            NemesisFig4.EXPERIMENT,
            NemesisFig5.EXPERIMENT,
            NemesisFig6.EXPERIMENT,
            NemesisFig7.EXPERIMENT,
            NemesisFig8.EXPERIMENT,
            NemesisFig9.EXPERIMENT,
            NemesisSenders.EXPERIMENT,
            NemesisTcp.EXPERIMENT,
            OpenMpiPtlTable1.EXPERIMENT,
            OpenMxFig6.EXPERIMENT,
            OpenMxFig7.EXPERIMENT,
            OpenMxFig8.EXPERIMENT,
            OpenMxFig9.EXPERIMENT,
            OpenMxFig10.EXPERIMENT,
            OpenMxFig11.EXPERIMENT,
            ProgressCosts.EXPERIMENT);

    private Experiments() {}

    static Optional<Experiment> of(String id) {
        return ALL.stream().filter(experiment -> experiment.id().equals(id)).findFirst();
    }

    static List<String> ids() {
        return ALL.stream().map(Experiment::id).toList();
    }
}
