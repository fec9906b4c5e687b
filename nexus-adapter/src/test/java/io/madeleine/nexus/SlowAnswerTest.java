package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.nexus.wan.Credentials;
import io.madeleine.nexus.wan.Handshake;
import io.madeleine.nexus.wan.Listener;
import io.madeleine.nexus.wan.SealedConnection;
import io.madeleine.nexus.wire.NodeId;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A listener whose answer to a greeting comes byte by byte, without an end. */
@Timeout(value = 30, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("measures")
class SlowAnswerTest {
    private static final int LONG_MS = 120_000;
    private static final ContextOptions OPTIONS = ContextOptions.DEFAULT.withConnectTimeout(Duration.ofMillis(2_000));

    private static Listener listener(Context context) throws IOException {
        byte[] key = context.node().session().deriveKey(Attaching.PURPOSE);
        return new Listener(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                new Credentials(key, null),
                LONG_MS,
                SlowAnswerTest::answerSlowly);
    }

    /** The first handshake of a JVM takes long. */
    @BeforeAll
    static void warmUp() throws IOException {
        Credentials credentials = new Credentials(new byte[32], null);
        InetSocketAddress loopback = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (Listener listener = new Listener(loopback, credentials, LONG_MS, SealedConnection::close)) {
            Handshake.connect("127.0.0.1", listener.port(), credentials, LONG_MS)
                    .close();
        }
    }

    private static void answerSlowly(SealedConnection connection) throws IOException {
        connection.readUnit(Greeting.MAX_BYTES);
        connection.write(
                ByteBuffer.allocate(Integer.BYTES).putInt(Greeting.MAX_BYTES).array(), 0, Integer.BYTES);
        while (true) { // until the other end closes the connection
            LockSupport.parkNanos(20_000_000);
            connection.write(new byte[1], 0, 1);
        }
    }

    @Test
    void shouldEndAttachingAtTheConnectTimeoutThoughBytesKeepComing() throws IOException {
        try (World world = new World("sci", 1, OPTIONS, _ -> {});
                Listener listener = listener(world.of(0))) {
            AttachException late = assertThrows(
                    AttachException.class, () -> world.of(0).attach("nexus://127.0.0.1:" + listener.port()));
            assertTrue(late.getMessage().contains("not answered within 2000 ms"), late::getMessage);
        }
    }

    @Test
    void shouldEndTheConnectionOfARequestAtTheConnectTimeoutThoughBytesKeepComing() throws IOException {
        try (World world = new World("sci", 1, OPTIONS, _ -> {});
                Listener listener = listener(world.of(0))) {
            Node node = world.of(0).node();
            Peer peer = node.nodes().of(new NodeId("another session", "default", 0));
            IOException late = assertThrows(
                    IOException.class,
                    () -> world.of(0).attaching().connect(peer, new WanAddress("127.0.0.1", listener.port(), 1, 2)));
            assertNotNull(late.getMessage());
            assertTrue(late.getMessage().contains("not answered within 2000 ms"), late::getMessage);
        }
    }
}
