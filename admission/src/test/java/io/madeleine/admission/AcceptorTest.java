package io.madeleine.admission;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a host that fails, or a shortage, costs those who prove themselves at the same time. */
@Timeout(30)
class AcceptorTest {
    private static final InetSocketAddress ANY = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    /** Long: who is let in by then was not let in because the time was over. */
    private static final int TIMEOUT_MS = 60_000;

    private static final byte RIGHT = 1;
    private static final byte FAILING = 2;
    private static final byte GATE = 3;

    private final CountDownLatch gate = new CountDownLatch(1);
    private final CountDownLatch gateReached = new CountDownLatch(1);
    private final List<Socket> clients = new ArrayList<>();
    private final LinkedBlockingQueue<UnauthenticatedConnection<OneByte>> proven = new LinkedBlockingQueue<>();

    @AfterEach
    void closeClients() throws IOException {
        gate.countDown();
        for (Socket client : clients) {
            client.close();
        }
    }

    /** The client proves itself by one byte; some have the acceptor's thread fail, or wait for the test. */
    private final class OneByte implements ServerHandshake {
        private final ByteBuffer received = ByteBuffer.allocate(1);

        @Override
        public byte[] opening() {
            return new byte[] {0};
        }

        @Override
        public ByteBuffer received() {
            return received;
        }

        @Override
        public boolean isProven() throws HandshakeException {
            switch (received.get(0)) {
                case RIGHT -> {}
                case FAILING -> throw new OutOfMemoryError("judging it");
                case GATE -> {
                    gateReached.countDown();
                    try {
                        gate.await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }
                default -> throw new HandshakeException("it said " + received.get(0));
            }
            return true;
        }
    }

    /** Fails for so many of those who are proven, and takes the others. */
    private final class Host implements Acceptor.Host<OneByte> {
        final AtomicInteger left;

        Host(int failures) {
            left = new AtomicInteger(failures);
        }

        @Override
        public OneByte newHandshake() {
            return new OneByte();
        }

        @Override
        public void proven(UnauthenticatedConnection<OneByte> connection) {
            if (connection.handshake().received().get(0) == GATE) {
                connection.close();
            } else if (left.getAndDecrement() > 0) {
                throw new OutOfMemoryError("unable to create native thread");
            } else {
                assertTrue(connection.channel().isOpen() && connection.channel().isBlocking());
                proven.add(connection);
            }
        }
    }

    private Acceptor<OneByte> acceptor(int maxCount, Host host) throws IOException {
        return new Acceptor<>(
                ANY,
                new Acceptor.Settings("acceptor-test", TIMEOUT_MS, "it was too late", maxCount),
                new NoticeLimit(System.getLogger("io.madeleine.admission.test"), ""),
                host);
    }

    private Socket connect(Acceptor<OneByte> acceptor) throws IOException {
        Socket client =
                new Socket(InetAddress.getLoopbackAddress(), acceptor.address().getPort());
        clients.add(client);
        assertEquals(0, client.getInputStream().read(), "it is greeted");
        return client;
    }

    /** Has all say their byte while the acceptor's thread waits, so that it hears them in one round. */
    private void sayTogether(Acceptor<OneByte> acceptor, byte... bytes) throws Exception {
        Socket first = connect(acceptor);
        List<Socket> others = new ArrayList<>();
        for (byte _ : bytes) {
            others.add(connect(acceptor));
        }
        first.getOutputStream().write(GATE);
        gateReached.await();
        for (int i = 0; i < bytes.length; i++) {
            others.get(i).getOutputStream().write(new byte[] {bytes[i], 0}); // and what comes after the handshake
        }
        gate.countDown();
    }

    private void awaitProven(int count) throws InterruptedException {
        for (int i = 0; i < count; i++) {
            assertTrue(proven.poll(10, TimeUnit.SECONDS) != null, i + " of " + count + " were let in");
        }
    }

    @Test
    void shouldLetTheOthersInAtOnceIfTheHostFailsForOne() throws Exception {
        try (Acceptor<OneByte> acceptor = acceptor(Acceptor.MAX_UNAUTHENTICATED, new Host(1))) {
            sayTogether(acceptor, RIGHT, RIGHT, RIGHT);
            awaitProven(2);
        }
    }

    @Test
    void shouldHandOverNobodyTwiceIfJudgingAnotherFails() throws Exception {
        try (Acceptor<OneByte> acceptor = acceptor(Acceptor.MAX_UNAUTHENTICATED, new Host(0))) {
            byte[] bytes = new byte[12]; // fewer than have their place however little there is
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = i % 3 == 2 ? FAILING : RIGHT;
            }
            sayTogether(acceptor, bytes);
            awaitProven(8);
            assertEquals(null, proven.poll(200, TimeUnit.MILLISECONDS));
        }
    }

    /** The host's failure leaves room for sixteen, and sixteen that are proven are full: the first of them goes. */
    @Test
    void shouldForgetWhoIsDroppedBetweenItsProofAndItsWelcome() throws Exception {
        try (Acceptor<OneByte> acceptor = acceptor(18, new Host(1))) {
            byte[] bytes = new byte[17];
            Arrays.fill(bytes, RIGHT);
            sayTogether(acceptor, bytes);
            awaitProven(15);
            assertEquals(null, proven.poll(200, TimeUnit.MILLISECONDS), "who was dropped is not let in");
            Socket late = connect(acceptor);
            late.getOutputStream().write(RIGHT);
            awaitProven(1);
        }
    }
}
