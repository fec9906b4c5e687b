package io.madeleine.tm.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.handshake.HandshakeFrames;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.tm.tcp.stream.StreamFuzz;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Jazzer looks for bytes that break what reads them, guided by what they make the code do. In a process of its own, because it
 * needs native access, which the tests of the core do without. What it finds is written behind the failure.
 */
@Timeout(600)
class FuzzTest {
    private static final int SECONDS = Boolean.getBoolean("thorough") ? 180 : 4;
    private static final Pattern COVERAGE = Pattern.compile("DONE +cov: (\\d+)");

    /** One process that looks, and what it says. */
    private record Fuzzing(Process process, Path output) {
        static Fuzzing start(Class<?> target, byte[]... seeds) throws IOException {
            Path own = Files.createDirectory(folder.resolve(target.getSimpleName()));
            Path corpus = Files.createDirectory(own.resolve("corpus"));
            for (int i = 0; i < seeds.length; i++) {
                Files.write(corpus.resolve("seed" + i), seeds[i]);
            }
            Path output = own.resolve("output");
            return new Fuzzing(
                    new ProcessBuilder(List.of(
                                    Path.of(System.getProperty("java.home"), "bin", "java")
                                            .toString(),
                                    "-Xmx512m",
                                    "-cp",
                                    System.getProperty("java.class.path"),
                                    "com.code_intelligence.jazzer.Jazzer",
                                    "--target_class=" + target.getName(),
                                    "--instrumentation_includes=io.madeleine.tm.tcp.**",
                                    "--reproducer_path=" + own,
                                    "-artifact_prefix=" + own + "/",
                                    "-max_total_time=" + SECONDS,
                                    "-max_len=4096",
                                    "-rss_limit_mb=3000",
                                    "-timeout=10",
                                    corpus.toString()))
                            .redirectErrorStream(true)
                            .redirectOutput(output.toFile())
                            .start(),
                    output);
        }

        void assertNothingFound(int leastCoverage) throws InterruptedException {
            assertTrue(process.waitFor(SECONDS + 120, TimeUnit.SECONDS), () -> "it does not end\n" + text(output));
            String said = text(output);
            assertEquals(0, process.exitValue(), said);
            Matcher coverage = COVERAGE.matcher(said);
            assertTrue(coverage.find(), said);
            assertTrue(
                    Integer.parseInt(coverage.group(1)) >= leastCoverage,
                    () -> "it reached " + coverage.group(1) + " places only, " + leastCoverage + " expected\n" + said);
        }
    }

    @TempDir
    static Path folder;

    private static Fuzzing handshakes;
    private static Fuzzing packets;

    /** Both look at the same time. */
    @BeforeAll
    static void start() throws IOException {
        HandshakeFrames some = HandshakeFrames.initiator(Pair.SECRET);
        handshakes = Fuzzing.start(
                HandshakeFuzz.class,
                seed(0, framed(some.hello())),
                seed(1, framed(some.challenge())),
                seed(1, framed(HandshakeFrames.reject((byte) 2))),
                seed(2, HandshakeFuzz.bodyOfJoin()),
                new byte[] {3, 1},
                new byte[] {3, 0, 'n', 'o'});
        byte[] packet = new byte[8 + 8 + 5 + 8];
        packet[0] = 3;
        packet[1] = 7;
        ByteBuffer bytes = ByteBuffer.wrap(packet).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(8, PacketHeader.of(5, 0, 0, PacketHeader.FIRST));
        bytes.putLong(21, StreamFuzz.FAREWELL);
        packets = Fuzzing.start(StreamFuzz.class, packet);
    }

    @AfterAll
    static void end() {
        for (Fuzzing fuzzing : new Fuzzing[] {handshakes, packets}) {
            if (fuzzing != null) {
                fuzzing.process.destroyForcibly();
            }
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file, StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return e.toString();
        }
    }

    private static byte[] seed(int first, byte[] rest) {
        return ByteBuffer.allocate(1 + rest.length).put((byte) first).put(rest).array();
    }

    private static byte[] framed(byte[] frame) {
        return ByteBuffer.allocate(2 + frame.length)
                .putShort((short) frame.length)
                .put(frame)
                .array();
    }

    @Test
    void shouldReadHandshakesOfWhateverBytes() throws Exception {
        handshakes.assertNothingFound(100);
    }

    @Test
    void shouldReadPacketsOfWhateverBytes() throws Exception {
        packets.assertNothingFound(60);
    }
}
