package io.madeleine.tm.sci.files;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.madeleine.api.SessionException;
import io.madeleine.pmm.spi.ProcessIdentity;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 2, unit = TimeUnit.MINUTES)
class ShutdownIT {
    @TempDir
    Path directory;

    /** Joins a session while its JVM shuts down; prints the class of what that throws. */
    static final class Late {
        private Late() {}

        static void main(String[] arguments) {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> join(Path.of(arguments[0]))));
        }

        private static void join(Path parent) {
            try {
                SessionDirectory.join(parent, "late", new ProcessIdentity(1, 0)).close();
            } catch (RuntimeException e) {
                System.out.print(e.getClass().getSimpleName());
                System.out.flush();
            }
        }
    }

    @Test
    void shouldRefuseToJoinASessionWhileTheJvmShutsDown() throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Late.class.getName(),
                        directory.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        assertEquals(0, process.waitFor());
        assertEquals(SessionException.class.getSimpleName(), printed);
        try (Stream<Path> left = Files.list(directory)) {
            assertEquals(0, left.count(), "nothing is left");
        }
    }
}
