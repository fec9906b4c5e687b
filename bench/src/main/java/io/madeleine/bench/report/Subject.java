package io.madeleine.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A subject of measurements, and how its line looks, which is the same in every report. Variants of a subject have one
 * hue; no two lines of a family have the same hue and dashes.
 *
 * <p>Threading: immutable.
 *
 * @param label name and variant
 * @param ours whether it is Madeleine
 * @param family the subjects that it is compared with
 * @param colour the number of its colour in the style sheet
 * @param dash the dashes of its line; empty for a solid one
 */
record Subject(String label, boolean ours, Family family, int colour, String dash) {
    private static final int FIRST_FREE = 9;
    private static final int COLOURS = 12;
    private static final List<String> VARIANT_DASHES = List.of("7 3", "2 3", "9 3 2 3", "4 2");
    private static final Map<String, Look> LOOKS = Map.ofEntries(
            Map.entry("sci", new Look(0, "")),
            Map.entry("tcp", new Look(1, "")),
            Map.entry("aeron-ipc", new Look(2, "7 3")),
            Map.entry("aeron-udp", new Look(2, "7 3")),
            Map.entry("mpich", new Look(3, "2 3")),
            Map.entry("mpich-tcp", new Look(3, "2 3")),
            Map.entry("openmpi", new Look(4, "9 3 2 3")),
            Map.entry("openmpi-tcp", new Look(4, "9 3 2 3")),
            Map.entry("netty", new Look(5, "12 3")),
            Map.entry("nio", new Look(6, "1 3")),
            Map.entry("nio-udp", new Look(6, "1 3")),
            Map.entry("raw-mailbox", new Look(6, "1 3")),
            Map.entry("c-tcp", new Look(7, "4 2")),
            Map.entry("c-udp", new Look(8, "4 2 1 2")));

    private record Look(int colour, String dash) {}

    /** All subjects that have a row, ours first, each group in the order of its rows. */
    static List<Subject> of(List<ReportRow> rows) {
        Map<String, Subject> found = new LinkedHashMap<>();
        int free = FIRST_FREE;
        for (ReportRow row : rows) {
            if (found.containsKey(row.subject())) {
                continue;
            }
            Look look = LOOKS.get(row.name());
            if (look == null) {
                look = new Look(free, row.ours() ? "" : VARIANT_DASHES.get(free % VARIANT_DASHES.size()));
                free = free == COLOURS - 1 ? FIRST_FREE : free + 1;
            }
            long relatives = found.values().stream()
                    .filter(other -> (other.label() + " ").startsWith(row.name() + " "))
                    .count();
            int colour = look.colour();
            String dash =
                    relatives == 0 ? look.dash() : VARIANT_DASHES.get((int) (relatives - 1) % VARIANT_DASHES.size());
            if (relatives > VARIANT_DASHES.size()) { // the dashes of its hue are used up
                colour = free;
                free = free == COLOURS - 1 ? FIRST_FREE : free + 1;
            }
            Family family = Family.of(row.ours(), row.name());
            found.put(row.subject(), new Subject(row.subject(), row.ours(), family, colour, dash));
        }
        List<Subject> ordered = new ArrayList<>();
        found.values().stream().filter(Subject::ours).forEach(ordered::add);
        found.values().stream().filter(subject -> !subject.ours()).forEach(ordered::add);
        return ordered;
    }
}
