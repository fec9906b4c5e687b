package io.madeleine.tm.tcp;

import io.madeleine.pmm.handshake.HandshakeFrames;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.testkit.Fuzzing;
import io.madeleine.tm.tcp.stream.StreamFuzz;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Jazzer looks for bytes that break what reads them. */
@Timeout(600)
class FuzzTest {
    private static final String PACKAGES = "io.madeleine.tm.tcp.**";

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
                folder,
                PACKAGES,
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
        packets = Fuzzing.start(StreamFuzz.class, folder, PACKAGES, packet);
    }

    @AfterAll
    static void end() {
        for (Fuzzing fuzzing : new Fuzzing[] {handshakes, packets}) {
            if (fuzzing != null) {
                fuzzing.end();
            }
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
