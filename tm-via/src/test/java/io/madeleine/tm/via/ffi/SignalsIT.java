package io.madeleine.tm.via.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.tm.via.Fabrics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** libfabric and its providers do not hurt the JVM: its signals work while endpoints are open. */
class SignalsIT {
    @TempDir
    Path directory;

    private String run(String provider) throws IOException, InterruptedException {
        Path output = directory.resolve("output");
        ProcessBuilder builder = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-Xcomp",
                        "-XX:CompileCommand=compileonly,io.madeleine.tm.via.ffi.SignalProgram::*",
                        "-XX:CompileCommand=quiet",
                        "-cp",
                        System.getProperty("java.class.path"),
                        SignalProgram.class.getName(),
                        provider)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        builder.directory(directory.toFile());
        Process process = builder.start();
        boolean ended = process.waitFor(60, TimeUnit.SECONDS);
        process.destroyForcibly();
        String said = Files.readString(output);
        assertTrue(ended, said);
        assertEquals(0, process.exitValue(), said);
        return said;
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm", "net"})
    void shouldThrowAndOverflowInCompiledCodeAndStillMeetANewPeer(String provider) throws Exception {
        Fabrics.require();
        String said = run(provider);
        assertTrue(said.contains("null checks: 200"), said);
        assertTrue(said.contains("overflows: 20"), said);
        assertTrue(said.contains("received"), said);
    }
}
