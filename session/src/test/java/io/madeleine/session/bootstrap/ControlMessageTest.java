package io.madeleine.session.bootstrap;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Each message arrives as it was sent, and bytes that are no message are refused. */
class ControlMessageTest {
    private static final List<ControlMessage> ALL = List.of(
            new ControlMessage.Hello("a session", 3, 70_000, "höst", 1L << 40),
            new ControlMessage.Welcome("id", -1, "there", 77),
            new ControlMessage.Refused("no"),
            new ControlMessage.Put("key", new byte[] {1, 2, 3}),
            new ControlMessage.Value("key", 5, new byte[0]),
            new ControlMessage.Complete("key"),
            new ControlMessage.MissingQuery("key"),
            new ControlMessage.MissingReply("key", "rank 4"),
            new ControlMessage.Heartbeat(),
            new ControlMessage.Leave(),
            new ControlMessage.Left(6),
            new ControlMessage.Death(7, "it ended"),
            new ControlMessage.PeerGaveUp(8, "cut"),
            new ControlMessage.OpenFailed(9, "no network"),
            new ControlMessage.SessionAbort(10, 42, "enough"),
            new ControlMessage.Exiting(11),
            new ControlMessage.Launch(12, new byte[] {9}),
            new ControlMessage.Launched(13, new long[] {14, 1L << 50}, "none"),
            new ControlMessage.LaunchedEnded(15, 16, 17),
            new ControlMessage.LaunchGivenUp(18));

    /** Records with arrays are not equal to their copies: their fields are. */
    private static String text(ControlMessage message) {
        return switch (message) {
            case ControlMessage.Put put -> "put " + put.key() + Arrays.toString(put.value());
            case ControlMessage.Value value -> "value " + value.key() + value.rank() + Arrays.toString(value.value());
            case ControlMessage.Launch launch -> "launch " + launch.id() + Arrays.toString(launch.spec());
            case ControlMessage.Launched launched ->
                "launched " + launched.id() + Arrays.toString(launched.pids()) + launched.failure();
            default -> message.kind() + message;
        };
    }

    @Test
    void shouldDecodeEachMessageToWhatWasEncoded() throws Exception {
        Set<Byte> types = new HashSet<>();
        for (ControlMessage message : ALL) {
            byte[] frame = message.encode();
            assertTrue(types.add(frame[0]), "another message has the type of " + message);
            assertEquals(text(message), text(ControlMessage.decode(frame)));
        }
        assertEquals(ControlMessage.class.getPermittedSubclasses().length, ALL.size());
        ControlMessage none = new ControlMessage.Launched(13, new long[0], "");
        assertEquals(text(none), text(ControlMessage.decode(none.encode())));
        assertEquals("peergaveup", new ControlMessage.PeerGaveUp(8, "cut").kind());
    }

    @Test
    void shouldRefuseAMessageThatIsCutLengthenedOrUnknown() {
        for (ControlMessage message : ALL) {
            byte[] frame = message.encode();
            for (int length = 0; length < frame.length; length++) {
                byte[] cut = Arrays.copyOf(frame, length);
                assertThrows(
                        IOException.class, () -> ControlMessage.decode(cut), () -> message + " cut to " + cut.length);
            }
            byte[] longer = Arrays.copyOf(frame, frame.length + 1);
            String why = assertThrows(IOException.class, () -> ControlMessage.decode(longer))
                    .getMessage();
            assertEquals("1 bytes too many in a control message of type " + frame[0], why);
        }
        for (int type : new int[] {0, 21, 127, -1}) {
            byte[] unknown = {(byte) type, 0, 0, 0, 0};
            String why = assertThrows(IOException.class, () -> ControlMessage.decode(unknown))
                    .getMessage();
            assertEquals("unknown control message of type " + type, why);
        }
    }

    /** Whatever the bytes are: a message, or an IOException, and no memory for lengths that are only claimed. */
    @Test
    void shouldDecodeNoiseToAMessageOrARefusal() {
        Random random = new Random(5);
        int refused = 0;
        for (int i = 0; i < 4_000; i++) {
            byte[] noise = new byte[1 + random.nextInt(40)];
            random.nextBytes(noise);
            noise[0] = (byte) (1 + i % 20);
            if (i % 2 == 0 && noise.length > 4) {
                noise[1] = 0; // small numbers get further
                noise[2] = (byte) random.nextInt(8);
            }
            try {
                ControlMessage.decode(noise);
            } catch (IOException e) {
                refused++;
            }
        }
        assertTrue(refused > 2_000, refused + " were refused");
    }

