package io.madeleine.integration;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.Session;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Messages that nobody receives stop their sender; they fill no memory, and all of them come in the end. */
class SlowReceiverIT {
    private static final int BYTES = 1 << 20;
    private static final int COUNT = 72;
    private static final int MOST_UNDER_WAY = 40;

    private static void assertStops(String... settings) throws Exception {
        try (Processes processes = Ranks.of(2, Program.class)
                .over("tcp")
                .with("channels.side.network=tcp")
                .with(settings)
                .java("-Xmx32m", "-XX:MaxDirectMemorySize=16m")
                .start()) {
            int sent = Integer.parseInt(processes.awaitLine(0, "sent "));
            assertTrue(
                    sent < MOST_UNDER_WAY, () -> sent + " messages of 1 MiB, none of which was received\n" + processes);
            processes.assertSuccess();
            assertEquals("all", processes.awaitLine(1, "received "));
        }
    }

    @Test
    void shouldStopTheSenderAndGrowNoMemory() throws Exception {
        assertStops();
    }

    @Test
    void shouldStopTheSenderAndGrowNoMemoryWithTls(@TempDir Path folder) throws Exception {
        Path store = folder.resolve("own.p12");
        Path certificate = folder.resolve("own.pem");
        Path key = folder.resolve("own.key");
        keytool("-genkeypair -keyalg EC -groupname secp256r1 -dname CN=own -alias own -validity 2", store);
        keytool("-exportcert -rfc -alias own -file " + certificate, store);
        KeyStore opened = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            opened.load(in, "unimportant".toCharArray());
        }
        byte[] encoded = opened.getKey("own", "unimportant".toCharArray()).getEncoded();
        Files.writeString(
                key,
                "-----BEGIN PRIVATE KEY-----\n" + Base64.getMimeEncoder().encodeToString(encoded)
                        + "\n-----END PRIVATE KEY-----\n");
        assertStops(
                "tm.tcp.tls.enabled=true",
                "tm.tcp.tls.certificate=" + certificate,
                "tm.tcp.tls.private-key=" + key,
                "tm.tcp.tls.trusted=" + certificate);
    }

    private static void keytool(String words, Path store) throws Exception {
        String keytool =
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
        Process process = new ProcessBuilder(
                        (keytool + " " + words + " -storetype PKCS12 -storepass unimportant -keystore " + store)
                                .split(" "))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        assertEquals(0, process.waitFor());
    }

    /**
     * Rank 0 sends; rank 1 waits for something else first, which comes a second later, while all networks are polled.
     */
    static final class Program {
        private static final int PAUSE_MS = 1_000;

        public static void main(String[] args) throws InterruptedException {
            try (Session session = Session.open()) {
                MemorySegment block = session.allocate(BYTES);
                if (session.rank() == 0) {
                    send(session, block);
                } else {
                    receive(session, block);
                }
            }
        }

        private static void send(Session session, MemorySegment block) throws InterruptedException {
            Channel channel = session.channel();
            AtomicInteger sent = new AtomicInteger();
            Thread teller = Thread.ofPlatform().start(() -> {
                try {
                    Thread.sleep(PAUSE_MS);
                } catch (InterruptedException _) {
                    Thread.currentThread().interrupt();
                }
                System.out.println("sent " + sent.get());
                session.channel("side").beginPacking(1).endPacking();
            });
            for (int number = 0; number < COUNT; number++) {
                block.fill((byte) number);
                channel.beginPacking(1).packInt(number).pack(block).endPacking();
                sent.incrementAndGet();
            }
            teller.join();
        }

        private static void receive(Session session, MemorySegment block) {
            session.channel("side").beginUnpacking(20, SECONDS).endUnpacking();
            MemorySegment expected = session.allocate(BYTES);
            for (int number = 0; number < COUNT; number++) {
                IncomingMessage in = session.channel().beginUnpacking();
                if (in.unpackInt() != number) {
                    throw new AssertionError("message " + number + " is missing");
                }
                in.unpack(block);
                in.endUnpacking();
                if (block.mismatch(expected.fill((byte) number)) != -1) {
                    throw new AssertionError("message " + number + " is not as it was sent");
                }
            }
            System.out.println("received all");
        }
    }
}
