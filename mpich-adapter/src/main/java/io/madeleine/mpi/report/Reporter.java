package io.madeleine.mpi.report;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Answers {@code mad report}: one daemon thread, which sleeps until somebody asks. Without a folder for its socket, or
 * with the system property {@code mpi.report} set to {@code off}, it does nothing.
 *
 * <p>Threading: thread-safe.
 */
public final class Reporter implements AutoCloseable {
    private static final System.Logger LOGGER = System.getLogger("io.madeleine.mpi");

    private static final long PAUSE_NS = 100_000_000;

    private final Supplier<List<Awaited>> awaited;
    private final @Nullable ServerSocketChannel socket;
    private final @Nullable Path path;

    /**
     * Begins to answer.
     *
     * @param awaited called for each answer, by the reporter's thread
     */
    public Reporter(int rank, int size, Supplier<List<Awaited>> awaited) {
        this.awaited = awaited;
        ServerSocketChannel opened = null;
        Path place = null;
        if (!"off".equals(System.getProperty("mpi.report"))) {
            try {
                place = ReportFolder.socket(rank, size);
                Files.deleteIfExists(place); // of an earlier process with this number
                opened = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
                opened.bind(UnixDomainSocketAddress.of(place));
            } catch (IOException | RuntimeException e) { // a file system without sockets or permissions, too
                LOGGER.log(System.Logger.Level.DEBUG, "mad report will not see rank {0}: {1}", rank, e);
                close(opened);
                opened = null;
            }
        }
        this.socket = opened;
        this.path = place;
        if (opened != null) {
            ServerSocketChannel open = opened;
            Thread.ofPlatform().daemon().name("madeleine-mpi-report").start(() -> answer(open));
        }
    }

    private void answer(ServerSocketChannel open) {
        while (open.isOpen()) {
            try (SocketChannel asker = open.accept()) {
                StringBuilder text = new StringBuilder();
                awaited.get().forEach(each -> text.append(each.line()).append('\n'));
                ByteBuffer bytes =
                        ByteBuffer.wrap(text.append(Awaited.END).toString().getBytes(StandardCharsets.UTF_8));
                while (bytes.hasRemaining()) {
                    int _ = asker.write(bytes);
                }
            } catch (IOException | RuntimeException | Error e) { // closed, the asker is gone, or no memory
                LOGGER.log(System.Logger.Level.DEBUG, "no answer to mad report: {0}", e);
                LockSupport.parkNanos(PAUSE_NS); // there may be no file descriptor left for a while
            }
        }
    }

    @Override
    public void close() {
        close(socket);
        if (socket != null && path != null) {
            try {
                Files.deleteIfExists(path);
            } catch (IOException e) {
                LOGGER.log(System.Logger.Level.DEBUG, "{0} stays: {1}", path, e);
            }
        }
    }

    private static void close(@Nullable ServerSocketChannel open) {
        if (open != null) {
            try {
                open.close();
            } catch (IOException e) {
                LOGGER.log(System.Logger.Level.DEBUG, "a socket is not closed: {0}", e);
            }
        }
    }
}
