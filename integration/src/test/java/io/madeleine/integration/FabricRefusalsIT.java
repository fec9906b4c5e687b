package io.madeleine.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.api.MadeleineException;
import io.madeleine.api.Session;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What rank 0 of a session says that cannot use {@code via}: what is wrong, what was expected, and what mends it. */
@Tag("waits")
class FabricRefusalsIT {
    @TempDir
    private Path directory;

    private static void assertRefused(Ranks ranks, List<String> texts) throws Exception {
        try (Processes processes = ranks.start()) {
            processes.awaitAll();
            assertEquals(0, processes.exitCode(), processes::toString);
            String said = String.join(" ", processes.out(0).linesAfter("refused: "));
            for (String text : texts) {
                assertTrue(said.contains(text), () -> "expected \"" + text + "\"\n" + processes);
            }
        }
    }

    private static Ranks over(String provider) throws Exception {
        return Fabric.over(provider, 2, Program.class).with("session.open-timeout=5s");
    }

    @Test
    void shouldNameTheFlagWhereNativeAccessIsRevoked() throws Exception {
        Ranks withoutAccess = over("shm").withoutJava("--enable-native-access=ALL-UNNAMED");
        assertRefused(withoutAccess, List.of("via", "--enable-native-access="));
    }

    @ParameterizedTest
    @CsvSource({"/no/such/libfabric.so, not a readable file", "libnosuchfabric.so.1, libnosuchfabric.so.1"})
    void shouldSayWhatToInstallWhereTheLibraryIsMissing(String file, String said) throws Exception {
        assertRefused(
                over("shm").with("tm.via.library=" + file),
                List.of(said, "package libfabric1", "madeleine.tm.via.library"));
    }

    @ParameterizedTest
    @CsvSource({"1, 13", "3, 0"})
    void shouldNameTheVersionsItKnows(int major, int minor) throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/gcc")), "no C compiler (package gcc)");
        Path source = Files.writeString(
                directory.resolve("other.c"),
                "unsigned fi_version(void) { return " + major + " << 16 | " + minor + "; }\n");
        Path library = directory.resolve("libother.so");
        Process compiler = new ProcessBuilder(
                        "/usr/bin/gcc", "-shared", "-fPIC", "-o", library.toString(), source.toString())
                .inheritIO()
                .start();
        assertTrue(compiler.waitFor(60, TimeUnit.SECONDS) && compiler.exitValue() == 0, "gcc failed");
        assertRefused(
                over("shm").with("tm.via.library=" + library),
                List.of("libfabric " + major + "." + minor, "expected 1.14 to 2.x", "madeleine.tm.via.library"));
    }

    @Test
    void shouldNameTheProvidersThereAre() throws Exception {
        assertRefused(
                over("nosuch").with("session.secret=5f0d1c8e9b7a42638e21c4d5a6f70b9d"),
                List.of("provider nosuch", "it has the providers", "shm", "madeleine.tm.via.adapters.default"));
    }

    /** Prints why no session opens. */
    static final class Program {
        public static void main(String[] args) {
            try (Session session = Session.open(args)) {
                System.out.println("open, rank " + session.rank());
            } catch (MadeleineException e) {
                System.out.println("refused: " + String.valueOf(e.getMessage()).replace('\n', ' '));
            }
        }
    }
}
