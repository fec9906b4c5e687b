package io.madeleine.bench;

import io.madeleine.bench.RegisterProcess.Work;
import io.madeleine.bench.experiment.Variation;
import io.madeleine.bench.measure.Conditions;
import io.madeleine.bench.measure.Subject;
import io.madeleine.bench.measure.Subject.Variant;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The subjects of the pattern {@code register}: each network that registers memory, once for each variation, and beside
 * it a copy of the same number of bytes.
 *
 * <p>Threading: confined to caller.
 */
final class Registering {
    private final Conditions conditions;
    private final Function<Optional<String>, Variant> variant;
    private final List<AbsentPeer> absent;
    private final PrintWriter err;
    private final List<Subject> subjects = new ArrayList<>();

    /**
     * Begins without subjects.
     *
     * @param variant makes a variant with this title, or without one
     * @param absent the list to which networks that register no memory are added
     */
    Registering(
            Conditions conditions,
            Function<Optional<String>, Variant> variant,
            List<AbsentPeer> absent,
            PrintWriter err) {
        this.conditions = conditions;
        this.variant = variant;
        this.absent = absent;
        this.err = err;
    }

    List<Subject> subjects() {
        return subjects;
    }

    /** Adds a network; a process of the network says what it can do. */
    void addNetwork(Network network, List<Variation> variations, ProtocolSubject.Setup setup) throws IOException {
        boolean any = false;
        for (Variation variation : variations) {
            ProtocolSubject.Setup changed = setup.with(variation, Optional.empty());
            Network changedNetwork = network.with(variation, changed);
            RegisterSubject.Answer answer =
                    subject(changedNetwork, changed, Work.REGISTER, "").ask();
            if (answer.refusal().isPresent()) {
                leaveOut(new AbsentPeer(network.title(), answer.refusal().get()));
                continue;
            }
            String title = Stream.of(variation.name(), answer.locks() ? RegisterSubject.LOCKED : "")
                    .filter(word -> !word.isEmpty())
                    .collect(Collectors.joining(", "));
            subjects.add(subject(changedNetwork, changed, Work.REGISTER, title));
            any = true;
        }
        if (any) {
            subjects.add(subject(network, setup, Work.COPY, RegisterSubject.COPIED));
        }
    }

    private RegisterSubject subject(Network network, ProtocolSubject.Setup setup, Work work, String title) {
        Variant its = variant.apply(Optional.of(title).filter(words -> !words.isEmpty()));
        return new RegisterSubject(network, setup, conditions, its, work, err);
    }

    private void leaveOut(AbsentPeer network) {
        if (!absent.contains(network)) {
            absent.add(network);
            err.println("mad perf: " + network.name() + " is left out: " + network.reason());
        }
    }
}
