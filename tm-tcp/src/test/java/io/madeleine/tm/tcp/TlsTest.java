package io.madeleine.tm.tcp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.ConfigurationException;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.InternetAddress;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.ProcessIdentity;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.testkit.Certificates;
import io.madeleine.testkit.RecordingLogger;
import io.madeleine.tm.tcp.config.TcpConfig;
import io.madeleine.tm.tcp.reactor.NettyReactor;
import io.madeleine.tm.tcp.tls.TlsIdentity;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Who may join when connections are encrypted, and what those hear who may not. */
@Timeout(60)
public class TlsTest {
    @TempDir
    static Path folder;

    static Certificates authority;
    private static Certificates stranger;
    static Certificates.Signed first;
    static Certificates.Signed second;
    Pair pair;

    @BeforeAll
    static void make() {
        Pair.assumeIo();
        authority = new Certificates(folder, "authority", Pair.TLS);
        stranger = new Certificates(folder, "stranger", Pair.TLS);
        first = authority.sign("first");
        second = authority.sign("second");
    }

    @AfterEach
    void close() {
        if (pair != null) {
            pair.close();
        }
    }

    private static Pair.Side side(int id, String settings) {
        return new Pair.Side(id, Pair.SESSION, Pair.SECRET, settings);
    }

    static Pair pair(String left, String right) {
        return new Pair(side(1, left), side(2, right));
    }

    private static Pair goodPair() {
        return pair(first.settings(authority), second.settings(authority));
    }

    /** What the caller is told, and what the log of the called says. */
    private record Refusal(String caller, String log) {}

    private Refusal refusal(String left, String right) throws Exception {
        pair = pair(left, right);
        var calling = pair.left.connect("main", pair.right, true, 42);
        var answering = pair.right.connect("main", pair.left, false, 42);
        pair.driveUntil(() -> calling.isDone() && !pair.right.log.lines().isEmpty());
        assertFalse(answering.isDone() && !answering.isCompletedExceptionally());
        return new Refusal(Pair.failureOf(calling), String.join("\n", pair.right.log.lines()));
    }

    private static void assertContains(String part, String text) {
        assertTrue(text.contains(part), () -> "\"" + part + "\" is missing in: " + text);
    }

