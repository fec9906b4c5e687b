package io.madeleine.tm.tcp.stream;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Linux's table of TCP connections in {@code /proc/net/tcp} and {@code tcp6}; Java's IPv4 sockets are in the latter,
 * too. To read it takes no privilege and no native call (proc_pid_net(5); {@code get_tcp4_sock} in the kernel's {@code
 * net/ipv4/tcp_ipv4.c}).
 *
 * <p>Threading: thread-safe.
 */
public final class SocketTable {
    /** The unfinished work of the kernel for one connection. */
    record Row(long unacknowledgedBytes, int retransmissions, int unansweredProbes) {}

    private static final List<Path> FILES = List.of(Path.of("/proc/net/tcp6"), Path.of("/proc/net/tcp"));

    /** The prefix of an IPv4 address in an IPv6 socket, ::ffff:a.b.c.d, in this machine's byte order. */
    private static final String MAPPED = hex(new byte[] {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1});

    private static final int HEX = 16;

    // columns
    private static final int QUEUES = 4;
    private static final int RETRANSMISSIONS = 6;

    /** The column is headed "timeout". */
    private static final int PROBES = 8;

    private final List<Path> files;

    public SocketTable() {
        this(FILES);
    }

    /** A table in other files; missing files count as empty. */
    public SocketTable(List<Path> files) {
        this.files = new CopyOnWriteArrayList<>(files);
    }

    /** The reason why the table cannot be read here, or empty if it can. */
    public Optional<String> unavailable() {
        return files.stream().anyMatch(Files::isReadable)
                ? Optional.empty()
                : Optional.of(files.getFirst() + " cannot be read here");
    }

    /** The key of a connection in the table. */
    static String key(InetSocketAddress local, InetSocketAddress remote) {
        return end(local) + " " + end(remote);
    }

    private static String end(InetSocketAddress end) {
        return unmapped(hex(end.getAddress().getAddress())) + String.format(":%04X", end.getPort());
    }

    /** Formats the address as the kernel does: 32-bit words, in this machine's byte order. */
    private static String hex(byte[] address) {
        ByteBuffer words = ByteBuffer.wrap(address).order(ByteOrder.nativeOrder());
        StringBuilder text = new StringBuilder();
        while (words.hasRemaining()) {
            text.append(String.format("%08X", words.getInt()));
        }
        return text.toString();
    }

    /**
     * Reads the table until all wanted connections are found. The kernel walks over all places of its hash table, used
     * or not, which takes one or two milliseconds.
     *
     * @return the wanted connections that are in the table, by {@link #key}
     */
    Map<String, Row> read(Set<String> wanted) throws IOException {
        Optional<String> reason = unavailable();
        if (reason.isPresent()) {
            throw new IOException(reason.get());
        }
        Map<String, Row> found = new HashMap<>();
        for (Path file : List.copyOf(files)) {
            if (found.size() < wanted.size() && Files.exists(file) && read(file, wanted, found)) {
                files.remove(file);
                files.addFirst(file); // the other connections are probably in the same file
            }
        }
        return found;
    }

    private static boolean read(Path file, Set<String> wanted, Map<String, Row> found) throws IOException {
        int before = found.size();
        try (BufferedReader lines = Files.newBufferedReader(file, StandardCharsets.US_ASCII)) {
            lines.readLine(); // the header line
            String line;
            while (found.size() < wanted.size() && (line = lines.readLine()) != null) {
                String key = key(line);
                if (wanted.contains(key)) {
                    found.put(key, row(line));
                }
            }
        }
        return found.size() > before;
    }

    private static String key(String line) throws IOException {
        int local = line.indexOf(": ") + 2;
        int remote = line.indexOf(' ', local) + 1;
        int end = line.indexOf(' ', remote);
        if (local < 2 || remote == 0 || end < 0) {
            throw new IOException("unexpected line \"" + line + "\"");
        }
        return unmapped(line.substring(local, remote - 1)) + " " + unmapped(line.substring(remote, end));
    }

    private static String unmapped(String end) {
        return end.startsWith(MAPPED) ? end.substring(MAPPED.length()) : end;
    }

    private static Row row(String line) throws IOException {
        try {
            String[] columns = line.strip().split(" +", -1);
            String queues = columns[QUEUES];
            return new Row(
                    Long.parseLong(queues, 0, queues.indexOf(':'), HEX),
                    Integer.parseInt(columns[RETRANSMISSIONS], HEX),
                    Integer.parseInt(columns[PROBES]));
        } catch (NumberFormatException | IndexOutOfBoundsException e) {
            throw new IOException("unexpected line \"" + line + "\"", e);
        }
    }
}
