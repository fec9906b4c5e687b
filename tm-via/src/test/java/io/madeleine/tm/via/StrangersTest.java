package io.madeleine.tm.via;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.tm.via.ffi.Flags;
import io.madeleine.tm.via.port.Completion;
import io.madeleine.tm.via.port.MessageFlyweight;
import io.madeleine.tm.via.port.Opening;
import io.madeleine.tm.via.port.Slab;
import io.madeleine.tm.via.port.ViaPort;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whoever opens a line without knowing the session's secret is among the peers for a short time only. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class StrangersTest {
    private static final int STRANGERS = 400;

    /** 256 that have not proved anything yet, 32 that failed to; one more before the oldest leaves. */
    private static final int MOST_PEERS = 289;

    private static final byte[] OTHER_SECRET = {4, 5, 6};
    private static final Map<String, CompletableFuture<Void>> RUNS = new ConcurrentHashMap<>();

    /** Sends openings in the name of others. */
    private static final class Stranger implements Completion {
        private final ViaPort port;
        private final Slab slab;
        private final int operation;
        private boolean isFree = true;

        Stranger(Side side) {
            port = ((ViaAdapter) side.adapter).port();
            slab = port.newSlab(4096, Flags.FI_SEND);
            operation = port.newOperations(this, 1);
        }

        boolean open(long peer, int number, byte[] name) {
            MessageFlyweight.address(
                    slab.memory(), 0, MessageFlyweight.NO_CONNECTION, MessageFlyweight.OPEN, number, number);
            MessageFlyweight.credits(slab.memory(), 0, 0, 0, 0);
            int bytes = MessageFlyweight.BYTES
                    + new Opening(number, 24, 8, 0, 0, name).write(slab.memory(), MessageFlyweight.BYTES);
            isFree =
                    port.sendWithCompletion(slab.address(), bytes, slab.descriptor(), peer, operation) != ViaPort.BEGUN;
            return !isFree;
        }

        @Override
        public void completed(int tag, long bytes) {
            isFree = true;
        }

        @Override
        public void failed(int tag, int code, String reason) {
            throw new AssertionError(reason);
        }
    }

    /** The name of an endpoint that does not exist; over TCP somebody listens there and never answers. */
    private static byte[] forgedName(Side side, int number, List<ServerSocket> silent) throws IOException {
        ViaAddress own = ViaAddress.read(side.adapter.address()).orElseThrow();
        byte[] name = own.name();
        if (own.provider().equals("shm")) {
            return ("fi_shm://forged" + number + "\0").getBytes(StandardCharsets.US_ASCII);
        }
        ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        silent.add(socket);
        ByteBuffer.wrap(name).putShort(2, (short) socket.getLocalPort());
        return name;
    }

    private static int peers(Side side) {
        return ((ViaAdapter) side.adapter).peerCount();
    }

    /** Each provider waits for ten seconds until the strangers are gone; they all wait at the same time. */
    @BeforeAll
    static void begin() {
        Fabrics.require();
        for (String provider : List.of("shm", "tcp;ofi_rxm", "net")) {
            RUNS.put(
                    provider,
                    CompletableFuture.runAsync(
                            () -> keepFewPeers(provider),
                            task -> Thread.ofPlatform().daemon().start(task)));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp;ofi_rxm", "net"})
    void shouldKeepFewPeersThatHaveProvedNothing(String provider) throws Exception {
        RUNS.get(provider).get();
    }

    private static void keepFewPeers(String provider) {
        List<ServerSocket> silent = new ArrayList<>();
        String session = "strangers-" + System.nanoTime();
        Side owner = new Side(Fabrics.driver(provider, ""), session, 1);
        Side other = new Side(Fabrics.driver(provider, ""), session, 2, OTHER_SECRET);
        Side member = new Side(Fabrics.driver(provider, ""), session, 3);
        try (owner;
                other;
                member) {
            Stranger stranger = new Stranger(other);
            long peer =
                    stranger.port.addPeer(((ViaAdapter) owner.adapter).port().name());
            int most = 0;
            for (int i = 0; i < STRANGERS; i++) {
                int number = i;
                byte[] name = forgedName(other, i, silent);
                Side.drive(other, owner, () -> stranger.isFree && stranger.open(peer, number, name));
                most = Math.max(most, peers(owner));
            }
            assertTrue(most <= MOST_PEERS, "there were " + most + " peers");
            Side.connect(member, owner);
            Side.drive(other, owner, () -> {
                LockSupport.parkNanos(200_000); // the strangers' time runs out by itself
                return stranger.isFree && peers(owner) == 1;
            });
            assertTrue(owner.loss.isEmpty(), owner.loss);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            close(silent);
        }
    }

    private static void close(List<ServerSocket> sockets) {
        for (ServerSocket socket : sockets) {
            try {
                socket.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
