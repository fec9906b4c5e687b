package io.madeleine.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.ConfigurationException;
import io.madeleine.session.LaunchPlan;
import io.madeleine.session.OnFailure;
import io.madeleine.session.SessionInfo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class RunCommandTest {
    private static LaunchPlan plan(String... arguments) {
        RunCommand command = new RunCommand();
        new CommandLine(command)
                .setStopAtUnmatched(true)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .parseArgs(arguments);
        return command.plan();
    }

    /** What java gets behind Madeleine's own options. */
    private static List<String> program(LaunchPlan plan) {
        List<String> java = plan.javaArguments();
        int own = java.indexOf("--add-modules") + 2;
        int first = java.get(own).startsWith("--enable-native-access=") ? own + 1 : own;
        return java.subList(first, java.size());
    }

    @Test
    void shouldGiveJavaEverythingFromTheFirstArgumentThatIsNotItsOwn() {
        LaunchPlan plan = plan("-n", "2", "-Xmx64m", "-cp", "a:b", "Main", "-n", "3", "--no-prefix", "--", "x");
        assertEquals(2, plan.processes());
        assertEquals(List.of("-Xmx64m", "-cp", "a:b", "Main", "-n", "3", "--no-prefix", "--", "x"), program(plan));
        assertTrue(plan.conduct().prefix());
    }

    @Test
    void shouldGiveJavaEverythingBehindTwoDashes() {
        LaunchPlan plan = plan("-n", "3", "--no-prefix", "--", "--verbose", "-jar", "app.jar", "--", "y");
        assertEquals(List.of("--verbose", "-jar", "app.jar", "--", "y"), program(plan));
        assertFalse(plan.conduct().prefix());
    }

    @Test
    void shouldRefuseVariablesAndDirectoriesThatDoNotExist(@TempDir Path folder) {
        for (String variable : List.of("=1", "", "NO_SUCH_VARIABLE_OF_MAD")) {
            CommandLine.ParameterException wrong =
                    assertThrows(CommandLine.ParameterException.class, () -> plan("-n", "2", "-x", variable, "Main"));
            assertTrue(wrong.getMessage().contains("expected NAME=VALUE"), wrong.getMessage());
        }
        String missing = folder.resolve("missing").toString();
        CommandLine.ParameterException wrong =
                assertThrows(CommandLine.ParameterException.class, () -> plan("-n", "2", "--wdir", missing, "Main"));
        assertTrue(wrong.getMessage().contains(missing), wrong.getMessage());
        assertEquals(
                Optional.of(folder.toAbsolutePath()),
                plan("-n", "2", "-wdir", folder.toString(), "Main").directory());
    }

    @Test
    void shouldTakeItsOwnOptionsInAnyOrderBeforeTheProgram(@TempDir Path directory) throws IOException {
        Path file = Files.createFile(directory.resolve("x.conf"));
        LaunchPlan plan = plan(
                "--no-native",
                "--conf",
                file.toString(),
                "--on-failure",
                "continue",
                "--set",
                "networks=[tcp]",
                "--set=wait.mode=block",
                "-n4",
                "X.java");
        assertEquals(4, plan.processes());
        assertEquals(Optional.of(file), plan.configuration());
        assertEquals(OnFailure.CONTINUE, plan.conduct().onFailure());
        assertEquals(List.of("networks=[tcp]", "wait.mode=block"), plan.settings());
        assertEquals(List.of("X.java"), program(plan));
    }

    @Test
    void shouldGrantTheModuleForSingleCopyNativeAccessByDefaultWhereItIsOfUse() {
        String grant = "--enable-native-access=io.madeleine.linux";
        assertEquals(
                SessionInfo.of(List.of()).nativeModules().contains("io.madeleine.linux"),
                plan("-n", "1", "Main").javaArguments().contains(grant));
        assertFalse(plan("-n", "1", "--set", "tm.sci.dma.single-copy=off", "Main")
                .javaArguments()
                .contains(grant));
    }

    @Test
    void shouldPutMadeleineOnTheModulePathAndGrantNothingIfItIsNotTo() {
        List<String> java = plan("-n", "1", "--no-native", "Main").javaArguments();
        assertEquals(
                List.of(
                        "--module-path",
                        System.getProperty("mad.module-path"),
                        "--add-modules",
                        "io.madeleine",
                        "Main"),
                java.subList(java.indexOf("--module-path"), java.size())); // behind the options of a class archive
    }

    @Test
    void shouldStopTheOthersAndPrefixByDefault() {
        LaunchPlan plan = plan("-n", "1", "Main");
        assertEquals(OnFailure.STOP, plan.conduct().onFailure());
        assertTrue(plan.conduct().prefix());
        assertTrue(plan.conduct().input());
    }

    /** The classes that mad cannot see may bring the driver. */
    @Test
    void shouldLeaveANetworkThatItDoesNotKnowToAProgramWithClassesOfItsOwn() {
        assertEquals(
                2,
                plan("-n", "2", "--set", "networks=[note]", "-cp", "drivers.jar", "Main")
                        .processes());
        ConfigurationException e = assertThrows(
                ConfigurationException.class, () -> plan("-n", "2", "--set", "networks=[note]", "Main.java"));
        assertTrue(e.getMessage().contains("there is no note"), e.getMessage());
    }

    @Test
    void shouldFindWhatIsWrongWithTheConfigurationWithoutNativeAccessToo() {
        assertThrows(
                ConfigurationException.class,
                () -> plan("-n", "2", "--no-native", "--set", "wait.mode=quick", "-cp", "x.jar", "Main"));
    }

    @Test
    void shouldRefuseAProgramWhoseFileDoesNotExist(@TempDir Path folder) {
        CommandLineRun source = CommandLineRun.of("run", "-n", "2", "Nope.java");
        assertEquals(Mad.USAGE, source.code(), source.err());
        assertTrue(
                source.err()
                        .startsWith("mad run: there is no file Nope.java; looked for "
                                + Path.of("Nope.java").toAbsolutePath()),
                source.err());
        CommandLineRun jar = CommandLineRun.of("run", "-n2", "--wdir", folder.toString(), "-jar", "pom.xml", "x");
        assertEquals(Mad.USAGE, jar.code(), jar.err());
        assertTrue(jar.err().contains("there is no file pom.xml; looked for " + folder.resolve("pom.xml")), jar.err());
        String missing = folder.resolve("Nope.java").toString();
        CommandLineRun whole = CommandLineRun.of("run", "-n", "2", missing);
        assertTrue(whole.err().startsWith("mad run: there is no file " + missing + " ("), whole.err());
    }

    @Test
    void shouldSayHowItEndsProcessesAndWhichOfThemHasTheStandardInput() {
        String help = CommandLineRun.of("run", "--help").out().replaceAll("\\s+", " ");
        String grace = LaunchPlan.Conduct.DEFAULT.grace().toSeconds() + " seconds";
        assertTrue(help.contains("kills those that have not ended within " + grace), help);
        assertTrue(help.contains("Rank 0 alone has the standard input"), help);
        assertTrue(help.contains("Processes that the program has started itself"), help);
    }
}
