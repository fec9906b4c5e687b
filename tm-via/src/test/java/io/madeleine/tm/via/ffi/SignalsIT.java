package io.madeleine.tm.via.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.tm.via.Fabrics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** libfabric and its providers do not hurt the JVM: its signals work while endpoints are open. */
class SignalsIT {
    private static final String TAKER = """
            #include <signal.h>
            #include <unistd.h>
            static void end(int signal) { _exit(70 + signal); }
            __attribute__((constructor)) static void take(void)
            {
                struct sigaction action = {.sa_handler = end};
                int signals[] = {SIGSEGV, SIGBUS, SIGTERM, SIGINT};
                for (int i = 0; i < 4; i++)
                    sigaction(signals[i], &action, 0);
                (void)!write(1, "taken\\n", 6);
            }
            """;

    @TempDir
    Path directory;

    private String run(String... arguments) throws IOException, InterruptedException {
        Path output = directory.resolve("output");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-Xcomp",
                "-XX:CompileCommand=compileonly,io.madeleine.tm.via.ffi.SignalProgram::*",
                "-XX:CompileCommand=quiet",
                "-cp",
                System.getProperty("java.class.path"),
                SignalProgram.class.getName()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
        builder.directory(directory.toFile());
        builder.environment().remove("JDK_JAVA_OPTIONS"); // its code is compiled as that of users
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
        check(said);
        if (provider.equals("shm")) { // its handler of SIGSEGV calls the JVM's, but first removes the endpoint's file
            assertTrue(said.contains("file: true"), said);
        }
    }

    private static void check(String said) {
        assertTrue(said.contains("null checks: 200"), said);
        assertTrue(said.contains("overflows: 20"), said);
        assertTrue(said.contains("received"), said);
    }

    /**
     * A library whose constructor takes the signals, as those of PSM do: the environment that keeps those from it has
     * no effect on this one, so that only the restoring helps.
     */
    @Test
    void shouldSurviveALibraryThatTakesTheSignalsWhenItIsLoaded() throws Exception {
        Fabrics.require();
        assumeTrue(Files.exists(Path.of("/usr/include/rdma/fabric.h")), "no headers (package libfabric-dev)");
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/gcc")), "no C compiler (package gcc)");
        Path source = Files.writeString(directory.resolve("taker.c"), TAKER);
        Path library = directory.resolve("libtaker.so");
        Process compiler = new ProcessBuilder(
                        "/usr/bin/gcc",
                        "-shared",
                        "-fPIC",
                        "-Wl,--no-as-needed",
                        "-o",
                        library.toString(),
                        source.toString(),
                        "-lfabric")
                .inheritIO()
                .start();
        assertTrue(compiler.waitFor(60, TimeUnit.SECONDS) && compiler.exitValue() == 0, "gcc failed");
        String said = run("net", library.toString());
        assertTrue(said.contains("taken"), said);
        check(said);
    }
}
