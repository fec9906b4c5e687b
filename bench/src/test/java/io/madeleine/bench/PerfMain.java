package io.madeleine.bench;

import java.io.PrintWriter;

/** {@code mad perf} in a JVM of its own, which may get what this one has not, such as native access. */
final class PerfMain {
    private PerfMain() {}

    public static void main(String[] arguments) {
        PrintWriter out = new PrintWriter(System.out, true);
        System.exit(new PerfTool().run(out, new PrintWriter(System.err, true), arguments));
    }
}
