package io.madeleine.session.network;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.BufferMode;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.session.config.ChannelSettings;
import io.madeleine.session.config.SharedSetting;
import java.io.IOException;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ProcessDescriptionTest {
    private static final TransmissionCapabilities SHORT = new TransmissionCapabilities(
            "x/short", BufferMode.STATIC, LinkMode.BUFFER, AggregationMode.ASYMMETRIC, 512, 2048, 1024, "small ones");
    private static final TransmissionCapabilities LONG = new TransmissionCapabilities(
            "x/long", BufferMode.DYNAMIC, LinkMode.BUFFER_GROUP, AggregationMode.SYMMETRIC, Long.MAX_VALUE, 0, "ä");
    private static final ProcessDescription DESCRIPTION = new ProcessDescription(
            new ProcessIdentity(-5, 3),
            new PublishedKeys(base64(44), base64(32)),
            "host",
            new Processors("0-1,7"),
            List.of("x", "y"),
            List.of(new ChannelSettings("a", "auto", "auto"), new ChannelSettings("b", "x", "x1")),
            List.of(
                    new ProcessDescription.AdapterDescription("x", "x0", "address of x0", List.of(SHORT, LONG)),
                    new ProcessDescription.AdapterDescription("x", "x1", "address of x1", List.of(LONG))),
            List.of(new SharedSetting("madeleine.x", "7")));

    private static String base64(int bytes) {
        return Base64.getEncoder().encodeToString(new byte[bytes]);
    }

    @Test
    void shouldComeBackAsItWas() throws IOException {
        assertEquals(DESCRIPTION, ProcessDescription.decode(DESCRIPTION.encode()));
    }

    @Test
    void shouldAnswerForNetworksAndChannels() {
        ChannelSettings a = DESCRIPTION.channel("a").orElseThrow();
        assertEquals("x0", DESCRIPTION.adapter("x", a).orElseThrow().adapter());
        assertEquals(
                "x1",
                DESCRIPTION
                        .adapter("x", DESCRIPTION.channel("b").orElseThrow())
                        .orElseThrow()
                        .adapter());
        assertTrue(DESCRIPTION.adapter("y", a).isEmpty());
        assertEquals(List.of(SHORT, LONG), DESCRIPTION.modules("x", "a"));
        assertEquals(List.of(LONG), DESCRIPTION.modules("x", "b"));
        assertEquals(List.of(), DESCRIPTION.modules("y", "a"));
        assertEquals(List.of(), DESCRIPTION.modules("x", "c"));
        assertTrue(DESCRIPTION.channel("c").isEmpty());
        assertEquals(Optional.of("7"), DESCRIPTION.shared("madeleine.x"));
        assertTrue(DESCRIPTION.shared("madeleine.y").isEmpty());
    }

    @Test
    void shouldRefuseWhatIsCutOrGarbled() throws IOException {
        byte[] good = DESCRIPTION.encode();
        for (int length = 0; length < good.length; length++) {
            byte[] cut = Arrays.copyOf(good, length);
            assertThrows(IOException.class, () -> ProcessDescription.decode(cut));
        }
        Random random = new Random(7);
        int refused = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] garbled = good.clone();
            garbled[random.nextInt(garbled.length)] = (byte) random.nextInt();
            try {
                ProcessDescription.decode(garbled);
            } catch (IOException _) {
                refused++; // any other exception fails the test
            }
        }
        assertTrue(refused > 1000, "" + refused);
    }

    @Test
    void shouldSendNoListThatTheOthersRefuse() throws IOException {
        ChannelSettings channel = new ChannelSettings("c", "auto", "auto");
        ProcessDescription most = withChannels(Collections.nCopies(1024, channel));
        assertEquals(most, ProcessDescription.decode(most.encode()));
        ProcessDescription more = withChannels(Collections.nCopies(1025, channel));
        String refusal = assertThrows(IOException.class, more::encode).getMessage();
        assertTrue(refusal.contains("1025") && refusal.contains("fewer channels"), refusal);
    }

    private static ProcessDescription withChannels(List<ChannelSettings> channels) {
        return new ProcessDescription(
                DESCRIPTION.identity(),
                DESCRIPTION.keys(),
                DESCRIPTION.host(),
                DESCRIPTION.processors(),
                List.of(),
                channels,
                List.of(),
                List.of());
    }

    @Test
    void shouldRefuseToBeLargerThanAnExchangeCarries() {
        List<ProcessDescription.AdapterDescription> many = Collections.nCopies(
                200, new ProcessDescription.AdapterDescription("x", "x0", "a".repeat(1000), List.of()));
        ProcessDescription large = new ProcessDescription(
                DESCRIPTION.identity(),
                DESCRIPTION.keys(),
                DESCRIPTION.host(),
                DESCRIPTION.processors(),
                List.of(),
                List.of(),
                many,
                List.of());
        assertTrue(assertThrows(IOException.class, large::encode).getMessage().contains("fewer channels or adapters"));
    }
}
