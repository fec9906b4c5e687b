package io.madeleine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.ConfigurationException;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.session.config.ConfigSources;
import io.madeleine.session.config.ProcessEnvironment;
import io.madeleine.session.config.SessionConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SessionInfoTest {
    private static SessionInfo info(Map<String, ?> settings) {
        return SessionInfo.of(TestSessions.config(settings));
    }

    @Test
    void shouldDescribeWhatIsOnAndOpenNothing() {
        SessionInfo info = info(TestSessions.loop());
        SessionInfo.Protocol loop = info.protocol("loop").orElseThrow();
        assertTrue(loop.on());
        assertEquals("queues of this JVM", loop.availability().reason());
        assertEquals(List.of("loop0", "loop1"), loop.adapters());
        assertEquals("loop/stream", loop.modules().getFirst().id());
        assertEquals(loop, info.protocolOf(info.channels().getFirst()).orElseThrow());
        assertTrue(loop.selection()
                .orElseThrow()
                .explain(10, SendMode.CHEAPER, ReceiveMode.EXPRESS)
                .contains("loop/stream"));
        assertEquals(0, LoopProtocol.OPEN_ADAPTERS.get());
    }

    @Test
    void shouldDescribeTheTransmissionModulesOfEachAdapter() {
        SessionInfo.Protocol loop = info(TestSessions.loop()).protocol("loop").orElseThrow();
        assertEquals(List.of("loop1"), loop.adaptersApart());
        assertEquals("queues of this JVM", loop.modules().getFirst().summary());
        assertTrue(loop.selection("loop1")
                .orElseThrow()
                .explain(10, SendMode.CHEAPER, ReceiveMode.EXPRESS)
                .contains("other queues"));
        assertTrue(loop.selection("loop2").isEmpty());
    }

    @Test
    void shouldAskAFamilyOnceWhetherItCanBeUsed() {
        int before = LoopProtocol.ASKED.get();
        info(TestSessions.loop());
        assertEquals(before + 1, LoopProtocol.ASKED.get());
    }

    @Test
    void shouldSayWhatMendsAFamilyThatIsOff() {
        Map<String, Object> settings = TestSessions.loop();
        settings.put("tm.loop.available", false);
        assertEquals(
                "told so by tm.loop.available; set it to true",
                info(settings).protocol("loop").orElseThrow().availability().text());
    }

    @Test
    void shouldSayWhyAFamilyIsOff() {
        Map<String, Object> settings = TestSessions.loop();
        settings.put("tm.loop.available", false);
        settings.put("tm.absent.guice-module", "no.such.Module");
        settings.put("tm.strange.guice-module", "java.lang.String");
        settings.put("tm.tcp.enabled", false);
        settings.put("tm.via.enabled", true);
        settings.put("networks", List.of("via", "tcp", "loop"));
        SessionInfo info = info(settings);
        assertEquals(
                List.of("via", "tcp", "loop", "absent", "strange"),
                info.protocols().stream().map(SessionInfo.Protocol::name).toList());
        assertOff(info, "loop", "told so by tm.loop.available");
        assertOff(info, "absent", "no.such.Module");
        assertOff(info, "strange", "public constructor that takes a Config");
        assertOff(info, "tcp", "disabled by madeleine.tm.tcp.enabled (setting of Session.open tm.tcp.enabled)");
        assertOff(info, "via", "io.madeleine:madeleine-tm-via");
        assertFalse(info.protocolOf(info.channels().getFirst()).isPresent());
    }

    @Test
    void shouldTakeAFamilyForOffThatCannotFindOut() {
        Map<String, Object> settings = TestSessions.loop();
        settings.put("tm.loop.broken", true);
        assertOff(info(settings), "loop", "java.lang.InternalError: no file");
    }

    @Test
    void shouldNotPromiseANetworkThatAutoDoesNotTake() {
        Map<String, Object> settings = TestSessions.loop();
        settings.put("networks", List.of("tcp"));
        SessionInfo info = info(settings);
        assertTrue(info.protocol("loop").orElseThrow().on());
        assertFalse(info.protocol("loop").orElseThrow().preferred());
        assertFalse(info.protocolOf(info.channels().getFirst()).isPresent());
    }

    @Test
    void shouldRefuseNetworksThatNobodyKnowsAndAnEmptyList() {
        assertRefused(
                Map.of("networks", List.of("scii")),
                "madeleine.networks = [\"scii\"]",
                "there is no scii; did you mean sci?");
        assertRefused(Map.of("networks", List.of()), "madeleine.networks = []", "the list is empty");
        assertRefused(Map.of("networks", List.of("sci", "tcp", "sci")), "madeleine.networks", "sci is there twice");
        for (String remedy : List.of("io.madeleine:madeleine", "requires io.madeleine", "a fat jar joins")) {
            assertRefused(Map.of("channels.default.network", "tcp"), "network = \"tcp\"", remedy);
        }
        assertTrue(info(Map.of("networks", List.of("via"))).protocols().stream().noneMatch(SessionInfo.Protocol::on));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    session.rank        | abc   | auto or a whole number
                    session.size        | none  | auto or a whole number
                    session.launcher    | here  | host:port
                    session.hosts       | [a]   | a port in the first entry
                    session.secret-file | .     | this is a directory
                    """)
    void shouldRefuseWhatWouldBeWrongInAnyProcess(String key, String value, String expected) {
        ConfigSources sources = ConfigSources.ofArguments(
                List.of(key + "=" + value), new ProcessEnvironment(Map.of(), new Properties()));
        String message = assertThrows(ConfigurationException.class, () -> SessionConfig.ofAnyProcess(sources))
                .getMessage();
        assertTrue(message.startsWith("madeleine." + key + " = ") && message.contains(expected), message);
    }

    private static void assertRefused(Map<String, ?> settings, String what, String expected) {
        String message =
                assertThrows(ConfigurationException.class, () -> info(settings)).getMessage();
        assertTrue(message.contains(what) && message.contains(expected), message);
    }

    private static void assertOff(SessionInfo info, String name, String reason) {
        SessionInfo.Protocol protocol = info.protocol(name).orElseThrow();
        assertFalse(protocol.on());
        assertTrue(
                protocol.availability().reason().contains(reason),
                protocol.availability().reason());
        assertEquals(List.of(), protocol.adapters());
    }

    @Test
    void shouldPassTheConfigurationErrorsOfFamiliesOn() {
        Map<String, Object> settings = TestSessions.loop();
        settings.put("tm.loop.wrong", 1);
        ConfigurationException wrong = assertThrows(ConfigurationException.class, () -> info(settings));
        assertEquals("madeleine.tm.loop.wrong is wrong", wrong.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"madeleine.wait.mode", "madeleine.wait.modd", "sessio.name"})
    void shouldRefuseInAFileOfMeasuredThresholdsWhatIsNone(String key, @TempDir Path folder) throws IOException {
        Path tuned =
                Files.writeString(folder.resolve("tuned.conf"), "madeleine.tm.loop.parcel = 77\n" + key + " = block\n");
        Map<String, Object> settings = TestSessions.loop();
        settings.put("tuned", tuned.toString());
        String told =
                assertThrows(ConfigurationException.class, () -> info(settings)).getMessage();
        assertTrue(told.startsWith("key " + key.substring(0, key.lastIndexOf('.'))), told);
        assertTrue(told.contains(tuned + ": 2") && told.contains("madeleine.tuned"), told);
    }

    @Test
    void shouldTakeMeasuredThresholdsUnlessSomethingElseIsSaid(@TempDir Path folder) throws IOException {
        Path tuned = Files.writeString(folder.resolve("tuned.conf"), """
                madeleine.tm.loop.parcel = 77
                """);
        Map<String, Object> settings = TestSessions.loop();
        settings.put("tuned", tuned.toString());
        SessionInfo.Threshold measured =
                info(settings).protocol("loop").orElseThrow().thresholds().getFirst();
        assertEquals("madeleine.tm.loop.parcel", measured.key());
        assertEquals("77", measured.value());
        assertTrue(measured.source().startsWith("measured, " + tuned), measured.source());
        settings.put("tm.loop.parcel", 78);
        SessionInfo.Threshold said =
                info(settings).protocol("loop").orElseThrow().thresholds().getFirst();
        assertEquals("78", said.value());
        assertTrue(said.source().startsWith("set by setting of Session.open"), said.source());
        settings.put("tuned", folder.resolve("none.conf").toString());
        String message =
                assertThrows(ConfigurationException.class, () -> info(settings)).getMessage();
        assertTrue(message.contains("madeleine.tuned") && message.contains("mad tune"), message);
    }
}
