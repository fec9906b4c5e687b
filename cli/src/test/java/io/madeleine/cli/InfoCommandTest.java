package io.madeleine.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class InfoCommandTest {
    private static Config json(String... options) {
        String[] all = new String[options.length + 2];
        all[0] = "info";
        all[1] = "--json";
        System.arraycopy(options, 0, all, 2, options.length);
        CommandLineRun run = CommandLineRun.of(all);
        assertEquals(0, run.code(), run.err());
        return ConfigFactory.parseString(run.out());
    }

    private static Config network(Config info, String name) {
        return info.getConfigList("networks").stream()
                .filter(network -> network.getString("name").equals(name))
                .findFirst()
                .map(Config.class::cast)
                .orElseThrow();
    }

    @Test
    void shouldListNetworksBestFirstWithModulesAndSelection() {
        CommandLineRun run = CommandLineRun.of("info");
        assertEquals(0, run.code(), run.err());
        List<String> lines = run.out().lines().toList();
        int sci = indexOf(lines, "  sci +on .*");
        int tcp = indexOf(lines, "  tcp +on .*");
        assertTrue(sci >= 0 && sci < tcp, run.out());
        for (String pattern : List.of(
                " +sci/short .*",
                " +tcp/stream .*",
                "  default +auto: .*",
                "  tcp +any size +any modes +tcp/stream .*",
                "Waiting: adaptive .*")) {
            assertTrue(indexOf(lines, pattern) >= 0, pattern + "\n" + run.out());
        }
    }

    private static int indexOf(List<String> lines, String pattern) {
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).matches(pattern)) {
                return i;
            }
        }
        return -1;
    }

    @Test
    void shouldSayWhyANetworkIsOff() {
        CommandLineRun run =
                CommandLineRun.of("info", "--set", "tm.tcp.enabled=false", "--set", "channels.x.network=tcp");
        assertEquals(0, run.code(), run.err());
        List<String> lines = run.out().lines().toList();
        assertTrue(indexOf(lines, "  tcp +off .*madeleine\\.tm\\.tcp\\.enabled.*") >= 0, run.out());
        assertTrue(indexOf(lines, "  x +tcp, which is off.*") >= 0, run.out());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    network=quantum | madeleine.channels.x.network = "quantum" | expected auto or a network of madeleine.tm
                    network=tcpp    | madeleine.channels.x.network = "tcpp"    | did you mean tcp?
                    adapter=eth7    | madeleine.channels.x.adapter = "eth7"    | expected auto or an adapter of tcp
                    """)
    void shouldRefuseAChannelOverANetworkOrAdapterThatThereIsNot(String setting, String what, String expected) {
        CommandLineRun run =
                CommandLineRun.of("info", "--set", "channels.x.network=tcp", "--set", "channels.x." + setting);
        assertEquals(1, run.code(), run.out());
        assertTrue(
                run.err().contains(what)
                        && run.err().contains("argument channels.x.")
                        && run.err().contains(expected),
                run.err());
        assertEquals("", run.out());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    networks=[scii]  | madeleine.networks = ["scii"] | did you mean sci?
                    networks=[]      | madeleine.networks = []       | the list is empty
                    session.rank=abc | madeleine.session.rank        | expected auto or a whole number
                    """)
    void shouldRefuseWhatASessionWouldRefuse(String setting, String what, String expected) {
        CommandLineRun run = CommandLineRun.of("info", "--set", setting);
        assertEquals(1, run.code(), run.out());
        assertTrue(run.err().contains(what) && run.err().contains(expected), run.err());
    }

    @Test
    void shouldPromiseNoNetworkToAutoThatIsNotPreferredOrOff() {
        CommandLineRun run = CommandLineRun.of("info", "--set", "networks=[tcp]", "--set", "tm.tcp.enabled=false");
        assertEquals(0, run.code(), run.err());
        List<String> lines = run.out().lines().toList();
        assertTrue(
                indexOf(lines, "  default +auto: .* here none, since all of madeleine.networks are off: .*") >= 0,
                run.out());
        assertTrue(indexOf(lines, "  sci +on .*") >= 0, run.out());
        assertTrue(indexOf(lines, " +auto does not take it: it is not in madeleine.networks") >= 0, run.out());
    }

    @Test
    void shouldPrintTheSameAsJson() {
        Config info = json("--set", "channels.bulk.network=tcp", "--set", "wait.mode=spin");
        Config tcp = network(info, "tcp");
        assertTrue(tcp.getBoolean("on"));
        assertEquals(
                "tcp/stream",
                tcp.getConfigList("transmissionModules").getFirst().getString("id"));
        assertEquals(
                "dynamic", tcp.getConfigList("transmissionModules").getFirst().getString("bufferMode"));
        Config sci = network(info, "sci");
        List<? extends Config> rows = sci.getConfigList("selection");
        for (String mode : List.of("SAFER", "LATER", "CHEAPER")) {
            long from = 0;
            for (Config row : rows) {
                String modes = row.getString("modes");
                if (modes.equals("any modes") || List.of(modes.split(", ")).contains(mode)) {
                    assertEquals(from, row.getLong("fromBytes"));
                    from = row.hasPath("toBytes") ? row.getLong("toBytes") + 1 : -1;
                }
            }
            assertEquals(-1, from, "the last row of " + mode + " blocks has no upper bound");
        }
        List<String> channels = info.getConfigList("channels").stream()
                .map(channel -> channel.getString("name") + " " + channel.getString("networkHere"))
                .toList();
        assertEquals(List.of("bulk tcp", "default sci"), channels);
        assertEquals("spin", info.getString("wait.mode"));
    }
}