    public static byte[] pattern(int bytes) {
        byte[] pattern = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            pattern[i] = (byte) (i * 31 + (i >> 8));
        }
        return pattern;
    }

    static void send(Pair pair, Pair.End from, byte[] payload, int sequence) {
        BufferGroup group = new BufferGroup();
        if (payload.length > 0) {
            MemorySegment memory = Arena.ofAuto().allocate(payload.length);
            memory.copyFrom(MemorySegment.ofArray(payload));
            group.add(memory, 0, payload.length);
        }
        long header = PacketHeader.of(payload.length, sequence, 0, PacketHeader.FIRST);
        int[] status = {from.link.send(header, group, 0)};
        if (status[0] != LinkStatus.COMPLETE) {
            pending = () -> {
                if (status[0] == LinkStatus.PENDING) {
                    status[0] = from.link.send(header, group, 0);
                }
            };
        }
    }

    private static Runnable pending = () -> {};

    static byte[] receive(Pair pair, Pair.End to) {
        AtomicLong header = new AtomicLong();
        pair.driveUntil(() -> {
            pending.run();
            header.set(to.link.front());
            return header.get() != 0;
        });
        int bytes = PacketHeader.payloadBytes(header.get());
        MemorySegment memory = Arena.ofAuto().allocate(Math.max(1, bytes));
        BufferGroup group = new BufferGroup();
        if (bytes > 0) {
            group.add(memory, 0, bytes);
            pair.driveUntil(() -> {
                pending.run();
                to.link.receive(group, bytes);
                return group.isEmpty();
            });
        }
        to.link.release();
        pending = () -> {};
        return memory.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE);
    }

    @Test
    void shouldCarryPacketsOfAnySizeBothWays() throws Exception {
        pair = goodPair();
        Pair.Ends ends = pair.connect();
        int sequence = 0;
        for (int bytes : new int[] {0, 1, 8, 100, 16_375, 16_376, 16_384, 20_000, 300_000, 5_000_000}) {
            send(pair, ends.left(), pattern(bytes), sequence);
            assertArrayEquals(pattern(bytes), receive(pair, ends.right()));
            send(pair, ends.right(), pattern(bytes), sequence++);
            assertArrayEquals(pattern(bytes), receive(pair, ends.left()));
        }
    }

    @Test
    void shouldNotPutOnTheWireWhatIsSent() throws Exception {
        pair = goodPair();
        try (Relay relay = new Relay(
                InternetAddress.parse(pair.right.adapter.address(), "tcp").port())) {
            byte[] secretText = "a text that nobody else may read, ".repeat(100).getBytes();
            Pair.Ends ends = connectThrough(relay);
            send(pair, ends.left(), secretText, 0);
            assertArrayEquals(secretText, receive(pair, ends.right()));
            assertTrue(relay.seen().length > secretText.length);
            assertFalse(new String(relay.seen(), java.nio.charset.StandardCharsets.ISO_8859_1)
                    .contains("a text that nobody"));
        }
    }

    private CompletableFuture<ProtocolConnection> callThrough(Relay relay) {
        return pair.left
                .adapter
                .openChannel("main")
                .connect(new io.madeleine.pmm.spi.ConnectionRequest(
                        pair.right.identity,
                        relay.address(pair.right.adapter.address()),
                        true,
                        pair.left.pmm.transmissionModules(),
                        42,
                        System.nanoTime() + Pair.PATIENCE.toNanos()));
    }

    private Pair.Ends connectThrough(Relay relay) throws Exception {
        var calling = callThrough(relay);
        var answering = pair.right.connect("main", pair.left, false, 42);
        pair.driveUntil(() -> calling.isDone() && answering.isDone());
        return new Pair.Ends(new Pair.End(calling.get()), new Pair.End(answering.get()));
    }

    /** What the caller's last read of the handshake brings with it, and much more of what comes at once. */
    @Test
    void shouldLoseNothingOfAFloodRightBehindTheHandshake() throws Exception {
        String smallBuffers = "\nmadeleine.tm.tcp.stream.buffer = 4KiB";
        pair = pair(first.settings(authority) + smallBuffers, second.settings(authority) + smallBuffers);
        try (Relay relay = new Relay(
                InternetAddress.parse(pair.right.adapter.address(), "tcp").port())) {
            var calling = callThrough(relay);
            pair.driveUntil(() -> pair.right.adapter.connections().waitingCount() == 1);
            relay.holding = true;
            var answering = pair.right.connect("main", pair.left, false, 42);
            pair.driveUntil(answering::isDone);
            Pair.End right = new Pair.End(answering.get());
            byte[] small = pattern(1000);
            int packets = 100;
            for (int i = 0; i < packets; i++) {
                send(pair, right, small, i);
            }
            pair.driveUntil(() -> relay.heldBytes() > packets * small.length);
            relay.release();
            pair.driveUntil(calling::isDone);
            Pair.End left = new Pair.End(calling.get());
            for (int i = 0; i < packets; i++) {
                assertArrayEquals(small, receive(pair, left), "packet " + i);
            }
        }
    }

    /** The head of a record promises more than any has: the handshake waits for it and hands on all of it. */
    @Test
    void shouldEndTheConnectionOfAPeerThatSendsTooLongARecordRightBehindTheHandshake() throws Exception {
        pair = goodPair();
        try (Relay relay = new Relay(
                InternetAddress.parse(pair.right.adapter.address(), "tcp").port())) {
            var calling = callThrough(relay);
            pair.driveUntil(() -> pair.right.adapter.connections().waitingCount() == 1);
            byte[] record = pattern(5 + 0xFFFF - 1);
            System.arraycopy(new byte[] {0x17, 3, 3, (byte) 0xFF, (byte) 0xFF}, 0, record, 0, 5);
            relay.say(record);
            long untilNs = System.nanoTime() + 100_000_000;
            pair.driveUntil(() -> System.nanoTime() - untilNs > 0); // most of it is read meanwhile
            var answering = pair.right.connect("main", pair.left, false, 42);
            pair.driveUntil(() -> answering.isDone() && calling.isDone());
            Pair.End right = new Pair.End(answering.get());
            right.whenReadable(() -> right.link.front() > 0);
            pair.driveUntil(() -> right.losses > 0);
            assertFalse(right.orderly);
            assertContains("a record of 65540 bytes", right.reason);
        }
    }

    @Test
    void shouldBreakTheConnectionWhenARecordWasChangedOnTheWay() throws Exception {
        pair = goodPair();
        try (Relay relay = new Relay(
                InternetAddress.parse(pair.right.adapter.address(), "tcp").port())) {
            Pair.Ends ends = connectThrough(relay);
            relay.corrupt = true;
            send(pair, ends.left(), pattern(1000), 0);
            ends.right().whenReadable(() -> ends.right().link.front() > 0);
            pair.driveUntil(() -> ends.right().losses > 0);
            assertFalse(ends.right().orderly);
            assertContains("TLS records", ends.right().reason);
            assertTrue(ends.right().link.front() <= 0, "nothing of it was delivered");
        }
    }

    @Test
    void shouldCallAnEndWithoutFarewellALoss() throws Exception {
        pair = goodPair();
        try (Relay relay = new Relay(
                InternetAddress.parse(pair.right.adapter.address(), "tcp").port())) {
            Pair.Ends ends = connectThrough(relay);
            ends.right().whenReadable(() -> ends.right().link.front() > 0);
            relay.cut(); // both ends see an orderly end of TCP, which anybody on the way can make
            pair.driveUntil(() -> ends.right().losses > 0);
            assertFalse(ends.right().orderly);
        }
    }

    @Test
    void shouldNotBeginWithACertificateThatHasExpired() {
        var expired = authority.sign("expired", -20, 10);
        ConfigurationException own =
                assertThrows(ConfigurationException.class, () -> side(1, expired.settings(authority)));
        assertContains("expired.pem", own.getMessage());
        assertContains("expected one that is valid now", own.getMessage());
    }

    @Test
    void shouldRefuseACallerWhoseCertificateHasExpired() throws Exception {
        pair = goodPair();
        SSLContext other = authority.sign("expired2", -20, 10).context(authority);
        try (SSLSocket caller = (SSLSocket) other.getSocketFactory().createSocket()) {
            caller.connect(
                    new InetSocketAddress(
                            InetAddress.getLoopbackAddress(),
                            InternetAddress.parse(pair.right.adapter.address(), "tcp")
                                    .port()),
                    5000);
            Thread.ofVirtual().start(() -> {
                try {
                    caller.startHandshake();
                    caller.getInputStream().read();
                } catch (IOException _) {
                    // as it should be
                }
            });
            pair.driveUntil(() -> !pair.right.log.lines().isEmpty());
        }
        assertContains("the peer's certificate has expired", String.join("\n", pair.right.log.lines()));
    }

    @Test
    void shouldNotTalkToAPeerWhoseCertificateHasExpired() throws Exception {
        pair = goodPair();
        SSLContext other = authority.sign("expired3", -20, 10).context(authority);
        assertContains("the peer's certificate has expired", failureOfCalling(other));
    }

    @Test
    void shouldNotTalkToAPeerWhoseCertificateIsNotValidYet() throws Exception {
        pair = goodPair();
        SSLContext other = authority.sign("early", 5, 10).context(authority);
        assertContains("the peer's certificate is not valid yet", failureOfCalling(other));
    }

    /** The JDK does not look at the dates of a certificate that is trusted by itself. */
    @Test
    void shouldNotAcceptAnExpiredCertificateThoughItIsTrustedByItself() throws Exception {
        Certificates old = new Certificates(folder, "old", Pair.TLS, -20, 10);
        pair = pair(first.settings(old), second.settings(authority));
        assertContains(
                "the peer's certificate has expired",
                failureOfCalling(old.itself().context(authority)));
    }

    /** Somebody else listens and shows a certificate; what the caller says about it. */
    private String failureOfCalling(SSLContext other) throws Exception {
        try (ServerSocket listener =
                other.getServerSocketFactory().createServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            Thread.ofVirtual().start(() -> {
                try (Socket caller = listener.accept()) {
                    caller.getInputStream().read();
                } catch (IOException _) {
                    // as it should be
                }
            });
            String here = pair.right.adapter.address();
            var calling = pair.left
                    .adapter
                    .openChannel("main")
                    .connect(new io.madeleine.pmm.spi.ConnectionRequest(
                            pair.right.identity,
                            here.replace(
                                    String.valueOf(
                                            InternetAddress.parse(here, "tcp").port()),
                                    String.valueOf(listener.getLocalPort())),
                            true,
                            pair.left.pmm.transmissionModules(),
                            42,
                            System.nanoTime() + Pair.PATIENCE.toNanos()));
            pair.driveUntil(calling::isDone);
            return Pair.failureOf(calling);
        }
    }

    @Test
    void shouldRefuseACertificateThatNobodyTrustedHasSigned() throws Exception {
        Refusal refusal = refusal(stranger.sign("unknown").settings(authority), second.settings(authority));
        assertContains("the peer trusts no issuer of this process's certificate", refusal.caller);
        assertContains("madeleine.tm.tcp.tls.trusted", refusal.caller);
        assertContains("the peer shows no certificate signed by one in", refusal.log);
    }

    @Test
    void shouldNotTalkToAPeerWhoseCertificateNobodyTrustedHasSigned() throws Exception {
        Refusal refusal =
                refusal(first.settings(authority), stranger.sign("unknown2").settings(authority));
        assertContains("the peer's certificate is unknown", refusal.caller);
        assertContains("madeleine.tm.tcp.tls.trusted", refusal.caller);
        // the system drops the caller's alert if the caller closes its socket before it has read all
        String seen = refusal.log.contains("during the TLS handshake")
                ? "its log tells why"
                : "does not trust this process's certificate";
        assertContains(seen, refusal.log);
    }

    @Test
    void shouldTellACallerWithoutTlsThatItIsNeeded() throws Exception {
        Refusal refusal = refusal("", second.settings(authority));
        assertContains("it speaks TLS only", refusal.caller);
        assertContains("madeleine.tm.tcp.tls.enabled", refusal.caller);
        assertContains("does not speak TLS", refusal.log);
    }

    @Test
    void shouldTellACallerWithTlsThatThePeerHasNone() throws Exception {
        Refusal refusal = refusal(first.settings(authority), "");
        assertContains("does not speak TLS", refusal.caller);
        assertContains("madeleine.tm.tcp.tls.enabled", refusal.caller);
        assertContains("the peer speaks TLS", refusal.log);
    }

    /**
     * Somebody whose certificate both ends trust, who passes on what they say: also the proofs, which do not hold then.
     */
    @Test
    void shouldNotLetAnybodyStandBetweenThoughBothTrustItsCertificate() throws Exception {
        pair = goodPair();
        SSLContext spy = authority.sign("spy").context(authority);
        try (Relay relay = new Relay(
                InternetAddress.parse(pair.right.adapter.address(), "tcp").port(), spy)) {
            var calling = callThrough(relay);
            pair.driveUntil(calling::isDone);
            assertTrue(relay.seen().length > 0, "it did not stand between");
            assertContains("madeleine.session.secret", Pair.failureOf(calling));
        }
    }

    /** Certificates do not tell it from the ends it stands between: only the TLS sessions are two. */
    @Test
    void shouldNotLetAnybodyStandBetweenWhoHasStolenTheCertificate() throws Exception {
        pair = pair(first.settings(authority), first.settings(authority));
        try (Relay relay = new Relay(
                InternetAddress.parse(pair.right.adapter.address(), "tcp").port(), first.context(authority))) {
            var calling = callThrough(relay);
            pair.driveUntil(calling::isDone);
            assertTrue(relay.seen().length > 0, "it did not stand between");
            assertContains("madeleine.session.secret", Pair.failureOf(calling));
        }
    }

    @Test
    void shouldStillWantTheSecret() throws Exception {
        pair = new Pair(
                side(1, first.settings(authority)),
                new Pair.Side(2, Pair.SESSION, "another".getBytes(), second.settings(authority)));
        var calling = pair.left.connect("main", pair.right, true, 42);
        pair.driveUntil(calling::isDone);
        assertContains("madeleine.session.secret", Pair.failureOf(calling));
    }

    private static TlsIdentity identity(TcpConfig config) {
        return TlsIdentity.load(config.tls(), config.handshake().timeoutNs());
    }

    @Test
    void shouldReleaseTheIdentityWhenItCannotListen() throws Exception {
        pair = goodPair();
        int taken = InternetAddress.parse(pair.right.adapter.address(), "tcp").port();
        TcpConfig config = TcpConfig.from(
                Pair.config(first.settings(authority), "madeleine.tm.tcp.adapters.default.port = " + taken));
        TlsIdentity identity = identity(config);
        ProcessContext context =
                new ProcessContext(Pair.SESSION, pair.left.identity, Pair.SECRET, pair.left.reactor, pair.left.log);
        assertThrows(
                ConfigurationException.class,
                () -> new TcpAdapter("default", config, context, pair.left.reactor, identity));
        assertTrue(identity.isClosed());
    }

    @Test
    void shouldReleaseTheIdentityWhenItsLoopIsClosedAlready() throws Exception {
        TcpConfig config = TcpConfig.from(Pair.config(first.settings(authority)));
        TlsIdentity identity = identity(config);
        NettyReactor reactor = new NettyReactor(Pair.io());
        ProcessContext context = new ProcessContext(
                Pair.SESSION, new ProcessIdentity(1, 0), Pair.SECRET, reactor, new RecordingLogger());
        TcpAdapter adapter = new TcpAdapter("default", config, context, reactor, identity);
        reactor.close();
        adapter.close();
        assertTrue(identity.isClosed());
    }
}
