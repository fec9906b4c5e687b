package io.madeleine.session.bootstrap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.admission.Proofs;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Messages to a process that reads, reads nothing, or is gone. */
@Timeout(30)
class ControlSenderTest {
    private ControlConnection ours;
    private ControlConnection theirs;
    private ControlSender sender;
    private Thread thread;

    @BeforeEach
    void connect() throws IOException {
        try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Socket socket = new Socket(listening.getInetAddress(), listening.getLocalPort());
            byte[] key = new byte[Proofs.BYTES];
            ours = new ControlConnection(socket, key, key);
            theirs = new ControlConnection(listening.accept(), key, key);
        }
        sender = new ControlSender(ours, task -> {
            thread = Thread.ofVirtual().unstarted(task);
            return thread;
        });
    }

    @AfterEach
    void close() throws InterruptedException {
        ours.close();
        theirs.close();
        sender.close();
        thread.join();
    }

    private static long inMs(long millis) {
        return System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    }

    /** Its user closes the connection behind it: what has not left by then is lost. */
    @Test
    void shouldSendAllInOrderBeforeItsCloseEndsAndNothingAfterwards() throws Exception {
        for (int i = 0; i < 300; i++) {
            sender.send(new ControlMessage.Left(i));
        }
        sender.close();
        sender.send(new ControlMessage.Left(-1));
        ours.close();
        for (int i = 0; i < 300; i++) {
            assertEquals(new ControlMessage.Left(i), theirs.receive().orElseThrow());
        }
        assertThrows(EOFException.class, () -> theirs.receive());
    }

    @Test
    void shouldLeaveItToItsUserToCloseTheConnectionUnlessItsThreadFails() throws Exception {
        ControlSender other = new ControlSender(ours, task -> Thread.ofVirtual().unstarted(task));
        sender.close();
        thread.join();
        other.send(new ControlMessage.Left(1));
        assertEquals(new ControlMessage.Left(1), theirs.receive().orElseThrow());
        other.send(new ControlMessage.Put("k", new byte[ControlMessage.MAX_VALUE_BYTES + 1])); // cannot be encoded
        assertThrows(EOFException.class, () -> theirs.receive());
    }

    @Test
    void shouldWaitUntilAllIsSentAndForNoLongerThanItMay() throws Exception {
        sender.awaitSent(inMs(60_000));
        sender.send(new ControlMessage.Left(1));
        sender.awaitSent(inMs(20_000));
        assertEquals(new ControlMessage.Left(1), theirs.receive().orElseThrow());

        byte[] large = new byte[ControlMessage.MAX_VALUE_BYTES];
        for (int i = 0; i < 100; i++) { // more than the buffers of the system take
            sender.send(new ControlMessage.Put("k", large));
        }
        long beganNs = System.nanoTime();
        sender.awaitSent(inMs(30));
        assertTrue(System.nanoTime() - beganNs >= 29_000_000, "the peer reads nothing");
        Thread.currentThread().interrupt();
        sender.awaitSent(inMs(60_000));
        assertTrue(Thread.interrupted(), "an interrupt ends the wait, too, and stays");
        sender.beatIfIdle(System.nanoTime(), 0); // no sign of life: it would come behind all that
        for (int i = 0; i < 100; i++) {
            assertTrue(theirs.receive().orElseThrow() instanceof ControlMessage.Put);
        }
        sender.awaitSent(inMs(20_000));
        theirs.receiveTimeoutMs(20);
        assertEquals(Optional.empty(), theirs.receive());
    }

    @Test
    void shouldSendASignOfLifeWhenIdleAndNotBefore() throws Exception {
        long nowNs = System.nanoTime();
        sender.beatIfIdle(nowNs, 1_000_000_000_000L);
        sender.send(new ControlMessage.Left(1));
        assertEquals(new ControlMessage.Left(1), theirs.receive().orElseThrow());
        sender.awaitSent(inMs(20_000));
        sender.beatIfIdle(System.nanoTime(), 0);
        assertEquals(new ControlMessage.Heartbeat(), theirs.receive().orElseThrow());
        sender.close();
    }

    /** The reader of the connection learns from its end that the peer is gone. */
    @Test
    void shouldCloseTheConnectionIfThePeerIsGone() throws Exception {
        theirs.close();
        long giveUpNs = inMs(20_000);
        for (int i = 0; !isClosed(); i++) {
            assertTrue(System.nanoTime() - giveUpNs < 0, "it is still open");
            sender.send(new ControlMessage.Left(i));
            Thread.sleep(1);
        }
    }

    private boolean isClosed() throws IOException {
        try {
            ours.receiveTimeoutMs(1);
            return ours.receive().isPresent();
        } catch (EOFException e) {
            return false; // the peer's half: sending has not failed yet
        } catch (SocketException e) {
            return e.getMessage().contains("losed");
        }
    }
}
