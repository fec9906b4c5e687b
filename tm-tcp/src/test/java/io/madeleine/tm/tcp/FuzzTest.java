package io.madeleine.tm.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Jazzer looks for bytes that break what reads them, guided by what they make the code do. In a process of its own, because it
 * needs native access, which the tests of the core do without. What it finds is written behind the failure.
 */
@Timeout(600)
class FuzzTest {
    private static final int SECONDS = Boolean.getBoolean("thorough") ? 180 : 8;
    private static final Pattern COVERAGE = Pattern.compile("DONE +cov: (\\d+)");

    @TempDir
    Path folder;

    private void fuzz(Class<?> target, int leastCoverage, byte[]... seeds) throws Exception {
        Path corpus = Files.createDirectory(folder.resolve("corpus"));
        for (int i = 0; i < seeds.length; i++) {
            Files.write(corpus.resolve("seed" + i), seeds[i]);
        }
        Path output = folder.resolve("output");
        Process jazzer = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx512m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        "com.code_intelligence.jazzer.Jazzer",
                        "--target_class=" + target.getName(),
                        "--instrumentation_includes=io.madeleine.tm.tcp.**",
                        "--reproducer_path=" + folder,
                        "-artifact_prefix=" + folder + "/",
                        "-max_total_time=" + SECONDS,
                        "-max_len=4096",
                        "-rss_limit_mb=3000",
                        "-timeout=10",
                        corpus.toString()))
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertTrue(jazzer.waitFor(SECONDS + 120, TimeUnit.SECONDS), () -> "it does not end\n" + text(output));
        } finally {
            jazzer.destroyForcibly();
        }
        String said = text(output);
        assertEquals(0, jazzer.exitValue(), said);
        Matcher coverage = COVERAGE.matcher(said);
        assertTrue(coverage.find(), said);
        assertTrue(
                Integer.parseInt(coverage.group(1)) >= leastCoverage,
                () -> "it reached " + coverage.group(1) + " places only, " + leastCoverage + " expected\n" + said);
    }

    private static String text(Path file) {
        try {
            return Files.readString(file, StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return e.toString();
        }
    }

    private static byte[] seed(int first, ByteBuf rest) {
        byte[] bytes = ByteBufUtil.getBytes(rest);
        byte[] seed = new byte[1 + bytes.length];
        seed[0] = (byte) first;
        System.arraycopy(bytes, 0, seed, 1, bytes.length);
        return seed;
    }

    @Test
    void shouldReadHandshakesOfWhateverBytes() throws Exception {
        Handshake some = Handshake.initiator(Pair.SECRET);
        fuzz(
                HandshakeFuzz.class,
                100,
                seed(0, framed(some.hello())),
                seed(1, framed(some.challenge())),
                seed(1, framed(Handshake.reject((byte) 2))),
                seed(2, HandshakeFuzz.bodyOfJoin()),
                new byte[] {3, 1},
                new byte[] {3, 0, 'n', 'o'});
    }

    private static ByteBuf framed(ByteBuf frame) {
        return io.netty.buffer.Unpooled.buffer()
                .writeShort(frame.readableBytes())
                .writeBytes(frame);
    }

    @Test
    void shouldReadPacketsOfWhateverBytes() throws Exception {
        byte[] packet = new byte[8 + 8 + 5 + 8];
        packet[0] = 3;
        packet[1] = 7;
        java.nio.ByteBuffer bytes = java.nio.ByteBuffer.wrap(packet).order(java.nio.ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(8, io.madeleine.pmm.spi.PacketHeader.of(5, 0, 0, io.madeleine.pmm.spi.PacketHeader.FIRST));
        bytes.putLong(21, StreamReceiver.FAREWELL);
        fuzz(StreamFuzz.class, 60, packet);
    }
}
