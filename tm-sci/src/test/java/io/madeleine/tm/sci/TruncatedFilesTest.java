package io.madeleine.tm.sci;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.IncomingMessage;
import io.madeleine.api.PeerFailedException;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.testkit.messages.LocalSessions;
import io.madeleine.tm.sci.files.FileStem;
import io.madeleine.tm.sci.memory.SegmentFile;
import io.madeleine.tm.sci.memory.TruncatedFiles;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Somebody of the same user cuts mapped files short: what needs them is lost, with the reason, and nothing else. */
class TruncatedFilesTest {
    private static final long PATIENCE_NS = 30_000_000_000L;

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
    }

    private Path file(String pattern) throws IOException {
        try (DirectoryStream<Path> files =
                Files.newDirectoryStream(directory.resolve("madeleine-" + Side.SESSION), pattern)) {
            return files.iterator().next();
        }
    }

    private static FileChannel opened(Path file) throws IOException {
        return FileChannel.open(file, StandardOpenOption.WRITE);
    }

    /** Both ends of a connection that has been used, their listeners, and its file. */
    private record Used(Side.Pair pair, Side.Listener left, Side.Listener right, FileChannel file) {}

    private Used used(String channel) throws IOException {
        var left = a.connect(channel, b, true);
        FileChannel file = opened(file("*.pair"));
        var right = b.connect(channel, a, false);
        Side.settle(a, left, b, right);
        Side.Pair pair = new Side.Pair(left.join(), right.join());
        Used used = new Used(pair, new Side.Listener(), new Side.Listener(), file);
        pair.left().start(used.left);
        pair.right().start(used.right);
        assertWorks(pair);
        return used;
    }

    private static void assertWorks(Side.Pair pair) {
        SciConnectionTest.sendLong(pair.leftShort(), 42, 0);
        assertEquals(42, SciConnectionTest.receiveLong(pair.rightShort()));
    }

    private void assertLost(Used used, String reason) {
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        while ((used.left.lost == null || used.right.lost == null) && System.nanoTime() < deadlineNs) {
            a.round();
            b.round();
        }
        for (Side.Listener end : new Side.Listener[] {used.left, used.right}) {
            assertNotNull(end.lost, "the loss is not noticed");
            assertTrue(end.lost.startsWith("false ") && !end.lost.contains("process ended"), end.lost);
        }
        assertTrue((used.left.lost + used.right.lost).contains(reason), used.left.lost + ", " + used.right.lost);
        assertEquals(LinkStatus.CLOSED, used.pair.leftShort().claim());
        assertEquals(LinkStatus.CLOSED, used.pair.rightShort().front());
        for (int i = 0; i < 100; i++) {
            a.round(); // nothing is thrown any more
            b.round();
        }
        used.pair.left().close();
        used.pair.right().close();
        a.round();
        b.round();
    }

    @Test
    void shouldLoseTheConnectionWhoseFileIsCutShortAndNoOther() throws Exception {
        Used other = used("other");
        for (long left : new long[] {0, 4096, 64 * 1024}) {
            Used cut = used("cut to " + left);
            cut.file.truncate(left);
            assertLost(cut, "was cut short by somebody");
            assertWorks(other.pair);
        }
    }

    @Test
    void shouldNoticeTheCutWhereItSends() throws Exception {
        Used cut = used("cut");
        cut.file.truncate(0);
        DynamicLink link = cut.pair.leftRegular();
        BufferGroup group = Side.group(MemorySegment.ofArray(new byte[1 << 16]));
        int status = LinkStatus.PENDING;
        for (int i = 0; i < 100 && status != LinkStatus.CLOSED; i++) {
            status = link.send(PacketHeader.of(1 << 16, 1, 0, 0), group, PacketHeader.of(0, 1, 1, PacketHeader.LAST));
        }
        assertEquals(LinkStatus.CLOSED, status);
        assertLost(cut, "was cut short by somebody");
    }

    @Test
    void shouldLoseAllConnectionsOfAnInboxThatIsCutShort() throws Exception {
        Used one = used("one");
        Used two = used("two");
        try (FileChannel inbox =
                opened(file(new FileStem(a.identity, 0).toString().replaceAll("-.*", "-") + "*.inbox"))) {
            inbox.truncate(0);
        }
        assertLost(one, "inbox of");
        assertLost(two, "inbox of");
    }

    @Test
    void shouldFailWhoWaitsForTheNextMessageThoughOneIsOpen() throws Exception {
        Path sessionDirectory = Files.createDirectory(directory.resolve("session"));
        try (LocalSessions sessions = LocalSessions.of(2)
                .network("sci", _ -> new SciPmm(SciConfig.from(Side.config(sessionDirectory, ""))))
                .channel("default", "sci")
                .open()) {
            sessions.channel(1).beginPacking(0).packInt(1).endPacking();
            IncomingMessage open = sessions.channel(0).beginUnpacking();
            try (Stream<Path> files = Files.walk(sessionDirectory)) {
                for (Path inbox :
                        files.filter(file -> file.toString().endsWith(".inbox")).toList()) {
                    opened(inbox).truncate(0).close();
                }
            }
            assertThrows(PeerFailedException.class, () -> sessions.channel(0).beginUnpacking(20, TimeUnit.SECONDS));
            open.close();
        }
    }

    @Test
    void shouldGiveUpAConnectionThatIsBeingMade() throws Exception {
        var left = a.connect("main", b, true);
        try (FileChannel file = opened(file("*.pair"))) {
            file.truncate(0);
        }
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        while (!left.isDone() && System.nanoTime() < deadlineNs) {
            a.round();
        }
        assertTrue(left.isCompletedExceptionally());
        assertTrue(left.exceptionNow().getMessage().contains("cut short"), left.exceptionNow()::toString);
    }

    @Test
    void shouldTellMemoryThatIsCutFromMemoryThatIsNot() throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            Path file = directory.resolve("file");
            MemorySegment memory = SegmentFile.create(file, 3 * 4096 + 16, arena);
            assertTrue(TruncatedFiles.isWhole(memory));
            try (FileChannel channel = opened(file)) {
                channel.truncate(4096);
            }
            assertEquals(false, TruncatedFiles.isWhole(memory));
            assertTrue(TruncatedFiles.isWhole(memory.asSlice(0, 4096)));
        }
    }
}
