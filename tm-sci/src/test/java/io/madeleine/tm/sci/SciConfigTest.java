package io.madeleine.tm.sci;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.inject.Guice;
import com.google.inject.Key;
import com.google.inject.TypeLiteral;
import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.madeleine.api.ConfigurationException;
import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SciConfigTest {
    private static SciConfig read(String settings) {
        return SciConfig.from(config(settings));
    }

    private static Config config(String settings) {
        return ConfigFactory.parseString(
                        settings,
                        com.typesafe.config.ConfigParseOptions.defaults().setOriginDescription("my.conf"))
                .withFallback(ConfigFactory.load());
    }

    @Test
    void shouldHaveTheseDefaults() {
        assertEquals(
                new SciConfig(
                        true,
                        Optional.empty(),
                        8192,
                        512 * 1024,
                        8192 + 128,
                        256 * 1024,
                        16 * 1024,
                        32,
                        SciConfig.SingleCopyUse.AUTO,
                        12 * 1024,
                        1024 * 1024,
                        true,
                        Long.MAX_VALUE),
                read(""));
        assertEquals(SciGuiceModule.class.getName(), config("").getString("madeleine.tm.sci.guice-module"));
    }

    @Test
    void shouldMapEveryKey() {
        SciConfig expected = new SciConfig(
                false,
                Optional.of(Path.of("/mnt/x")),
                1000,
                5000,
                4096,
                32768,
                131072,
                16,
                SciConfig.SingleCopyUse.ON,
                1 << 20,
                Long.MAX_VALUE,
                false,
                3 << 20);
        assertEquals(expected, read("""
                madeleine.tm.sci {
                  enabled = false, directory = /mnt/x
                  short { max-block = 1000, max-safer-block = 5000, buffer = 4 KiB, ring = 32 KiB }
                  regular { cell = 128 KiB, cells = 16 }
                  dma { single-copy = on, from = 1 MiB, to = unlimited, shared-blocks = false, offload-from = 3 MiB }
                }"""));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            short.ring = 48 KiB     | power of two
            short.ring = 16 KiB     | 65536 bytes or more
            short.ring = 1000       | 65536 bytes or more
            short.ring = 128 MiB    | 67108864 at most
            short.ring = 192 KiB    | power of two
            short.buffer = 100      | multiple of 8
            dma.offload-from = 4 KiB | off, or a size of 1 MiB or more
            short.buffer = 2 MiB    | from 64 B to 1048576 B
            short.max-block = 3 GiB | from 0 B to 2147483647 B
            regular.cell = 5000     | multiple of 4 KiB
            regular.cell = 0        | from 4096 B to
            regular.cells = 1       | from 2 to 1024
            regular.cells = 2.5     | from 2 to 1024
            regular.cells = many    | a whole number
            dma.single-copy = maybe | auto, on or off
            dma.from = 1 KiB        | 4096 bytes or more
            dma.to = 1 KiB          | unlimited, none, or a size of 4096 bytes or more
            directory = here        | absolute path
            short.ringg = 1 MiB     | did you mean ring?
            short.rng = 1           | known are max-block, max-safer-block, buffer, ring
            directry = /mnt/x       | known are enabled, guice-module, providers, tuning, directory, short, regular, dma
            """)
    void shouldSayWhatIsAcceptedWhereAValueIsWrong(String setting, String accepted) {
        String key = setting.substring(0, setting.indexOf(' '));
        String message = assertThrows(ConfigurationException.class, () -> read("madeleine.tm.sci." + setting))
                .getMessage();
        assertTrue(message.contains(key.substring(key.indexOf('.') + 1)), message);
        assertTrue(message.contains("my.conf"), message);
        assertTrue(message.contains(accepted), message);
    }

    /**
     * What its {@code configure} threw would be logged with a stack trace, before the error that says what is wrong.
     */
    @Test
    void shouldRefuseWrongSettingsBeforeGuiceSeesThem() {
        Config wrong = config("madeleine.tm.sci.dma.to = 1 KiB");
        assertThrows(ConfigurationException.class, () -> new SciGuiceModule(wrong));
    }

    @Test
    void shouldDescribeItsModulesByTheSettings() {
        List<TransmissionCapabilities> modules = new SciPmm(
                        read(
                                "madeleine.tm.sci.short { max-block = 100, buffer = 1 KiB }, madeleine.tm.sci.dma.single-copy = off"))
                .transmissionModules();
        assertEquals(
                List.of("sci/short", "sci/regular"),
                modules.stream().map(TransmissionCapabilities::id).toList());
        assertEquals(100, modules.getFirst().maxBlockBytes());
        assertEquals(1024, modules.getFirst().bufferBytes());
        assertEquals(Long.MAX_VALUE, modules.getLast().maxBlockBytes());
    }

    @Test
    void shouldTakeSaferBlocksIntoTheRingAtLeastAsFarUpAsOthers() {
        for (String setting : List.of("max-safer-block = 0", "max-safer-block = 9 KiB", "max-safer-block = 10000")) {
            TransmissionCapabilities small = new SciPmm(
                            read("madeleine.tm.sci.short { max-block = 9 KiB, " + setting + " }"))
                    .transmissionModules()
                    .getFirst();
            assertEquals(9 * 1024, small.maxBlockBytes());
            assertEquals(setting.endsWith("10000") ? 10_000 : 9 * 1024, small.maxSaferBlockBytes());
        }
    }

    @Test
    void shouldSayWhyItIsNotAvailable() {
        assertTrue(new SciPmm(read("")).availability().on());
        var off = new SciPmm(read("madeleine.tm.sci.enabled = false")).availability();
        assertEquals("switched off by madeleine.tm.sci.enabled", off.reason());
        var nowhere = new SciPmm(read("madeleine.tm.sci.directory = /no/such/place")).availability();
        assertEquals(
                "/no/such/place is not a writable directory; give one with madeleine.tm.sci.directory", nowhere.text());
    }

    @Test
    void shouldWarnOfADirectoryThatWasGivenAndCannotBeUsed() {
        List<String> lines = new ArrayList<>();
        Handler listener = new Handler() {
            @Override
            public void publish(LogRecord line) {
                lines.add(line.getLevel() + " " + line.getMessage());
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger logger = Logger.getLogger("io.madeleine.tm.sci");
        logger.addHandler(listener);
        try {
            assertFalse(new SciPmm(read("madeleine.tm.sci.directory = /no/such/place"))
                    .availability()
                    .on());
        } finally {
            logger.removeHandler(listener);
        }
        assertEquals(
                List.of("WARNING sci is off: /no/such/place, given by madeleine.tm.sci.directory, is not a writable"
                        + " directory"),
                lines);
    }

    @Test
    void shouldBindItselfUnderItsName() {
        Map<String, ProtocolModule> bound = Guice.createInjector(new SciGuiceModule(config("")))
                .getInstance(Key.get(new TypeLiteral<Map<String, ProtocolModule>>() {}));
        assertEquals("sci", bound.get("sci").name());
        assertSame(SciPmm.class, bound.get("sci").getClass());
    }
}
