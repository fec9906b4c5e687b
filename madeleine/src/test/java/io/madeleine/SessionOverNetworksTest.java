package io.madeleine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.api.Session;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sessions whose ranks are threads of this JVM, with nothing but the one artifact, over each of its networks. */
@Timeout(60)
class SessionOverNetworksTest {
    /** Strong: to stretch a weak one takes seconds on a slow processor. */
    static final String SECRET = "5f0d1c8e9b7a42638e21c4d5a6f70b9d";

    private static final int[] SIZES = {0, 1, 100, 1024, 40_000, 1_000_003};

    static Map<String, Object> settings(int rank, int size, int port) {
        Map<String, Object> settings = new TreeMap<>();
        List<String> hosts = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            hosts.add("127.0.0.1:" + (port + i));
        }
        settings.put("session.hosts", hosts);
        settings.put("session.rank", rank);
        settings.put("session.secret", SECRET);
        return settings;
    }

    private static void run(int size, Map<String, ?> more, Consumer<Session> program) throws Exception {
        int port = Ports.free();
        List<Callable<Void>> ranks = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            int rank = i;
            ranks.add(() -> {
                Map<String, Object> settings = settings(rank, size, port);
                settings.putAll(more);
                try (Session session = Session.open(settings)) {
                    program.accept(session);
                }
                return null;
            });
        }
        all(ranks);
    }

    static void all(List<Callable<Void>> work) throws Exception {
        try (ExecutorService executor =
                Executors.newThreadPerTaskExecutor(Thread.ofPlatform().daemon().factory())) {
            List<Future<Void>> futures = new ArrayList<>();
            for (Callable<Void> one : work) {
                futures.add(executor.submit(one));
            }
            for (Future<Void> future : futures) {
                future.get();
            }
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }

    private static byte[] block(int seed, int size) {
        byte[] block = new byte[size];
        new Random(seed).nextBytes(block);
        return block;
    }

    private static void talkToEverybody(Session session) {
        Channel channel = session.channel();
        for (int peer = 0; peer < session.size(); peer++) {
            if (peer == session.rank()) {
                continue;
            }
            OutgoingMessage out = channel.beginPacking(peer);
            for (int size : SIZES) {
                out.packInt(size).pack(block(session.rank(), size), SendMode.CHEAPER, ReceiveMode.CHEAPER);
            }
            out.endPackingAsync();
        }
        for (int i = 1; i < session.size(); i++) {
            IncomingMessage in = channel.beginUnpacking();
            List<byte[]> received = new ArrayList<>();
            for (int size : SIZES) {
                assertEquals(size, in.unpackInt());
                byte[] block = new byte[size];
                received.add(block);
                in.unpack(block, SendMode.CHEAPER, ReceiveMode.CHEAPER);
            }
            int remote = in.remote();
            in.endUnpacking();
            received.forEach(block -> assertArrayEquals(block(remote, block.length), block));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "sci"})
    void shouldCarryMessagesBetweenThreeRanks(String network) throws Exception {
        run(3, Map.of("channels.default.network", network), session -> {
            assertEquals(network, session.channel().network((session.rank() + 1) % 3));
            talkToEverybody(session);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "sci"})
    void shouldNotTakeALeaveForAFailure(String network) throws Exception {
        CountDownLatch sent = new CountDownLatch(1);
        run(2, Map.of("channels.default.network", network), session -> {
            if (session.rank() == 1) {
                awaitQuietly(sent);
                return; // leaves without reading
            }
            BlockingQueue<String> heard = new LinkedBlockingQueue<>();
            session.onPeerFailure((_, cause) -> heard.add(cause.getMessage()));
            session.channel().beginPacking(1).packInt(1).endPacking();
            sent.countDown();
            assertThrows(PeerFailedException.class, () -> session.channel().beginUnpacking());
            try {
                assertNull(heard.poll(1, TimeUnit.SECONDS));
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            assertTrue(latch.await(20, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldTakeSharedMemoryByItself() throws Exception {
        run(2, Map.of(), session -> {
            assertEquals("sci", session.channel().network(1 - session.rank()));
            talkToEverybody(session);
        });
    }

    @Test
    void shouldFallBackToTcpWhereSharedMemoryIsOff() throws Exception {
        run(2, Map.of("tm.sci.enabled", false), session -> {
            assertEquals("tcp", session.channel().network(1 - session.rank()));
            talkToEverybody(session);
        });
    }

    @Test
    void shouldCarryTwoChannelsOverTwoNetworks() throws Exception {
        run(2, Map.of("channels.default.network", "sci", "channels.bulk.network", "tcp"), session -> {
            int peer = 1 - session.rank();
            for (String name : List.of("default", "bulk")) {
                session.channel(name).beginPacking(peer).packUtf8(name).endPacking();
            }
            for (String name : List.of("bulk", "default")) {
                IncomingMessage in = session.channel(name).beginUnpacking(peer);
                assertEquals(name, in.unpackUtf8());
                in.endUnpacking();
            }
        });
    }

    @Test
    void shouldOpenManyTimes() throws Exception {
        for (int i = 0; i < 10; i++) {
            run(2, Map.of(), SessionOverNetworksTest::talkToEverybody);
        }
    }
}
