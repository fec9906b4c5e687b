package io.madeleine.tm.bip;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.ConfigurationException;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.testkit.Certificates;
import io.madeleine.tm.bip.protocol.Datagram;
import io.madeleine.tm.bip.protocol.DatagramLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections whose datagrams are encrypted, and who tries to get in. */
@Timeout(60)
class EncryptionTest {
    private static final byte[] TEXT = "a text that nobody else may read".getBytes(StandardCharsets.US_ASCII);

    @TempDir
    static Path folder;

    private static Certificates authority;
    private static Certificates stranger;
    private static String left;
    private static String right;

    @BeforeAll
    static void sign() {
        authority = new Certificates(folder, "authority", BipSide.ENCRYPTION);
        stranger = new Certificates(folder, "stranger", BipSide.ENCRYPTION);
        left = authority.sign("left").settings(authority);
        right = authority.sign("right").settings(authority);
    }

    private static void send(BipShortLink from, int number) {
        long header = PacketHeader.of(TEXT.length, number, 0, PacketHeader.FIRST | PacketHeader.LAST);
        assertTrue(from.sendPacket(header, MemorySegment.ofArray(TEXT), 0));
        from.announce();
    }

    private static boolean receives(BipShortLink to, int number) {
        MemorySegment found = MemorySegment.ofArray(new byte[TEXT.length]);
        long header = PacketHeader.of(TEXT.length, number, 0, PacketHeader.FIRST | PacketHeader.LAST);
        return to.receivePacket(header, found, 0) && found.mismatch(MemorySegment.ofArray(TEXT)) == -1;
    }

