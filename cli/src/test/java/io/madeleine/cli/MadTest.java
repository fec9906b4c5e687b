package io.madeleine.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

class MadTest {
    @TempDir
    Path directory;

    private static void assertOneSentence(String text) {
        assertEquals(1, text.lines().count(), text);
        assertFalse(text.contains("\tat "), text);
    }

    @Test
    void shouldListAllCommandsWithTheirPurpose() {
        CommandLineRun help = CommandLineRun.of("--help");
        assertEquals(0, help.code());
        for (String command : List.of("run", "info", "explain", "secret", "perf", "test")) {
            assertTrue(help.out().lines().anyMatch(line -> line.matches("  " + command + " +\\S.{20,}")), help.out());
        }
        assertEquals("", help.err());
    }

    @ParameterizedTest
    @ValueSource(strings = {"run", "info", "explain", "secret", "perf"})
    void shouldExplainEachCommandWithExitCodesAndExamples(String command) {
        CommandLineRun help = CommandLineRun.of(command, "--help");
        assertEquals(0, help.code());
        assertEquals("", help.err());
        assertTrue(help.out().contains("Usage: mad " + command), help.out());
        String exitCodes = help.out()
                .substring(help.out().indexOf("Exit codes:"), help.out().indexOf("Examples:"));
        for (String code : List.of("  0 ", "  1 ", "  2 ")) {
            assertTrue(exitCodes.contains(code), exitCodes);
        }
        String examples = help.out().substring(help.out().indexOf("Examples:"));
        assertTrue(
                examples.lines()
                                .filter(line -> line.startsWith("  mad " + command))
                                .count()
                        >= 2,
                examples);
        assertEquals(help, CommandLineRun.of("help", command));
    }

    @Test
    void shouldSayAnErrorOfTheJvmInOneSentence() {
        StringWriter err = new StringWriter();
        CommandLine broken = new CommandLine(CommandSpec.create().name("broken"))
                .setErr(new PrintWriter(err, true))
                .setExecutionStrategy(_ -> {
                    throw new InternalError("no file", new IOException("Too many open files"));
                });
        assertEquals(1, Mad.execute(broken));
        assertEquals(
                "broken: java.lang.InternalError: no file: java.io.IOException: Too many open files",
                err.toString().strip());
    }

    @Test
    void shouldAnswerItsVersion() {
        CommandLineRun version = CommandLineRun.of("--version");
        assertEquals(0, version.code());
        String jdk = Pattern.quote("JDK " + Runtime.version());
        assertTrue(version.out().matches("Madeleine \\d+\\.\\d+\\.\\d+\\S*, " + jdk + ", .*\\R"), version.out());
    }

    @Test
    void shouldSayWhichCommandsThereAre() {
        CommandLineRun wrong = CommandLineRun.of("pref");
        assertEquals(Mad.USAGE, wrong.code());
        assertOneSentence(wrong.err());
        assertTrue(
                wrong.err().contains("pref")
                        && wrong.err().contains("run, info, explain, secret, perf, tune, classpath, install, test"),
                wrong.err());
        CommandLineRun nothing = CommandLineRun.of();
        assertEquals(Mad.USAGE, nothing.code());
        assertOneSentence(nothing.err());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "info --jsno",
                "info --set wait.mode",
                "info --set =x",
                "run -n 1 --set wait.mode Main",
                "perf --set wait.mode",
                "perf --pattern speed",
                "tune --set =x",
                "tune --write /no-such-directory/t.conf",
                "perf --json /no-such-directory/rows.json",
                "perf --report /no-such-directory/report.html",
                "explain",
                "secret one two",
                "explain --bytes 64Ki --send LATE",
                "explain --bytes many",
                "explain --bytes 8 --protocol sco",
                "run",
                "run -n 2",
                "run -n two Main",
                "run -n 0 Main",
                "run -n 2 --on-failure ask Main",
                "perf --protocol nothing",
                "perf --seconds 0",
                "perf --sizes 0",
                "perf --sizes 8,x",
                "perf --json"
            })
    void shouldEndWithTwoAndOneSentenceWhenTheCommandLineIsWrong(String line) {
        CommandLineRun wrong = CommandLineRun.of(line.split(" "));
        assertEquals(Mad.USAGE, wrong.code(), wrong.err());
        assertOneSentence(wrong.err());
        assertTrue(wrong.err().startsWith("mad " + line.split(" ")[0] + ": "), wrong.err());
        assertEquals("", wrong.out());
    }

    @ParameterizedTest
    @ValueSource(strings = {"info", "explain --bytes 8", "run -n 1 Main", "perf"})
    void shouldEndWithOneAndNameTheKeyWhenTheConfigurationIsWrong(String line) throws Exception {
        Path file = Files.writeString(directory.resolve("wrong.conf"), "madeleine.wait.mood = spin\n");
        String[] words = line.split(" ");
        List<String> arguments = new java.util.ArrayList<>(List.of(words));
        arguments.addAll(1, List.of("--conf", file.toString()));
        CommandLineRun wrong = CommandLineRun.of(arguments.toArray(String[]::new));
        assertEquals(Mad.FAILURE, wrong.code(), wrong.err());
        assertOneSentence(wrong.err());
        assertTrue(wrong.err().contains("mood") && wrong.err().contains("wrong.conf"), wrong.err());
    }

    @Test
    void shouldShowTheStackTraceOnRequestOnly() {
        CommandLineRun wrong = CommandLineRun.of("info", "--conf", "no-such-file.conf", "--verbose");
        assertEquals(Mad.FAILURE, wrong.code());
        assertTrue(wrong.err().contains("no-such-file.conf") && wrong.err().contains("\tat "), wrong.err());
    }

    @Test
    void shouldLeaveTestsToTheScript() {
        CommandLineRun test = CommandLineRun.of("test", "-pl", "pmm");
        assertEquals(Mad.USAGE, test.code());
        assertOneSentence(test.err());
    }

    @ParameterizedTest
    @ValueSource(strings = {"help pref", "pref --help", "help pref --help"})
    void shouldSayThatItCannotHelpWithACommandThatThereIsNot(String line) {
        CommandLineRun wrong = CommandLineRun.of(line.split(" "));
        assertEquals(Mad.USAGE, wrong.code());
        assertOneSentence(wrong.err());
        assertTrue(wrong.err().startsWith("mad: there is no command pref: expected one of run, "), wrong.err());
        assertEquals("", wrong.out());
    }

    @Test
    void shouldSayThatASecretNeedsAFilesName() {
        CommandLineRun wrong = CommandLineRun.of("secret", "");
        assertEquals(Mad.USAGE, wrong.code());
        assertTrue(wrong.err().startsWith("mad secret: \"\": expected the name of a new file"), wrong.err());
    }

    @Test
    void shouldNameEachPatternOnce() {
        String words = CommandLineRun.of("perf", "--pattern", "speed").err();
        assertTrue(words.contains("latency, bandwidth, ") && words.contains("rsr-vthread, "), words);
        assertFalse(words.contains("RSR_VTHREAD"), words);
    }

    @Test
    void shouldCheckWhatNetworksAreToldBeforeItStartsAnything() {
        CommandLineRun wrong =
                CommandLineRun.of("run", "-n", "1", "--no-native", "--set", "tm.sci.short.ringg=1MiB", "NoSuchMain");
        assertEquals(Mad.FAILURE, wrong.code());
        assertOneSentence(wrong.err());
        assertTrue(wrong.err().contains("unknown key madeleine.tm.sci.short.ringg"), wrong.err());
        assertTrue(wrong.err().contains("did you mean ring?"), wrong.err());
    }
}
