package io.madeleine.bench;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;

/** What {@code mad perf} answered to a line of options: its exit code, its rows in JSON, and its error text. */
record PerfCall(int code, List<Config> rows, String err) {
    static PerfCall of(String line) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code = new PerfTool().run(new PrintWriter(out), new PrintWriter(err, true), line.split(" "));
        return new PerfCall(
                code, out.toString().lines().map(ConfigFactory::parseString).toList(), err.toString());
    }

    List<Config> of(String kind, String name) {
        return rows.stream()
                .filter(row -> row.getString("kind").equals(kind))
                .filter(row -> row.getString("name").equals(name))
                .toList();
    }
}
