package io.madeleine.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import picocli.CommandLine.Help.Ansi;

/** One call of {@code mad}: what it printed and answered. */
record CommandLineRun(int code, String out, String err) {
    static CommandLineRun of(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code = Mad.run(new PrintWriter(out, true), new PrintWriter(err, true), Ansi.OFF, arguments);
        return new CommandLineRun(code, out.toString(), err.toString());
    }
}
