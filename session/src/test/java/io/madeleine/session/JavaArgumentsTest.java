package io.madeleine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.jar.JarOutputStream;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JavaArgumentsTest {
    private static final String CORE = "/core";

    private static List<String> java(String... given) {
        return JavaArguments.withMadeleine(List.of(given), List.of(), CORE, Map.of());
    }

    private static List<String> expected(String modulePath, String... rest) {
        return java.util.stream.Stream.concat(
                        java.util.stream.Stream.of("--module-path", modulePath, "--add-modules", "io.madeleine"),
                        java.util.stream.Stream.of(rest))
                .toList();
    }

    @Test
    void shouldKeepTheOptionsForAnotherProcessButThoseOfOneAlone() {
        assertEquals(
                List.of("-Xmx1g", "--add-modules", "io.madeleine", "-Da=b", "-cp", "x:y"),
                JavaArguments.likeThisProcess(
                        List.of(
                                "/jdk/bin/java",
                                "-Xmx1g",
                                "-cp",
                                "x:y",
                                "--add-modules",
                                "io.madeleine",
                                "-Dmadeleine.session.rank=1",
                                "-agentlib:jdwp=address=5005",
                                "-Da=b",
                                "Main",
                                "-Dc=d"),
                        "x:y"));
        assertEquals(
                List.of("-Xmx1g", "-cp", "app.jar"),
                JavaArguments.likeThisProcess(List.of("-Xmx1g", "-jar", "app.jar", "-x"), "app.jar"));
        assertEquals(
                List.of("-p", "mods"), JavaArguments.likeThisProcess(List.of("java", "-p", "mods", "-m", "a/b"), ""));
    }

    @Test
    void shouldLeaveAllElseUnchangedAndInOrder() {
        assertEquals(
                expected(CORE, "-Xmx1g", "-cp", "a:b", "Main", "-p", "x", "--module-path=y"),
                java("-Xmx1g", "-cp", "a:b", "Main", "-p", "x", "--module-path=y"));
        assertEquals(expected(CORE, "-jar", "-p", "x"), java("-jar", "-p", "x"));
        assertEquals(expected(CORE), java());
    }

    @Test
    void shouldJoinAModulePathOfTheProgramWithItsOwn() {
        String joined = "mods" + File.pathSeparator + CORE;
        assertEquals(expected(joined, "-m", "app/Main", "-p", "x"), java("-p", "mods", "-m", "app/Main", "-p", "x"));
        assertEquals(expected(joined, "Main"), java("--module-path=mods", "Main"));
        assertEquals(expected(joined, "-ea", "Main"), java("-p", "other", "-ea", "--module-path", "mods", "Main"));
    }

    @Test
    void shouldNotTakeTheValueOfAnOptionForOneOrForTheProgram() {
        assertEquals(expected(CORE, "-cp", "-p", "Main", "-p", "x"), java("-cp", "-p", "Main", "-p", "x"));
        assertEquals(
                expected("m" + File.pathSeparator + CORE, "--add-modules", "a", "Main"),
                java("--add-modules", "a", "-p", "m", "Main"));
    }

    @Test
    void shouldResolveNothingElseForAModuleOfMadeleines() {
        assertEquals(
                List.of(
                        "--module-path",
                        CORE,
                        "--add-modules",
                        "io.madeleine",
                        "--enable-native-access=io.madeleine.linux",
                        "Main"),
                JavaArguments.withMadeleine(List.of("Main"), List.of("io.madeleine.linux"), CORE, Map.of()));
    }

    @Test
    void shouldGrantNativeAccessToTheNamedModulesAloneAndResolveThoseThatHoldLibraries(@TempDir Path core)
            throws IOException {
        try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(core.resolve("lib-x.jar")))) {
            jar.putNextEntry(new ZipEntry("lib/x.so"));
        }
        assertEquals(
                List.of(
                        "--module-path",
                        core.toString(),
                        "--add-modules",
                        "io.madeleine,lib.x",
                        "--enable-native-access=a,b",
                        "Main"),
                JavaArguments.withMadeleine(List.of("Main"), List.of("a", "b"), core.toString(), Map.of()));
    }

    @Test
    void shouldKnowTheFileOfAProgramThatIsASourceFileOrAJar() {
        assertEquals(
                Optional.of("a/X.java"), JavaArguments.programFile(List.of("-cp", "Y.java", "a/X.java", "Z.java")));
        assertEquals(
                Optional.of("app"), JavaArguments.programFile(List.of("-Xmx1g", "-jar", "-Da=b", "app", "X.java")));
        for (List<String> other : List.of(
                List.of("Main", "X.java"),
                List.of("-m", "a/b", "X.java"),
                List.of("--module", "a/b.java"),
                List.of("--module=a/b", "X.java"),
                List.of("@options", "X.java"),
                List.of("-jar"),
                List.<String>of())) {
            assertEquals(Optional.empty(), JavaArguments.programFile(other), other::toString);
        }
    }
}