    private static boolean isSealed(byte[] datagram) {
        return datagram[DatagramLayout.KIND_OFFSET] == DatagramLayout.SEALED;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldShowNobodyBetweenWhatIsSent(boolean encrypts) throws Exception {
        List<String> seen = new CopyOnWriteArrayList<>();
        try (Pair pair = new Pair(encrypts ? left : "", encrypts ? right : "");
                TranslatingRouter router = new TranslatingRouter(pair.right.adapter.address())) {
            router.show(datagram -> seen.add(new String(datagram, StandardCharsets.ISO_8859_1)));
            Pair.Ends ends = pair.connect("secret", router.address());
            send(ends.left().small(), 0);
            pair.driveUntil(() -> receives(ends.right().small(), 0));
            boolean isReadable =
                    seen.stream().anyMatch(each -> each.contains(new String(TEXT, StandardCharsets.US_ASCII)));
            assertEquals(!encrypts, isReadable);
        }
    }

    /** Who stands between repeats, changes and invents datagrams; the connection does not notice. */
    @Test
    void shouldNotBeMovedByWhoeverStandsBetween() throws Exception {
        try (Pair pair = new Pair(left, right);
                TranslatingRouter router = new TranslatingRouter(pair.right.adapter.address());
                Arena arena = Arena.ofShared()) {
            Pair.Ends ends = pair.connect("attacked", router.address());
            send(ends.left().small(), 0);
            pair.driveUntil(() -> receives(ends.right().small(), 0));
            List<byte[]> seen = new CopyOnWriteArrayList<>();
            router.show(datagram -> {
                if (isSealed(datagram)) {
                    seen.add(datagram.clone());
                }
            });
            for (int number = 1; number < 20; number++) {
                int expected = number;
                send(ends.left().small(), number);
                pair.driveUntil(() -> receives(ends.right().small(), expected));
                send(ends.right().small(), number);
                pair.driveUntil(() -> receives(ends.left().small(), expected));
                List<byte[]> known = List.copyOf(seen);
                byte[] some = known.get(known.size() - 1).clone();
                for (boolean isInward : new boolean[] {true, false}) {
                    long id = isInward ? idOf(ends.left()) : idOf(ends.right());
                    long other = isInward ? idOf(ends.right()) : idOf(ends.left());
                    for (byte[] each : known) {
                        router.inject(each, isInward); // again, to either end
                    }
                    some[some.length - 1 - number % 8] ^= 1;
                    router.inject(some, isInward);
                    router.inject(made(arena, DatagramLayout.DATA, id, 1 << 20, DatagramLayout.RESET), isInward);
                    router.inject(made(arena, DatagramLayout.DATA, id, 0, DatagramLayout.RESET), isInward);
                    router.inject(made(arena, DatagramLayout.UNKNOWN, 0, other, 0), isInward);
                    router.inject(made(arena, DatagramLayout.ACCEPT, id, 4711, 0), isInward);
                }
                pair.left.poll();
                pair.right.poll();
            }
            LossTest.transfer(pair, ends, 20, 500_000);
            assertEquals(0, ends.left().losses + ends.right().losses);
        }
    }

    private static long idOf(Pair.End end) {
        return ((BipConnection) end.connection).id();
    }

    private static byte[] made(Arena arena, int kind, long destination, long number, int frame) {
        Datagram datagram = new Datagram(arena);
        datagram.begin(kind, destination, number, 0);
        if (frame != 0) {
            datagram.bytes().order(ByteOrder.LITTLE_ENDIAN).putInt(frame);
        }
        byte[] bytes = new byte[datagram.seal()];
        datagram.bytes().get(0, bytes);
        return bytes;
    }

    /** A path that changes one bit of each datagram at first, in the middle of the TLS handshake, too. */
    @Test
    void shouldConnectOverAPathThatCorruptsDatagrams() throws Exception {
        try (Pair pair = new Pair(left, right);
                TranslatingRouter router = new TranslatingRouter(pair.right.adapter.address())) {
            int[] count = {0};
            router.show(datagram -> {
                if (count[0]++ % 3 == 0) {
                    datagram[count[0] % datagram.length] ^= 4;
                }
            });
            Pair.Ends ends = pair.connect("corrupted", router.address());
            LossTest.transfer(pair, ends, 1, 300_000);
            assertEquals(0, ends.left().losses + ends.right().losses);
        }
    }

    /** The peer closes nothing, so nobody is sent to its log. */
    @Test
    @Tag("measures")
    void shouldSayThatThePeerIsSilentIfThePathIsCutInTheMiddleOfTheTlsHandshake() throws Exception {
        String settings = "madeleine.peer-timeout = 500ms";
        try (Pair pair = new Pair(left + settings, right + settings);
                TranslatingRouter router = new TranslatingRouter(pair.right.adapter.address())) {
            boolean[] isCut = {false};
            router.show(datagram -> {
                if (isCut[0]) {
                    datagram[DatagramLayout.KIND_OFFSET] ^= 4;
                } else {
                    isCut[0] =
                            datagram[DatagramLayout.KIND_OFFSET] == DatagramLayout.DATA; // what the caller says first
                }
            });
            var calling = pair.left.connect("cut", pair.right, router.address(), true);
            var answering = pair.right.connect("cut", pair.left, false);
            pair.driveUntil(() -> !pair.right.log.lines().isEmpty());
            String said = String.join("\n", pair.right.log.lines());
            assertContains("during the TLS handshake: it has acknowledged nothing for madeleine.peer-timeout", said);
            assertFalse(said.contains("its log tells why"), said);
            assertFalse(calling.isDone() || answering.isDone() && !answering.isCompletedExceptionally());
        }
    }

    /** The caller does not log it, since it calls again. */
    @Test
    void shouldAllowForACallerThatDroppedAnAttemptThatTookTooLong() throws Exception {
        String settings = "madeleine.tm.bip.handshake.timeout = 1s";
        try (Pair pair = new Pair(left + settings, right);
                TranslatingRouter router = new TranslatingRouter(pair.right.adapter.address())) {
            AtomicBoolean isAccepted = new AtomicBoolean();
            router.show(datagram ->
                    isAccepted.compareAndSet(false, datagram[DatagramLayout.KIND_OFFSET] == DatagramLayout.ACCEPT));
            CompletableFuture<ProtocolConnection> calling =
                    pair.left.connect("late", pair.right, router.address(), true);
            pair.driveUntil(isAccepted::get);
            long startNs = System.nanoTime();
            while (System.nanoTime() - startNs < TimeUnit.MILLISECONDS.toNanos(1500)) {
                pair.left.poll();
            }
            while (pair.right.log.lines().isEmpty()) {
                pair.right.poll();
                assertTrue(System.nanoTime() - startNs < Pair.PATIENCE.toNanos(), "nothing happens");
            }
            String said = String.join("\n", pair.right.log.lines());
            assertContains(
                    "the peer closed the connection during the TLS handshake; its error tells why, unless", said);
            assertContains("its attempt took longer than its madeleine.tm.bip.handshake.timeout", said);
            assertFalse(calling.isDone());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "loss = 0.2",
                "loss = 0.1, duplication = 0.1, corruption = 0.05, reordering = 0.3, reorder-by = 64",
                "delay = 1ms, jitter = 5ms, loss = 0.05"
            })
    void shouldConnectAndDeliverWhateverTheNetworkDoes(String faults) {
        String settings = "madeleine.tm.bip.faults.send { " + faults + " }";
        try (Pair pair = new Pair(left + settings, right + settings)) {
            for (int i = 0; i < 5; i++) {
                Pair.Ends ends = pair.connect("bad" + i);
                LossTest.transfer(pair, ends, i, 300_000);
                assertEquals(0, ends.left().losses + ends.right().losses);
            }
        }
    }

    /**
     * The acceptor's first records name all issuers that it trusts, which do not fit in the window of the control
     * stream.
     */
    @Test
    void shouldConnectIfTheFirstRecordsOfTlsAreLong() throws Exception {
        StringBuilder trusted =
                new StringBuilder(Files.readString(authority.itself().certificate()));
        String name = "an authority with a name that is long enough to fill the window ";
        for (int i = 0; i < 120; i++) {
            trusted.append(Files.readString(
                    new Certificates(folder, name + i, "%s").itself().certificate()));
        }
        Path file = Files.writeString(folder.resolve("many.pem"), trusted);
        String many = "madeleine.tm.bip.tls.trusted = \"" + file + "\"";
        try (Pair pair = new Pair(left, right + many)) {
            LossTest.transfer(pair, pair.connect("long"), 1, 10_000);
        }
    }

    // ---- who is refused

    private static String failureOf(Pair pair) {
        CompletableFuture<ProtocolConnection> calling = pair.left.connect("refused", pair.right, true);
        CompletableFuture<ProtocolConnection> answering = pair.right.connect("refused", pair.left, false);
        pair.driveUntil(calling::isDone);
        assertFalse(answering.isDone() && !answering.isCompletedExceptionally(), "the other end has a connection");
        return assertThrows(CompletionException.class, calling::join).getMessage();
    }

    private static void assertContains(String expected, String found) {
        assertTrue(found.contains(expected), found);
    }

    @Test
    void shouldNotConnectToACertificateOfAStranger() {
        try (Pair pair = new Pair(left, stranger.sign("one").settings(authority))) {
            assertContains("no certificate in madeleine.tm.bip.tls.trusted of this process signed it", failureOf(pair));
        }
    }

    @Test
    void shouldTellWhoShowsACertificateOfAStranger() {
        try (Pair pair = new Pair(stranger.sign("two").settings(authority), right)) {
            assertContains("issuer of madeleine.tm.bip.tls.certificate of this process", failureOf(pair));
        }
    }

    @Test
    void shouldNotUseACertificateThatHasExpired() {
        String expired = authority.sign("expired", -20, 10).settings(authority);
        String found = assertThrows(ConfigurationException.class, () -> new Pair.Side(1, expired))
                .getMessage();
        assertContains("madeleine.tm.bip.tls.certificate", found);
        assertContains("valid now", found);
    }

    @Test
    void shouldNameTheKeyOfAFileThatIsMissing() {
        String found = assertThrows(
                        ConfigurationException.class, () -> new Pair.Side(1, "madeleine.tm.bip.encryption = aes-gcm"))
                .getMessage();
        assertContains("madeleine.tm.bip.tls.certificate is empty", found);
        assertContains("madeleine.tm.bip.encryption = aes-gcm", found);
    }

    @Test
    void shouldTellAnEndWithoutEncryptionThatItsPeerEncrypts() {
        try (Pair pair = new Pair("", right)) {
            assertContains("madeleine.tm.bip.encryption = off in this process, and the peer encrypts", failureOf(pair));
        }
    }

    @Test
    void shouldTellAnEndThatEncryptsThatItsPeerDoesNot() {
        try (Pair pair = new Pair(left, "")) {
            assertContains(
                    "madeleine.tm.bip.encryption = aes-gcm in this process, and the peer does not", failureOf(pair));
        }
    }

    /** A peer that has answered need not be told where to listen. */
    @Test
    void shouldSayThatTheHandshakeWasNotOverIfThePeerHasAnswered() {
        try (Pair pair = new Pair(left, right)) {
            CompletableFuture<ProtocolConnection> calling = pair.left
                    .adapter
                    .openChannel("slow")
                    .connect(new ConnectionRequest(
                            pair.right.identity,
                            pair.right.adapter.address(),
                            true,
                            pair.left.driver.transmissionModules(),
                            42,
                            System.nanoTime() + 2_000_000_000L));
            while (connections(pair.right).length == 0) {
                pair.left.poll();
                pair.right.poll();
            }
            pair.right.poll();
            while (!calling.isDone()) {
                pair.left.poll();
            }
            String text = String.valueOf(assertThrows(CompletionException.class, calling::join)
                    .getCause()
                    .getMessage());
            assertContains("the handshake with the peer, which has answered, was not over", text);
            assertFalse(text.contains("loopback"), text);
        }
    }

    private static BipConnection[] connections(Pair.Side side) {
        return ((BipProgress) side.adapter.progress()).connections().all();
    }

    /** The certificates alone do not suffice. */
    @Test
    void shouldRefuseAPeerWithAnotherSecret() {
        try (Pair.Side one = new Pair.Side(1, left);
                Pair.Side two = new Pair.Side(2, right, new byte[] {9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9})) {
            CompletableFuture<ProtocolConnection> calling = one.connect("other", two, true);
            two.connect("other", one, false);
            long startNs = System.nanoTime();
            while (!calling.isDone()) {
                one.poll();
                two.poll();
                assertTrue(System.nanoTime() - startNs < Pair.PATIENCE.toNanos(), "nothing happens");
            }
            assertContains(
                    "madeleine.session.secret",
                    assertThrows(CompletionException.class, calling::join).getMessage());
        }
    }

    /** A process that was restarted cannot prove that it knows nothing: only its silence counts. */
    @Test
    @Tag("measures")
    void shouldLoseAPeerThatHasForgottenTheConnectionByItsSilenceOnly() {
        String timeout = "madeleine.peer-timeout = 1s\n";
        try (Pair pair = new Pair(timeout + left, timeout + right)) {
            Pair.Ends ends = pair.connect("forgotten");
            LossTest.transfer(pair, ends, 0, 1000);
            ((BipProgress) pair.right.adapter.progress()).remove((BipConnection) ends.right().connection);
            ends.left().large().send(PacketHeader.of(0, 1, 0, PacketHeader.FIRST), new BufferGroup(), 0);
            pair.driveUntil(() -> ends.left().losses > 0);
            assertContains("madeleine.peer-timeout", ends.left().reason);
        }
    }
}
