package io.madeleine.bench;

import io.madeleine.bench.measure.Pattern;
import io.madeleine.bench.measure.Subject.Kind;
import io.madeleine.bench.measure.Subject.Variant;
import io.madeleine.bench.measure.Usage;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A row of results.
 *
 * <p>Threading: immutable.
 *
 * @param label whose row it is
 * @param pattern what was measured
 * @param bytes the size of a message
 * @param figures the result
 * @param noisy whether the machine was too noisy for most of it
 */
record PerfRow(Label label, Pattern pattern, long bytes, Figures figures, boolean noisy) {
    /**
     * Whose row it is.
     *
     * @param kind ours or a peer's
     * @param name the protocol or peer
     * @param transmissionModule which module takes the message's block
     * @param variant what tells it from other rows of that name
     * @param buffers in which memory the messages were; empty for the same each time
     */
    record Label(
            Kind kind, String name, Optional<String> transmissionModule, Variant variant, Optional<String> buffers) {
        /** Writes what tells it from others of its name. */
        void writeVariant(Json json) {
            variant.setup().ifPresent(setup -> json.text("setup", setup));
            variant.layer().ifPresent(layer -> json.text("layer", layer));
            variant.waiting().ifPresent(wait -> json.text("wait", wait));
            buffers.ifPresent(words -> json.text("buffers", words));
        }

        /** Name and variant. */
        String title() {
            return name + variant.suffix();
        }
    }

    /** What is shown besides times. */
    record Extras(boolean allocations, boolean usage) {}

    /** One JSON object on one line. */
    String json(Extras extras) {
        Json json = new Json()
                .text("kind", label.kind().name().toLowerCase(Locale.ROOT))
                .text("name", label.name())
                .text("pattern", pattern.word())
                .whole("sizeBytes", bytes);
        label.transmissionModule().ifPresent(module -> json.text("transmissionModule", module));
        json.number("min", figures.min())
                .number("median", figures.median())
                .number("p99", figures.p99())
                .number("max", figures.max())
                .text("unit", pattern.unit())
                .numbers("rounds", figures.rounds())
                .number("spread", figures.spread())
                .truth("noisy", noisy);
        label.writeVariant(json);
        Usage usage = figures.usage();
        if (extras.allocations()) {
            json.number("allocatedBytesPerMessage", usage.allocatedBytes());
        }
        if (extras.usage()) {
            json.numbers("cpuPercent", List.of(usage.driverCpuPercent(), usage.responderCpuPercent()))
                    .number("contextSwitchesPerMessage", usage.contextSwitches());
        }
        return json.line();
    }

    /** Name and variant. */
    String title() {
        return label.title();
    }
}
