package io.madeleine.bench.report;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The rows by subject, pattern and size.
 *
 * <p>Threading: immutable.
 */
final class Table {
    private final List<ReportRow> rows;
    private final List<Subject> subjects;
    private final List<String> patterns;
    private final Map<String, ReportRow> found = new HashMap<>();

    Table(List<ReportRow> rows) {
        this.rows = rows;
        this.subjects = Subject.of(rows);
        this.patterns = rows.stream().map(ReportRow::pattern).distinct().toList();
        rows.forEach(row -> found.put(key(row.subject(), row.pattern(), row.sizeBytes()), row));
    }

    private static String key(String subject, String pattern, long size) {
        return subject + "\n" + pattern + "\n" + size;
    }

    List<ReportRow> rows() {
        return rows;
    }

    List<Subject> subjects() {
        return subjects;
    }

    List<String> patterns() {
        return patterns;
    }

    /** The sizes of one pattern, ascending. */
    List<Long> sizes(String pattern) {
        return rows.stream()
                .filter(row -> row.pattern().equals(pattern))
                .map(ReportRow::sizeBytes)
                .distinct()
                .sorted()
                .toList();
    }

    Optional<ReportRow> row(Subject subject, String pattern, long size) {
        return Optional.ofNullable(found.get(key(subject.label(), pattern, size)));
    }

    /** The rows of one subject and pattern, by ascending size; a size that was measured twice counts once. */
    List<ReportRow> rows(Subject subject, String pattern) {
        return sizes(pattern).stream()
                .flatMap(size -> row(subject, pattern, size).stream())
                .sorted(Comparator.comparingLong(ReportRow::sizeBytes))
                .toList();
    }

    /** The peers that go the same way as {@code ours}; all peers if there is none. */
    List<Subject> rivals(Subject ours) {
        List<Subject> peers =
                subjects.stream().filter(subject -> !subject.ours()).toList();
        List<Subject> same =
                peers.stream().filter(peer -> peer.family() == ours.family()).toList();
        return same.isEmpty() ? peers : same;
    }
}
