package io.madeleine.bench.report;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigRenderOptions;
import com.typesafe.config.ConfigValueFactory;
import java.util.List;
import java.util.Map;

/**
 * What the paper says that an experiment redoes: it stands in the margin of the page. It travels with the rows, as a
 * row of kind {@code experiment}.
 *
 * <p>Threading: immutable.
 *
 * @param title of the page
 * @param source paper, figure, hardware
 * @param quotes the numbers that the text gives
 * @param note what is different here
 */
public record Original(String title, String source, List<Quote> quotes, String note) {
    /** A number of the original. */
    public record Quote(String pattern, String what, String value) {}

    static Original of(Config row) {
        return new Original(
                row.getString("title"),
                row.getString("source"),
                row.getConfigList("quotes").stream()
                        .map(quote -> new Quote(
                                quote.getString("pattern"), quote.getString("what"), quote.getString("value")))
                        .toList(),
                row.getString("note"));
    }

    /** One JSON object on one line. */
    public String json() {
        List<Map<String, String>> numbers = quotes.stream()
                .map(quote -> Map.of("pattern", quote.pattern(), "what", quote.what(), "value", quote.value()))
                .toList();
        return ConfigValueFactory.fromMap(
                        Map.of("kind", "experiment", "title", title, "source", source, "quotes", numbers, "note", note))
                .render(ConfigRenderOptions.concise());
    }
}