    @Test
    void shouldBoundTextsByCuttingThemAndValuesByRefusingThem() throws Exception {
        for (int length : new int[] {899, 900, 901, 70_000}) {
            ControlMessage.Refused refused = new ControlMessage.Refused("x".repeat(length));
            assertEquals(
                    "x".repeat(Math.min(length, ControlMessage.MAX_TEXT_BYTES)),
                    ((ControlMessage.Refused) ControlMessage.decode(refused.encode())).reason());
        }
        byte[] longest = new byte[ControlMessage.MAX_VALUE_BYTES];
        longest[longest.length - 1] = 1;
        byte[] frame = new ControlMessage.Put("k".repeat(1000), longest).encode();
        assertTrue(frame.length <= ControlMessage.MAX_FRAME_BYTES);
        assertArrayEquals(longest, ((ControlMessage.Put) ControlMessage.decode(frame)).value());
        ControlMessage tooLong = new ControlMessage.Put("k", new byte[longest.length + 1]);
        assertThrows(UncheckedIOException.class, tooLong::encode);
    }

    @Test
    void shouldRefuseLengthsThatAreNegativeTooLargeOrOnlyClaimed() {
        for (int length : new int[] {-1, Integer.MIN_VALUE, 3, ControlMessage.MAX_VALUE_BYTES + 1, Integer.MAX_VALUE}) {
            byte[] put = ByteBuffer.allocate(1 + 2 + 4 + 2)
                    .put((byte) 4)
                    .putShort((short) 0)
                    .putInt(length)
                    .array();
            assertThrows(IOException.class, () -> ControlMessage.decode(put), "value of " + length);
            byte[] launched = ByteBuffer.allocate(1 + 8 + 4 + 8 + 2)
                    .put((byte) 17)
                    .putLong(1)
                    .putInt(length)
                    .array();
            assertThrows(IOException.class, () -> ControlMessage.decode(launched), length + " numbers");
        }
        int tooLong = ControlMessage.MAX_TEXT_BYTES + 1;
        byte[] text = ByteBuffer.allocate(1 + 2 + tooLong)
                .put((byte) 3)
                .putShort((short) tooLong)
                .array();
        assertThrows(IOException.class, () -> ControlMessage.decode(text));
        byte[] value = ByteBuffer.allocate(1 + 2 + 4 + ControlMessage.MAX_VALUE_BYTES + 1)
                .put((byte) 4)
                .putShort((short) 0)
                .putInt(ControlMessage.MAX_VALUE_BYTES + 1)
                .array();
        assertThrows(IOException.class, () -> ControlMessage.decode(value));
    }

    // ---- launch requests, which travel in such a message

    @Test
    void shouldDecodeALaunchRequestToWhatWasEncoded() throws Exception {
        for (LaunchSpec spec : List.of(
                new LaunchSpec(3, List.of("java", "", "Mäin"), Map.of("A", "", "B", "x=y\n")),
                new LaunchSpec(1, List.of(), Map.of()),
                new LaunchSpec(4096, List.of("java"), Map.of()))) {
            assertEquals(spec, LaunchSpec.decode(spec.encode()));
        }
    }

    @Test
    void shouldRefuseALaunchRequestThatIsMalformedOrTooLong() {
        for (String wrong : new String[] {
            "",
            "1",
            "x\0000",
            "1\000x",
            "1\0002\000java",
            "1\000-1\000java",
            "1\0001\000java\000A",
            "1\0001\000java\000A\000b\000C"
        }) {
            assertThrows(IOException.class, () -> LaunchSpec.decode(wrong.getBytes()), () -> "taken: " + wrong);
        }
        int head = "1\0001\000".length();
        LaunchSpec longest = new LaunchSpec(1, List.of("x".repeat(ControlMessage.MAX_VALUE_BYTES - head)), Map.of());
        assertEquals(ControlMessage.MAX_VALUE_BYTES, longest.encode().length);
        LaunchSpec longer = new LaunchSpec(1, List.of(longest.command().getFirst() + "x"), Map.of());
        String why =
                assertThrows(IllegalArgumentException.class, longer::encode).getMessage();
        assertTrue(why.contains("of 65537 bytes"), why);
    }
}
