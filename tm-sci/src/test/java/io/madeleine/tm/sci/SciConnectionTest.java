package io.madeleine.tm.sci;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.AggregationMode;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.BufferMode;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.LinkMode;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.StaticLink;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.tm.sci.files.FileStem;
import io.madeleine.tm.sci.files.SessionDirectory;
import io.madeleine.tm.sci.link.PairHeaderFlyweight;
import io.madeleine.tm.sci.link.PairSegment;
import io.madeleine.tm.sci.link.RingLayout;
import io.madeleine.tm.sci.link.SciConnection;
import io.madeleine.tm.sci.memory.OrderedWords;
import io.madeleine.tm.sci.memory.SegmentFile;
import io.madeleine.tm.sci.wake.Inbox;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two adapters in one process, as if they were two processes. */
class SciConnectionTest {
    private static final int LAST = PacketHeader.FIRST | PacketHeader.LAST;

    @TempDir
    Path directory;

    private Side a;
    private Side b;

    @BeforeEach
    void open() {
        a = Side.open(directory, 1);
        b = Side.open(directory, 2);
    }

    @AfterEach
    void close() {
        a.close();
        b.close();
        assertFalse(
                Files.exists(directory.resolve("madeleine-" + Side.SESSION)), "the last one out removes the directory");
    }

