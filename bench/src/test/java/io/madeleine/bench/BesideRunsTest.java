package io.madeleine.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.bench.history.Turns;
import io.madeleine.bench.report.Rows;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BesideRunsTest {
    @TempDir
    Path empty;

    private static Rows turn(String pattern, String unit, double median) {
        return Rows.of(
                List.of("{\"kind\":\"protocol\",\"name\":\"sci\",\"pattern\":\"" + pattern
                        + "\",\"sizeBytes\":8,\"min\":1,\"median\":" + median
                        + ",\"p99\":9,\"max\":9,\"unit\":\"" + unit + "\"}"),
                "a test");
    }

    private static String table(Turns turns) {
        StringWriter text = new StringWriter();
        turns.print(new PrintWriter(text), "before");
        return text.toString();
    }

    @Test
    void shouldTellTheMedianOfTheRatiosOfEachTurn() {
        Turns turns = new Turns();
        for (double factor : new double[] {1, 10, 3}) { // a machine that changes between turns
            turns.addOther(turn("latency", "us", 2 * factor));
            turns.addOwn(turn("latency", "us", factor));
        }
        assertTrue(
                table(turns).matches("(?s).*sci +latency +8 B +6.00 µs +3.00 µs +2.00 +2.00 to 2.00\n"), table(turns));
    }

    @Test
    void shouldCallThatFasterWhichHasTheHigherRate() {
        Turns turns = new Turns();
        turns.addOther(turn("rate", "msg/s", 4e6));
        turns.addOwn(turn("rate", "msg/s", 2e6));
        assertTrue(table(turns).contains(" 0.50 "), table(turns));
    }

    @Test
    void shouldSayThatARowIsMissingOnOneSide() {
        Turns turns = new Turns();
        turns.addOwn(turn("osu-latency", "us", 1));
        assertTrue(table(turns).endsWith("1 rows that one of the two has not\n"), table(turns));
    }

    @Test
    void shouldGiveEachTurnAllOptionsButThoseOfTheWhole() {
        assertEquals(
                List.of("--protocol", "sci", "--pin", "--rounds", "1", "--json", "-"),
                BesideRuns.ofATurn(
                        List.of("--beside", "x", "--protocol", "sci", "--rounds=5", "--json", "f", "--pin")));
    }

    @Test
    void shouldRefuseAFolderWithoutABuild() {
        StringWriter err = new StringWriter();
        int code = new PerfTool()
                .run(new PrintWriter(new StringWriter()), new PrintWriter(err, true), "--beside", empty.toString());
        assertEquals(2, code);
        assertTrue(err.toString().contains("expected a folder of Madeleine's sources"), err.toString());
    }
}
