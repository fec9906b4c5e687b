package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.nexus.wan.Credentials;
import io.madeleine.nexus.wan.Handshake;
import io.madeleine.nexus.wan.Listener;
import io.madeleine.nexus.wan.SealedConnection;
import io.madeleine.nexus.wire.KeyTree;
import io.madeleine.nexus.wire.NodeId;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who connects, or is connected to, proves which rank of which session it is; to know the secret is not enough. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class IdentityTest {
    private static final InetSocketAddress LOOPBACK = new InetSocketAddress("127.0.0.1", 0);
    private static final int TIMEOUT_MS = 10_000;

    private static Credentials credentials(Context context) {
        return new Credentials(context.node().session().deriveKey("nexus wide area 2"), null);
    }

    /**
     * A greeting of a process that says that it is another one, shows the key of one of the two, and signs with its
     * own.
     */
    private static Arguments greeting(Context liar, NodeId claimed, Context shown, Greeting.Side side, byte[] binding) {
        byte[] text = claimed.toString().getBytes(StandardCharsets.UTF_8);
        byte[] message = Arrays.copyOf(binding, binding.length + text.length);
        System.arraycopy(text, 0, message, binding.length, text.length);
        byte[] signature = liar.node().session().sign("nexus wide area 1 " + side, message);
        Arguments forged = new Arguments();
        Greeting.writeId(forged, claimed);
        forged.putInt(shown.size())
                .putBytes(shown.node().session().publicKey(shown.rank()))
                .putBytes(shown.node().nodes().keyTree().path(shown.rank()))
                .putBytes(signature);
        WanAddress.writeAll(forged, List.of());
        return forged;
    }

    private static String answerTo(Context liar, int port, NodeId claimed, Context shown) throws IOException {
        try (SealedConnection connection = Handshake.connect("127.0.0.1", port, credentials(liar), TIMEOUT_MS)) {
            Arguments hello = greeting(liar, claimed, shown, Greeting.Side.CLIENT, connection.binding());
            connection.writeUnit(Greeting.bytes(hello.putByte((byte) 1).putString("")));
            Request answer = Greeting.unit(liar.node(), connection.readUnit(Greeting.MAX_BYTES), liar.rank());
            return answer.getBoolean() ? "" : answer.getString();
        }
    }

    @Test
    void shouldNotLetAMemberPoseAsAnotherRank() throws Exception {
        List<AttachRequest> asked = new ArrayList<>();
        try (World server = new World("sci", 2, _ -> {});
                World guests = new World("sci", 3, _ -> {})) {
            Endpoint open = server.of(0).endpoint("open");
            AttachPoint point = server.of(0).allowAttach(LOOPBACK, List.of("127.0.0.1"), request -> {
                asked.add(request);
                return Optional.of(open.startpoint());
            });
            Context liar = guests.of(2);
            for (Context victim : List.of(guests.of(0), guests.of(1), server.of(1), server.of(0))) {
                NodeId claimed = victim.node().nodes().self();
                for (Context shown : List.of(victim, liar)) {
                    String why = answerTo(liar, point.port(), claimed, shown);
                    assertTrue(why.contains("says that it is " + claimed + ", and cannot prove it"), why);
                }
            }
            assertEquals(List.of(), asked);
            assertEquals("", answerTo(liar, point.port(), liar.node().nodes().self(), liar));
            assertEquals(2, asked.getFirst().rank());
            assertEquals(liar.node().nodes().self().session(), asked.getFirst().session());
            assertTrue(
                    asked.getFirst().session().startsWith(liar.node().session().id() + "."));
        }
    }

    @Test
    void shouldNotBelieveAListenerThatItIsAnotherContext() throws Exception {
        try (World server = new World("sci", 2, _ -> {});
                World guests = new World("sci", 1, _ -> {})) {
            CompletableFuture<SealedConnection> called = new CompletableFuture<>();
            try (Listener poser = new Listener(LOOPBACK, credentials(server.of(1)), TIMEOUT_MS, connection -> {
                connection.readUnit(Greeting.MAX_BYTES);
                Arguments answer = greeting(
                        server.of(1),
                        server.of(0).node().nodes().self(),
                        server.of(0),
                        Greeting.Side.SERVER,
                        connection.binding());
                byte[] accepted = Greeting.bytes(new Arguments().putBoolean(true));
                byte[] rest = Greeting.bytes(answer);
                byte[] unit = Arrays.copyOf(accepted, accepted.length + rest.length);
                System.arraycopy(rest, 0, unit, accepted.length, rest.length);
                connection.writeUnit(unit);
                called.complete(connection);
            })) {
                AttachException e = assertThrows(
                        AttachException.class, () -> guests.of(0).attach("nexus://127.0.0.1:" + poser.port()));
                assertTrue(String.valueOf(e.getMessage()).contains("cannot prove it"), e::toString);
                called.get(5, TimeUnit.SECONDS).close();
            }
        }
    }

    @Test
    void shouldProveEveryRankOfSessionsOfEverySize() {
        for (int size = 1; size <= 20; size++) {
            List<byte[]> keys = new ArrayList<>();
            for (int rank = 0; rank < size; rank++) {
                keys.add(new byte[] {(byte) rank, 1});
            }
            KeyTree keyTree = new KeyTree(keys);
            String name = keyTree.nameOf("a.session");
            List<byte[]> more = new ArrayList<>(keys);
            more.add(new byte[1]);
            assertNotEquals(name, new KeyTree(more).nameOf("a.session"));
            for (int rank = 0; rank < size; rank++) {
                for (int claimed = 0; claimed < size; claimed++) {
                    assertEquals(rank == claimed, KeyTree.has(name, size, claimed, keys.get(rank), keyTree.path(rank)));
                }
                assertFalse(KeyTree.has(name, size + 1, rank, keys.get(rank), keyTree.path(rank)));
                assertFalse(KeyTree.has(name + "x", size, rank, keys.get(rank), keyTree.path(rank)));
                assertFalse(KeyTree.has(name, size, rank, new byte[] {77}, keyTree.path(rank)));
                assertFalse(KeyTree.has(name, size, rank, keys.get(rank), new byte[5]));
            }
        }
    }
}