    static void sendLong(StaticLink link, long value, int sequence) {
        long offset = link.claim();
        assertTrue(offset >= 0, "room");
        link.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, offset, value);
        link.commit(PacketHeader.of(Long.BYTES, sequence, 0, LAST));
        VarHandle.fullFence();
        link.announce();
    }

    static long receiveLong(io.madeleine.pmm.spi.TransmissionLink link) {
        MemorySegment target = MemorySegment.ofArray(new long[1]);
        assertEquals(Long.BYTES, PacketHeader.payloadBytes(link.front()));
        assertEquals(Long.BYTES, link.receive(Side.group(target), Long.BYTES));
        link.release();
        return target.get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
    }

    @Test
    void shouldCarryPacketsBothWaysOnBothLinks() {
        Side.Pair pair = Side.Pair.of(a, b, "main");
        sendLong(pair.leftShort(), 42, 0);
        assertEquals(42, receiveLong(pair.rightShort()));
        sendLong((StaticLink) pair.right().links().getFirst(), 43, 0);
        assertEquals(43, receiveLong(pair.left().links().getFirst()));

        MemorySegment block = MemorySegment.ofArray("some bytes".getBytes());
        long header = PacketHeader.of(10, 1, 0, 0);
        long trailer = PacketHeader.of(0, 1, 1, PacketHeader.LAST);
        assertEquals(LinkStatus.COMPLETE, pair.leftRegular().send(header, Side.group(block), trailer));
        MemorySegment target = MemorySegment.ofArray(new byte[10]);
        assertEquals(header, pair.rightRegular().front());
        BufferGroup group = Side.group(target);
        assertEquals(4, pair.rightRegular().receive(group, 4));
        assertEquals(6, pair.rightRegular().receive(group, 6));
        pair.rightRegular().release();
        assertEquals(-1, block.mismatch(target));
        assertEquals(trailer, pair.rightRegular().front());
        pair.rightRegular().release();
        assertEquals(0, pair.rightRegular().front());
    }

    @Test
    void shouldLeaveNoFileBehindWhenBothHaveMappedASegment() throws Exception {
        Side.Pair.of(a, b, "main");
        try (var files = Files.list(directory.resolve("madeleine-" + Side.SESSION))) {
            List<String> left = files.map(file -> file.getFileName().toString().replaceAll(".*\\.", ""))
                    .sorted()
                    .toList();
            assertEquals(List.of("bell", "bell", "inbox", "inbox", "owner", "owner"), left);
        }
    }

    @Test
    void shouldKeepDirectoryAndFilesToTheirUser() throws Exception {
        Path own = directory.resolve("madeleine-" + Side.SESSION);
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(own)));
        a.connect("main", b, true);
        try (var files = Files.list(own)) {
            for (Path file : files.toList()) {
                assertEquals(
                        "rw-------",
                        PosixFilePermissions.toString(Files.getPosixFilePermissions(file)),
                        file.toString());
            }
        }
    }

    @Test
    void shouldRefuseAnUnequalDigestAtBothEnds() {
        var left = a.connect("main", b, true, 1, a.pmm.transmissionModules());
        var right = b.connect("main", a, false, 2, b.pmm.transmissionModules());
        Side.settle(a, left, b, right);
        for (var end : List.of(left, right)) {
            String message = assertThrows(CompletionException.class, end::join)
                    .getCause()
                    .getMessage();
            assertTrue(
                    message.contains(
                            "the selection tables differ (digest 1 at the initiator 1.0, 2 at the acceptor 2.0)"),
                    message);
            assertTrue(message.contains("madeleine.tm.sci"), message);
        }
    }

    @Test
    void shouldRefuseAProcessWithAnotherSecret() {
        try (Side stranger = Side.withSecret(directory, 3, new byte[] {9})) {
            var left = stranger.connect("main", b, false);
            var right = b.connect("main", stranger, true, Side.DIGEST, b.pmm.transmissionModules());
            long deadlineNs = System.nanoTime() + Side.PATIENCE_NS;
            while (!right.isDone() && System.nanoTime() < deadlineNs) {
                stranger.round();
                b.round();
            }
            assertTrue(right.isCompletedExceptionally());
            assertFalse(left.isDone() && !left.isCompletedExceptionally());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldRefuseAtBothEndsWhoCannotProveTheSecret(boolean strangerCalls) {
        byte[] secret = Side.SECRET.clone();
        try (Side stranger = Side.withSecret(directory, 3, secret)) {
            secret[0]++; // after the bells, which know less: the handshake has to find it
            var theirs = stranger.connect("main", b, strangerCalls);
            var ours = b.connect("main", stranger, !strangerCalls);
            Side.settle(stranger, theirs, b, ours);
            for (var end : List.of(theirs, ours)) {
                String message = reason(end);
                assertTrue(message.contains("do not have the same session secret"), message);
                assertTrue(message.contains("madeleine.session.secret"), message);
            }
        }
    }

    private static String reason(CompletableFuture<?> refused) {
        return assertThrows(CompletionException.class, refused::join).getCause().getMessage();
    }

    private Path offer() throws IOException {
        try (var files = Files.list(directory.resolve("madeleine-" + Side.SESSION))) {
            return files.filter(file -> file.toString().endsWith(SessionDirectory.PAIR))
                    .findFirst()
                    .orElseThrow();
        }
    }

    private void acceptOffer() throws IOException {
        Path offer = offer();
        while (Files.exists(offer)) {
            b.round();
        }
    }

    @Test
    void shouldRefuseTheOfferOfAnotherVersionAtBothEnds() throws Exception {
        var left = a.connect("main", b, true);
        try (Arena arena = Arena.ofConfined()) {
            OrderedWords.setVolatile(SegmentFile.open(offer(), 4096, 1 << 30, arena), 0, PairHeaderFlyweight.MAGIC + 1);
        }
        var right = b.connect("main", a, false);
        Side.settle(a, left, b, right);
        assertTrue(reason(left).contains("another version of the wire protocol"), reason(left));
        assertTrue(reason(right).contains("not written by this version of Madeleine"), reason(right));
    }

    @Test
    void shouldWaitForTheNextOfferWhenOneIsTakenBackInTheMidstOfTheHandshake() throws Exception {
        var left = a.connect("main", b, true);
        var right = b.connect("main", a, false);
        acceptOffer();
        a.channels.removeFirst().close();
        assertTrue(left.isCompletedExceptionally());
        var again = a.connect("main", b, true);
        Side.settle(a, again, b, right);
        assertEquals(a.identity, right.join().peer());
        assertEquals(b.identity, again.join().peer());
    }

    @Test
    void shouldTellTheInitiatorAtOnceThatTheAcceptorHasGivenUp() throws Exception {
        var left = a.connect("main", b, true);
        var right = b.connect("main", a, false);
        acceptOffer();
        b.channels.getFirst().close();
        assertTrue(right.isCompletedExceptionally());
        Side.settle(a, left, b, right);
        assertTrue(reason(left).contains("the peer has given the connection up"), reason(left));
    }

    /** Sleeps until the side is told of something; fails if nobody tells it anything. */
    private static void assertIsWoken(Side side, Runnable event) {
        while (!side.adapter.progress().armForBlocking()) {
            side.adapter.progress().disarm();
            side.round();
        }
        event.run();
        long beganNs = System.nanoTime();
        int _ = side.reactor.sleep(Side.PATIENCE_NS);
        side.adapter.progress().disarm();
        assertTrue(System.nanoTime() - beganNs < Side.PATIENCE_NS, "nobody woke it");
    }

    @Test
    void shouldWakeAnInitiatorThatSleepsWhenTheAcceptorGivesUp() throws Exception {
        var left = a.connect("main", b, true);
        var right = b.connect("main", a, false);
        acceptOffer();
        assertIsWoken(a, b.channels.getFirst()::close);
        Side.settle(a, left, b, right);
        assertTrue(reason(left).contains("the peer has given the connection up"), reason(left));
    }

    @Test
    void shouldWakeAnAcceptorThatSleepsWhenTheInitiatorGivesUp() throws Exception {
        var left = a.connect("main", b, true);
        var right = b.connect("main", a, false);
        acceptOffer();
        assertIsWoken(b, a.channels.getFirst()::close);
        assertTrue(left.isCompletedExceptionally());
        assertFalse(right.isDone(), "it waits for the next offer");
    }

    @Test
    @Tag("measures")
    void shouldEndAHandshakeAtItsDeadlineThoughThePeerHasBegunIt() throws Exception {
        var channel = a.adapter.openChannel("main");
        a.channels.add(channel);
        var left = channel.connect(new ConnectionRequest(
                b.identity,
                b.adapter.address(),
                true,
                a.pmm.transmissionModules(),
                Side.DIGEST,
                System.nanoTime() + 50_000_000));
        var right = b.connect("main", a, false);
        acceptOffer();
        long endNs = System.nanoTime() + Side.PATIENCE_NS;
        while (!left.isDone() && System.nanoTime() < endNs) {
            a.adapter.progress().poll(System.nanoTime()); // b does not go on
        }
        assertTrue(left.isDone());
        assertTrue(reason(left).contains("the deadline has come"), reason(left));
        assertFalse(right.isDone());
    }

    @Test
    void shouldGiveBackWhatWasReservedWhenItsChannelCloses() throws Exception {
        var channel = a.adapter.openChannel("main");
        assertTrue(channel.reserve(a.request(2, b.adapter.address(), true)).isEmpty());
        Path reserved = offer();
        channel.close();
        assertFalse(Files.exists(reserved));
        Side.Pair pair = Side.Pair.of(a, b, "main");
        assertEquals(1, ((SciConnection) pair.left()).slot(), "the slot is free again");
    }

    @Test
    void shouldNameBothSidesWhenThePeerDoesNotComeInTime() {
        for (boolean initiator : new boolean[] {true, false}) {
            var channel = a.adapter.openChannel("lonely " + initiator);
            var end = channel.connect(new ConnectionRequest(
                    b.identity,
                    b.adapter.address(),
                    initiator,
                    a.pmm.transmissionModules(),
                    Side.DIGEST,
                    System.nanoTime() + 20_000_000));
            Side.settle(a, end, b, end);
            String message = assertThrows(CompletionException.class, end::join)
                    .getCause()
                    .getMessage();
            assertTrue(message.contains("process 1.0") && message.contains("process 2.0"), message);
            assertTrue(message.contains("deadline"), message);
        }
    }

    @Test
    void shouldRefuseAnAddressThatItCannotReach() {
        String other = b.adapter.address().replaceFirst(";[0-9a-f-]+;", ";another-boot;");
        assertEquals("it runs on another host", a.adapter.unreachable(other).orElseThrow());
        assertTrue(a.adapter.unreachable("nonsense").isPresent());
        assertTrue(a.adapter.unreachable(b.adapter.address()).isEmpty());
        assertTrue(a.adapter.address().length() <= 1024);
    }

    @Test
    void shouldWorkWithOneModuleOrInAnotherOrderAndWithThePeersSizes() {
        var modules = a.pmm.transmissionModules();
        var onlyRegular = Side.Pair.of(a, b, "regular", List.of(modules.getLast()));
        assertEquals(
                LinkStatus.COMPLETE,
                onlyRegular.leftRegular().send(PacketHeader.of(0, 0, 0, LAST), new BufferGroup(), 0));
        assertEquals(PacketHeader.of(0, 0, 0, LAST), onlyRegular.rightRegular().front());

        var onlyShort = Side.Pair.of(a, b, "short", List.of(modules.getFirst()));
        sendLong(onlyShort.leftShort(), 7, 0);
        assertEquals(7, receiveLong(onlyShort.rightShort()));

        var turned = Side.Pair.of(a, b, "turned", modules.reversed());
        sendLong((StaticLink) turned.left().links().getLast(), 8, 0);
        assertEquals(8, receiveLong(turned.right().links().getLast()));

        var large = new TransmissionCapabilities(
                "sci/short", BufferMode.STATIC, LinkMode.BUFFER, AggregationMode.ASYMMETRIC, 100_000, 100_000, "");
        var theirs =
                Side.Pair.of(a, b, "theirs", List.of(large, modules.getLast().withMaxBlockBytes(5_000_000)));
        long offset = theirs.leftShort().claim();
        theirs.leftShort().memory().asSlice(offset, 100_000).fill((byte) 1);
        theirs.leftShort().commit(PacketHeader.of(100_000, 0, 0, LAST));
        theirs.rightShort().front();
        assertEquals(100_000, theirs.rightShort().skip(1 << 20));
        assertEquals(100_000, theirs.leftShort().capabilities().bufferBytes());
        assertEquals(5_000_000, theirs.leftRegular().capabilities().maxBlockBytes());
    }

    @Test
    void shouldRefuseModulesOfOtherFamilies() {
        var foreign = new TransmissionCapabilities(
                "tcp/stream", BufferMode.DYNAMIC, LinkMode.BUFFER, AggregationMode.ASYMMETRIC, 1, 0, "");
        var end = a.connect("main", b, true, Side.DIGEST, List.of(foreign));
        String message =
                assertThrows(CompletionException.class, end::join).getCause().getMessage();
        assertTrue(message.contains("tcp/stream"), message);
    }

    @Test
    void shouldServeMoreConnectionsThanAWordHasBits() {
        String small = "madeleine.tm.sci { short { buffer = 64, ring = 1 KiB }, regular { cell = 4 KiB, cells = 2 } }";
        try (Side c = Side.open(directory, 3, small);
                Side d = Side.open(directory, 4, small)) {
            int count = 150;
            Side.Pair[] pairs = new Side.Pair[count];
            Side.Listener[] listeners = new Side.Listener[count];
            for (int i = 0; i < count; i++) {
                pairs[i] = Side.Pair.of(c, d, "channel " + i);
                listeners[i] = new Side.Listener();
                pairs[i].right().start(listeners[i]);
            }
            d.round();
            for (int i : new int[] {0, 62, 63, 64, 127, 149}) {
                sendLong(pairs[i].leftShort(), i, 0);
                d.round();
                assertEquals(1, listeners[i].readable, "connection " + i);
                assertEquals(i, receiveLong(pairs[i].rightShort()));
            }
        }
    }

    @Test
    void shouldTellWhoeverPollsAndOnlyWhileItInterests() {
        Side.Pair pair = Side.Pair.of(a, b, "main");
        Side.Listener listener = new Side.Listener();
        sendLong(pair.leftShort(), 1, 0);
        b.round();
        pair.right().start(listener);
        b.round();
        assertTrue(listener.readable > 0, "what came before the start counts");
        receiveLong(pair.rightShort());
        listener.readable = 0;
        pair.right().receiveInterest(false);
        sendLong(pair.leftShort(), 2, 1);
        b.round();
        assertEquals(0, listener.readable);
        assertTrue(b.adapter.progress().armForBlocking(), "what does not interest does not keep from sleeping");
        pair.right().receiveInterest(true);
        b.adapter.progress().disarm();
        b.round();
        assertTrue(listener.readable > 0);
        assertFalse(b.adapter.progress().armForBlocking());
        b.adapter.progress().disarm();
    }

    @Test
    void shouldReportTheEndOnceAfterAFinishAndStillDeliver() {
        Side.Pair pair = Side.Pair.of(a, b, "main");
        Side.Listener listener = new Side.Listener();
        pair.right().start(listener);
        sendLong(pair.leftShort(), 1, 0);
        pair.left().finish();
        pair.left().finish();
        b.round();
        assertEquals("true it closed the connection", listener.lost);
        assertEquals(1, receiveLong(pair.rightShort()));
        assertEquals(LinkStatus.CLOSED, pair.rightShort().front());
        assertEquals(LinkStatus.CLOSED, pair.rightRegular().front());
        sendLong((StaticLink) pair.right().links().getFirst(), 2, 0);
        assertEquals(2, receiveLong(pair.left().links().getFirst()), "the other direction goes on");
    }

    @Test
    void shouldCloseBothWaysWhenThePeerCloses() {
        Side.Pair pair = Side.Pair.of(a, b, "main");
        Side.Listener listener = new Side.Listener();
        pair.right().start(listener);
        sendLong(pair.leftShort(), 1, 0);
        pair.left().close();
        pair.left().close();
        a.round();
        assertEquals(LinkStatus.CLOSED, pair.leftShort().claim());
        assertEquals(LinkStatus.CLOSED, pair.leftShort().front());
        assertEquals(LinkStatus.CLOSED, pair.leftRegular().send(PacketHeader.of(0, 1, 0, LAST), new BufferGroup(), 0));
        b.round();
        assertEquals("true it closed the connection", listener.lost);
        assertEquals(1, receiveLong(pair.rightShort()), "what was sent before arrives");
        assertEquals(LinkStatus.CLOSED, ((StaticLink) pair.right().links().getFirst()).claim());
        var again = Side.Pair.of(a, b, "main");
        sendLong(again.leftShort(), 3, 0);
        assertEquals(3, receiveLong(again.rightShort()), "a channel may be opened again");
    }

    @Test
    void shouldBreakTheConnectionWhenAPacketIsNone() {
        Side.Pair pair = Side.Pair.of(a, b, "main");
        Side.Listener left = new Side.Listener();
        Side.Listener right = new Side.Listener();
        pair.left().start(left);
        pair.right().start(right);
        pair.leftShort().claim();
        pair.leftShort().commit(0x0000_0000_0000_0008L);
        VarHandle.fullFence();
        pair.leftShort().announce();
        b.round();
        assertEquals(LinkStatus.CLOSED, pair.rightShort().front());
        b.round();
        assertTrue(
                right.lost.startsWith(
                        "false it broke the protocol: the ring of sci/short has a word that is not a packet header"),
                right.lost);
        a.round();
        assertTrue(left.lost.startsWith("false it broke the connection off"), left.lost);
        assertEquals(LinkStatus.CLOSED, pair.leftShort().claim());
    }

    @Test
    void shouldTellADeathFromACloseByTheSilentBell() throws Exception {
        Side.Pair pair = Side.Pair.of(a, b, "main");
        Side.Listener listener = new Side.Listener();
        pair.right().start(listener);
        sendLong(pair.leftShort(), 1, 0);
        ((SciAdapter) a.adapter).peers().silence(); // as the system does for a process that ends
        b.round();
        assertEquals("false its process ended", listener.lost);
        assertEquals(1, receiveLong(pair.rightShort()));
        assertEquals(LinkStatus.CLOSED, pair.rightShort().front());
        assertEquals(LinkStatus.CLOSED, ((StaticLink) pair.right().links().getFirst()).claim());
        var again = b.connect("other", a, true);
        Side.settle(b, again, b, again);
        assertTrue(again.isCompletedExceptionally());
        assertEquals(1, ((SciAdapter) b.adapter).peers().count());
        pair.right().close();
        b.round();
        assertEquals(0, ((SciAdapter) b.adapter).peers().count(), "the dead are forgotten");
    }

    @Test
    void shouldKnowAtOnceOfAProcessThatCalledAndEnded() throws Exception {
        a.connect("main", b, true);
        ((SciAdapter) a.adapter).peers().silence();
        b.round();
        b.round();
        var late = b.connect("main", a, false);
        b.round();
        String message =
                assertThrows(CompletionException.class, late::join).getCause().getMessage();
        assertTrue(message.contains("its process ended"), message);
    }

    @Test
    void shouldForgetAProcessThatCalledAndEndedOnceItsFilesAreGone() {
        a.connect("main", b, true);
        b.round();
        ((SciAdapter) a.adapter).peers().silence();
        b.round();
        b.round();
        SciPeers peers = ((SciAdapter) b.adapter).peers();
        assertEquals(1, peers.endedCallers(), "its files are still there");
        a.adapter.close();
        peers.forgetGone(_ -> false);
        assertEquals(0, peers.endedCallers());
    }

    @Test
    void shouldGiveUpConnectionsWhenTheirChannelCloses() {
        var end = a.connect("main", b, true);
        a.channels.getFirst().close();
        String message =
                assertThrows(CompletionException.class, end::join).getCause().getMessage();
        assertTrue(message.contains("its channel was closed"), message);
    }

    private static int peers(Side side) {
        return ((SciAdapter) side.adapter).peers().count();
    }

    @Test
    void shouldForgetAProcessThatEndsWhenNothingIsLeftToIt() {
        Side.Pair pair = Side.Pair.of(a, b, "main");
        pair.left().close();
        pair.right().close();
        b.round();
        assertEquals(1, peers(b), "it may connect again");
        ((SciAdapter) a.adapter).peers().silence();
        b.round();
        assertEquals(0, peers(b));
    }

    @Test
    void shouldForgetAProcessThatNeverCalled() {
        var end = b.connect("main", a, true); // a has the lower identity: it would have to dial
        assertEquals(1, peers(b));
        b.channels.getFirst().close();
        assertTrue(end.isCompletedExceptionally());
        assertEquals(0, peers(b));
    }

    @Test
    void shouldTakeBackForTheDeadWhatTheyOffered() throws Exception {
        a.connect("main", b, true);
        b.round();
        ((SciAdapter) a.adapter).peers().silence();
        b.round();
        var late = b.connect("main", a, false);
        b.round();
        assertTrue(late.isCompletedExceptionally());
        try (var files = Files.list(directory.resolve("madeleine-" + Side.SESSION))) {
            assertTrue(files.noneMatch(file -> file.toString().endsWith(SessionDirectory.PAIR)));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1L << 40, Long.MAX_VALUE, -1, Long.MIN_VALUE})
    void shouldBreakTheConnectionWhenMoreIsTakenThanWasSent(long position) {
        Side.Pair pair = Side.Pair.of(a, b, "main");
        Side.Listener left = new Side.Listener();
        Side.Listener right = new Side.Listener();
        pair.left().start(left);
        pair.right().start(right);
        PairSegment segment = ((SciConnection) pair.left()).segment();
        RingLayout ring = segment.layout().rings().getFirst().get(segment.side());
        OrderedWords.setVolatile(segment.memory(), ring.consumerOffset(), position);
        long claimed = 0;
        for (int i = 0; claimed >= 0 && i < ring.ringBytes(); i++) {
            claimed = pair.leftShort().claim();
            if (claimed >= 0) {
                pair.leftShort().commit(PacketHeader.of(8, i, 0, 0));
            }
        }
        assertEquals(LinkStatus.CLOSED, claimed);
        a.round();
        b.round();
        assertEquals("false it broke the protocol: its position in the ring of sci/short is impossible", left.lost);
        assertTrue(right.lost.startsWith("false it broke the connection off"), right.lost);
    }

    @Test
    void shouldBearThatAPeerIsForgottenWhileItIsTold() throws Exception {
        SciPeer peer = new SciPeer(
                new FileStem(b.identity, 0),
                Inbox.open(((SciAdapter) b.adapter).directory().file(SessionDirectory.INBOX)));
        peer.close();
        peer.announce(1);
    }
}
