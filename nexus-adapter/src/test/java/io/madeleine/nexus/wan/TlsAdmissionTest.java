package io.madeleine.nexus.wan;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.admission.Acceptor;
import io.madeleine.admission.NoticeLimit;
import io.madeleine.admission.UnauthenticatedConnection;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Connections that have knocked and wait for TLS. */
@Timeout(60)
class TlsAdmissionTest {
    private static final Credentials KEY = new Credentials(new byte[32], null);
    private static final int AT_ONCE = 64;
    private static final int TIMEOUT_MS = 60_000;

    private final NoticeLimit notices = new NoticeLimit(System.getLogger("io.madeleine.nexus"), "");
    private final BlockingQueue<UnauthenticatedConnection<Preauthentication>> proven = new LinkedBlockingQueue<>();
    private final Acceptor.Host<Preauthentication> host = new Acceptor.Host<>() {
        @Override
        public Preauthentication newHandshake() {
            return new Preauthentication(KEY);
        }

        @Override
        public void proven(UnauthenticatedConnection<Preauthentication> connection) {
            proven.add(connection);
        }
    };

    @Test
    void shouldCloseConnectionsThatWaitWhenTheListenerIsClosed() throws Exception {
        List<Socket> guests = new ArrayList<>();
        List<UnauthenticatedConnection<Preauthentication>> entered = new ArrayList<>();
        try (Acceptor<Preauthentication> acceptor = new Acceptor<>(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                new Acceptor.Settings("test-listener", TIMEOUT_MS, "late", Acceptor.MAX_UNAUTHENTICATED),
                notices,
                host)) {
            try (TlsAdmission admission = new TlsAdmission(
                    KEY,
                    TIMEOUT_MS,
                    _ -> {},
                    _ -> Thread.ofVirtual().unstarted(() -> {}), // nobody is ever served
                    notices)) {
                for (int i = 0; i < AT_ONCE + 2; i++) {
                    guests.add(knock(acceptor.address()));
                    UnauthenticatedConnection<Preauthentication> connection = proven.poll(30, TimeUnit.SECONDS);
                    assertNotNull(connection);
                    entered.add(connection);
                    admission.enter(connection);
                }
            }
            for (int i = 0; i < AT_ONCE; i++) {
                assertTrue(entered.get(i).channel().isOpen());
            }
            assertFalse(entered.get(AT_ONCE).channel().isOpen());
            assertFalse(entered.get(AT_ONCE + 1).channel().isOpen());
        } finally {
            for (Socket guest : guests) {
                guest.close();
            }
            entered.forEach(UnauthenticatedConnection::close);
            notices.close();
        }
    }

    /** Knocks, and leaves it to a thread to wait for an answer that does not come. */
    private static Socket knock(InetSocketAddress address) throws IOException {
        Socket socket = new Socket(address.getAddress(), address.getPort());
        Thread.startVirtualThread(() -> {
            try {
                Preauthentication.knock(socket, KEY);
            } catch (IOException _) {
                // closed
            }
        });
        return socket;
    }
}
