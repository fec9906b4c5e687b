package io.madeleine.tm.tcp.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Lines as Linux 6.18 wrote them on x86-64, and the table of this machine. */
class SocketTableTest {
    private static final String HEAD4 =
            "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
    private static final String HEAD6 =
            "  sl  local_address                         remote_address                        st tx_queue rx_queue"
                    + " tr tm->when retrnsmt   uid  timeout inode\n";
    private static final String CUT =
            "   0: 0107630A:1E61 0207630A:D334 01 0001A0D0:00000000 01:0000027A 00000005     0        0 5381835 2"
                    + " 00000000ec3e9165 652 4 1 1 -1\n";
    private static final String FULL =
            "  17: 0207630A:9EEE 0107630A:1E61 01 000FEE28:00000000 04:0000000E 00000000     0        2 5382566 2"
                    + " 000000006474faea 20 4 0 152 136\n";
    private static final String MAPPED =
            "  12345: 0000000000000000FFFF00000107630A:1E61 0000000000000000FFFF00000207630A:D334 01 000007D0:00000000"
                    + " 01:00000047 0000000A     0        0 5381835 2 00000000ec3e9165 81 4 1 1 -1\n";
    private static final String IPV6 =
            "   1: 000000FD000000000000000001000000:1F90 000000FD000000000000000002000000:B31D 01 00000010:00000000"
                    + " 01:00000047 00000001     0        0 99 2 00000000ec3e9165 81 4 1 1 -1\n";

    @TempDir
    Path folder;

    private static InetSocketAddress at(String address, int port) {
        return new InetSocketAddress(InetAddress.ofLiteral(address), port);
    }

    private SocketTable table(String ipv4, String ipv6) throws IOException {
        assumeTrue(ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN, "the lines are of a little-endian machine");
        Path first = Files.writeString(folder.resolve("tcp"), ipv4);
        return new SocketTable(List.of(first, Files.writeString(folder.resolve("tcp6"), ipv6)));
    }

    @Test
    void shouldFindWhatIsSentAgainAndProbesWithoutAnswer() throws Exception {
        String cut = SocketTable.key(at("10.99.7.1", 7777), at("10.99.7.2", 0xD334));
        String full = SocketTable.key(at("10.99.7.2", 0x9EEE), at("10.99.7.1", 7777));
        Map<String, SocketTable.Row> rows = table(HEAD4 + FULL + CUT, HEAD6).read(Set.of(cut, full));
        assertEquals(
                Map.of(
                        cut, new SocketTable.Row(0x1A0D0, 5, 0),
                        full, new SocketTable.Row(0xFEE28, 0, 2)),
                rows);
    }

    @Test
    void shouldFindConnectionsOfIpv6AndOfIpv4InSocketsOfIpv6() throws Exception {
        String mapped = SocketTable.key(at("10.99.7.1", 7777), at("10.99.7.2", 0xD334));
        String six = SocketTable.key(at("fd00::1", 8080), at("fd00::2", 0xB31D));
        assertEquals(
                Map.of(mapped, new SocketTable.Row(2000, 10, 0), six, new SocketTable.Row(16, 1, 0)),
                table(HEAD4, HEAD6 + MAPPED + IPV6).read(Set.of(mapped, six)));
    }

    @Test
    void shouldLeaveOutOtherConnections() throws Exception {
        String other = SocketTable.key(at("10.99.7.1", 7777), at("10.99.7.2", 1));
        assertEquals(Map.of(), table(HEAD4 + CUT + FULL, HEAD6 + MAPPED + IPV6).read(Set.of(other)));
    }

    @Test
    void shouldSayWhatCannotBeRead() throws Exception {
        String cut = SocketTable.key(at("10.99.7.1", 7777), at("10.99.7.2", 0xD334));
        SocketTable strange = table(HEAD4 + CUT.replace("0001A0D0:", "many:"), HEAD6);
        IOException e = assertThrows(IOException.class, () -> strange.read(Set.of(cut)));
        assertTrue(e.getMessage().contains("many:00000000"), e.getMessage());
        SocketTable absent = new SocketTable(List.of(folder.resolve("none")));
        assertThrows(IOException.class, () -> absent.read(Set.of(cut)));
        assertTrue(
                absent.unavailable().orElse("").contains("none"),
                () -> absent.unavailable().toString());
    }

    @Test
    void shouldFindAConnectionOfThisMachine() throws Exception {
        SocketTable table = new SocketTable();
        assumeTrue(table.unavailable().isEmpty(), () -> table.unavailable().orElse(""));
        try (ServerSocketChannel server = ServerSocketChannel.open().bind(at("127.0.0.1", 0));
                SocketChannel calling = SocketChannel.open(server.getLocalAddress());
                SocketChannel answering = server.accept()) {
            calling.configureBlocking(false);
            ByteBuffer bytes = ByteBuffer.allocateDirect(1 << 20);
            while (calling.write(bytes.clear()) > 0) {
                // until the receiver is full
            }
            String key = SocketTable.key(
                    (InetSocketAddress) calling.getLocalAddress(), (InetSocketAddress) calling.getRemoteAddress());
            SocketTable.Row row = table.read(Set.of(key)).get(key);
            for (int i = 0; row == null && i < 100; i++) { // the kernel may leave out a line if others come and go
                row = table.read(Set.of(key)).get(key);
            }
            assertTrue(row != null && row.unacknowledgedBytes() > 0 && row.retransmissions() == 0, key + ": " + row);
            assertTrue(answering.isConnected());
        }
    }
}
