package io.madeleine.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HtmlReportTest {
    /** Asks the browser what it has drawn, then points at the middle of the first chart that is visible. */
    private static final String PROBE = """
            <script>
            addEventListener('error', e => document.body.dataset.error = e.message);
            const drawn = [...document.querySelectorAll('.chart .curve')].filter(c => c.getClientRects().length);
            document.body.dataset.curves = drawn.filter(c => c.getTotalLength() > 20).length;
            document.body.dataset.colours = new Set(drawn.map(c => getComputedStyle(c).stroke)).size;
            document.body.dataset.overflow = document.documentElement.scrollWidth > innerWidth;
            const chart = drawn[0].closest('svg'), box = chart.getBoundingClientRect();
            chart.dispatchEvent(new PointerEvent('pointermove', {clientX: box.left + 60, clientY: box.top + 50}));
            document.querySelector('.legend button[data-name=mpich]').click();
            document.getElementById('theme').click();
            </script>
            """;

    @TempDir
    Path directory;

    private static String page(List<String> lines) {
        return HtmlReport.of(Rows.of(lines, "the sample"), Instant.parse("2026-11-21T10:00:00Z"));
    }

    private Chromium.Drawn draw(int width) throws Exception {
        Chromium chromium = Chromium.installed(directory);
        Path file = directory.resolve("report.html");
        Files.writeString(file, page(Samples.lines()).replace("</body>", PROBE + "</body>"));
        Chromium.Drawn drawn = chromium.draw(file, width);
        assertFalse(drawn.log().contains("CONSOLE"), drawn.log());
        assertFalse(drawn.dom().contains("data-error"), "a script failed");
        assertEquals(1, drawn.count("data-ready=\"yes\""), "the script did not run to its end");
        assertEquals(1, drawn.count("data-overflow=\"false\""), "the page is wider than the window");
        return drawn;
    }

    @Test
    void shouldDrawACurvePerSubjectInABrowser() throws Exception {
        Chromium.Drawn drawn = draw(1280);
        // 12 curves of latency, 11 of bandwidth: one peer has no bandwidth.
        assertEquals(1, drawn.count("data-curves=\"23\""), "curves that are visible");
        assertEquals(1, drawn.count("data-colours=\"9\""), "relatives share a hue: nine are left");
        assertEquals(11, drawn.count("<b style=\"width:"), "bars");
    }

    @Test
    void shouldDrawTheSameCurvesOnAPhone() throws Exception {
        Chromium.Drawn drawn = draw(500);
        assertEquals(1, drawn.count("data-curves=\"23\""), "curves that are visible");
    }

    @Test
    void shouldShowEverybodysValueWhereThePointerIs() throws Exception {
        Chromium.Drawn drawn = draw(1280);
        Matcher tip =
                Pattern.compile("<div id=\"tip\".*?</div>", Pattern.DOTALL).matcher(drawn.dom());
        assertTrue(tip.find());
        assertTrue(tip.group().contains("8 B<table>"), tip.group());
        assertTrue(tip.group().contains("<td>sci</td><td>118 ns</td>"), tip.group());
        assertTrue(tip.group().contains("<td>aeron-ipc</td><td>67.9 ns</td>"), tip.group());
    }

    @Test
    void shouldHideASubjectAndChangeTheThemeOnRequest() throws Exception {
        Chromium.Drawn drawn = draw(1280);
        assertEquals(1, drawn.count("data-name=\"mpich\" aria-pressed=\"false\""));
        assertTrue(drawn.dom().contains("class=\"series c3 off\" data-name=\"mpich\""));
        assertFalse(drawn.dom().contains("off\" data-name=\"mpich-tcp\""));
        assertEquals(1, drawn.count("data-ready=\"yes\" data-theme=\"dark\""));
    }

    @Test
    void shouldFetchNothing() {
        String page = page(Samples.lines());
        assertFalse(Pattern.compile("(src|href)=\"(?!data:)|url\\(|@import|https?://")
                .matcher(page)
                .find());
    }

    @Test
    void shouldKeepEveryPointAndLabelInsideThePicture() {
        String page = page(Samples.lines());
        Matcher chart = Pattern.compile(
                        "<svg class=\"chart \\w+\" viewBox=\"0 0 (\\d+) (\\d+)\".*?</svg>", Pattern.DOTALL)
                .matcher(page);
        int charts = 0;
        while (chart.find()) {
            charts++;
            int width = Integer.parseInt(chart.group(1));
            int height = Integer.parseInt(chart.group(2));
            Matcher place = Pattern.compile("(?:cx|<text[^>]* x)=\"([^\"]+)\" c?y=\"([^\"]+)\"")
                    .matcher(chart.group());
            int places = 0;
            while (place.find()) {
                places++;
                assertTrue(Double.parseDouble(place.group(1)) >= 0 && Double.parseDouble(place.group(1)) <= width);
                assertTrue(Double.parseDouble(place.group(2)) >= 0 && Double.parseDouble(place.group(2)) <= height);
            }
            assertTrue(places > 30, "only " + places + " places");
        }
        assertEquals(8, charts, "two patterns, two families, wide and narrow");
    }

    @Test
    void shouldSayWhatWasMeasuredAndWhoIsFasterInTwoSentences() {
        Rows rows = Rows.read(Samples.file());
        Table table = new Table(rows.figures());
        assertEquals(
                "Madeleine over sci and tcp beside 10 peers: messages of 8 B to 4 MiB between two processes of one"
                        + " machine, spinning while they wait, each on a core of its own, medians of 5 interleaved rounds.",
                Summary.measured(rows, table));
        assertEquals(
                "sci takes 118 ns for 8 B (best peer aeron-ipc, 67.9 ns) and streams up to 39.1 GB/s (best peer openmpi,"
                        + " 15.4 GB/s); tcp takes 4.31 µs for 8 B (best peer c-udp, 2.54 µs) and streams up to"
                        + " 7.86 GB/s (best peer c-tcp, 8.08 GB/s).",
                Summary.result(table));
    }

    @Test
    void shouldShowConditionsAbsentPeersAndNoisyRows() {
        String page = page(Samples.lines());
        for (String part : List.of(
                "Sample Processor",
                "Linux 6.18",
                "0.1.0-SNAPSHOT",
                "sci/regular: &gt; 8 KiB",
                "fabric:shm",
                "install the Debian package libfabric1",
                "1.67~</td>",
                "class=\"noisy\"")) {
            assertTrue(page.contains(part), part);
        }
        assertFalse(page.contains("The machine was restless"));
        List<String> restless = new ArrayList<>(Samples.lines());
        restless.set(0, restless.getFirst().replace("\"noisy\":false", "\"noisy\":true"));
        assertTrue(page(restless).contains("The machine was restless"));
    }

    @Test
    void shouldEscapeWhatRowsSay() {
        String page = page(List.of(Samples.lines().get(1).replace("\"name\":\"sci\"", "\"name\":\"<b>&\\\"x\"")));
        assertFalse(page.contains("<b>&"));
        assertTrue(page.contains("&lt;b&gt;&amp;&quot;x"));
    }

    @Test
    void shouldMakeAPageOfASingleRowWithoutMachine() {
        String page = page(List.of(Samples.lines().get(1)));
        assertTrue(page.contains("the rows do not say"));
        assertTrue(page.contains("sci takes 118&nbsp;ns for 8&nbsp;B."));
    }
}
