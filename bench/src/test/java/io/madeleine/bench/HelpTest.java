package io.madeleine.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.bench.measure.Pattern;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

class HelpTest {
    static Stream<Callable<Integer>> commands() {
        return Stream.of(new PerfCommand(), new TuneCommand());
    }

    /** The library warns on standard error of texts that it takes for formats and cannot read, such as "5 % faster". */
    @ParameterizedTest
    @MethodSource("commands")
    void shouldShowItsHelpWithoutAWarning(Callable<Integer> command) {
        PrintStream before = System.err;
        ByteArrayOutputStream warnings = new ByteArrayOutputStream();
        System.setErr(new PrintStream(warnings, true, StandardCharsets.UTF_8));
        String help;
        try {
            help = new CommandLine(command).getUsageMessage();
        } finally {
            System.setErr(before);
        }
        assertEquals("", warnings.toString(StandardCharsets.UTF_8));
        assertTrue(help.contains("--conf"), help);
    }

    @Test
    void shouldExplainEachPatternThatIsNotOfMpi() {
        String help = new CommandLine(new PerfCommand()).getUsageMessage();
        for (Pattern pattern : Patterns.all()) {
            assertTrue(pattern.isOfProgram() || help.contains(" " + pattern.word()), pattern.word());
        }
    }
}
