package io.madeleine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClassArchiveTest {
    private static final FileTime THEN = FileTime.fromMillis(1_000_000_000_000L);
    private static final FileTime LATER = FileTime.fromMillis(1_000_000_001_000L);

    @TempDir
    Path directory;

    private Path core;
    private Path jar;
    private Path archive;

    @BeforeEach
    void make() throws IOException {
        core = Files.createDirectory(directory.resolve("core"));
        jar = Files.createFile(core.resolve("a.jar"));
        archive = Files.createFile(directory.resolve("core.jsa"));
        Files.setLastModifiedTime(jar, THEN);
        Files.setLastModifiedTime(archive, LATER);
    }

    private List<String> options(String... given) {
        return ClassArchive.options(core.toString(), List.of(given), Map.of());
    }

    @Test
    void shouldTakeTheArchiveBesideTheFolder() {
        List<String> expected = List.of("-XX:SharedArchiveFile=" + archive, "-Xlog:cds*=off,aot*=off");
        assertEquals(expected, options("-Xmx1g", "-cp", "classes", "Main"));
        assertEquals(expected, ClassArchive.options(core + File.separator, List.of(), Map.of()));
    }

    @Test
    void shouldPutItBeforeTheOptionsOfTheProgram() {
        List<String> java =
                JavaArguments.withMadeleine(List.of("-Xmx1g", "Main"), List.of(), core.toString(), Map.of());
        assertEquals("-XX:SharedArchiveFile=" + archive, java.getFirst());
        assertEquals(List.of("-Xmx1g", "Main"), java.subList(java.size() - 2, java.size()));
    }

    @Test
    void shouldTakeNoneThatIsNotThere() throws IOException {
        Files.delete(archive);
        assertEquals(List.of(), options());
        assertEquals(
                List.of(), ClassArchive.options(directory.resolve("nowhere").toString(), List.of(), Map.of()));
    }

    @Test
    void shouldTakeNoneThatIsOlderThanAJar() throws IOException {
        Files.setLastModifiedTime(jar, FileTime.fromMillis(LATER.toMillis() + 1));
        assertEquals(List.of(), options());
    }

    @Test
    void shouldTakeNoneForAProgramWithModulesOfItsOwn() {
        assertEquals(List.of(), ClassArchive.options("mods" + File.pathSeparator + core, List.of(), Map.of()));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-Xshare:off",
                "-XX:SharedArchiveFile=mine.jsa",
                "-XX:AOTCache=mine.aot",
                "-XX:AOTMode=off",
                "-XX:VMOptionsFile=mine",
                "-XX:+UseZGC",
                "-XX:+UseCompactObjectHeaders",
                "--patch-module=a=b"
            })
    void shouldTakeNoneBesideOptionsThatTheJvmWouldRefuseItFor(String option) {
        assertEquals(List.of(), options("-Xmx1g", option, "Main"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS"})
    void shouldTakeNoneBesideSuchOptionsInTheEnvironment(String variable) {
        for (String text :
                List.of("-Xmx1g -XX:AOTMode=off", "\"-Xshare:off\"", "\t-XX:AOTCache=a.aot", "-ea @options")) {
            assertEquals(List.of(), ClassArchive.options(core.toString(), List.of(), Map.of(variable, text)), text);
        }
        Map<String, String> harmless = Map.of(variable, " -Xmx1g -Da=-Xshare:off", "OTHER", "-Xshare:off");
        assertEquals(
                2, ClassArchive.options(core.toString(), List.of(), harmless).size());
    }
}
