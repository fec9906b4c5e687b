package io.madeleine.bench;

import io.madeleine.bench.measure.Pattern;

/**
 * A row that was asked for and could not be measured.
 *
 * <p>Threading: immutable.
 *
 * @param label whose row it is
 * @param pattern what was to be measured
 * @param bytes the size of a message
 * @param reason why there are no figures
 */
record FailedRow(PerfRow.Label label, Pattern pattern, long bytes, String reason) {
    /** One JSON object on one line. */
    String json() {
        Json json = new Json()
                .text("kind", "failed")
                .text("name", label.name())
                .text("pattern", pattern.word())
                .whole("sizeBytes", bytes)
                .text("reason", reason);
        label.writeVariant(json);
        return json.line();
    }

    @Override
    public String toString() {
        return label.title() + ", " + pattern.word() + " " + PerfTable.size(bytes) + " failed: " + reason;
    }
}
