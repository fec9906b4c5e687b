package io.madeleine.tm.sci.wake;

import io.madeleine.api.SessionException;
import io.madeleine.pmm.spi.Reactor;
import io.madeleine.tm.sci.memory.SciKeys;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The Unix-domain socket in the session directory at which peers dial this process's doorbell.
 *
 * <p>Threading: the handler runs on the reactor's thread.
 */
public final class DoorbellListener implements AutoCloseable {
    /** The queue of callers: all processes of a session may dial at once. */
    private static final int BACKLOG = 4096;

    private final ServerSocketChannel server;
    private final Reactor reactor;
    private final Doorbell.Keeper keeper;
    private final long proof;
    private final Logger logger;
    private final List<Doorbell> answered = new CopyOnWriteArrayList<>();

    private DoorbellListener(
            ServerSocketChannel server, Reactor reactor, Doorbell.Keeper keeper, long proof, Logger logger) {
        this.server = server;
        this.reactor = reactor;
        this.keeper = keeper;
        this.proof = proof;
        this.logger = logger;
    }

    /**
     * Listens at {@code file}.
     *
     * @throws SessionException if that fails, for example because the path is too long for a socket
     */
    public static DoorbellListener open(Path file, Reactor reactor, Doorbell.Keeper keeper, long proof, Logger logger) {
        try {
            ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
            try {
                server.bind(UnixDomainSocketAddress.of(file), BACKLOG);
                Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
                server.configureBlocking(false);
                DoorbellListener listener = new DoorbellListener(server, reactor, keeper, proof, logger);
                reactor.register(server, SelectionKey.OP_ACCEPT, _ -> listener.accept());
                return listener;
            } catch (IOException | RuntimeException | Error e) {
                server.close();
                throw e;
            }
        } catch (IOException e) {
            throw new SessionException(
                    "cannot listen at the Unix-domain socket " + file + " ("
                            + file.toString().length()
                            + " characters; systems allow at most 103 to 107): " + e.getMessage()
                            + "; give a shorter path with " + SciKeys.ROOT + ".directory",
                    e);
        }
    }

    private void accept() {
        try {
            SocketChannel channel = server.accept();
            if (channel != null) {
                answered.removeIf(Doorbell::isClosed);
                answered.add(Doorbell.accepted(channel, reactor, keeper, proof));
            }
        } catch (IOException e) {
            logger.log(Level.WARNING, "sci: cannot accept the doorbell line of a peer: {0}", e.toString());
        }
    }

    @Override
    public void close() {
        answered.forEach(Doorbell::close);
        try {
            server.close();
        } catch (IOException e) {
            logger.log(Level.DEBUG, "sci: cannot close the socket of the doorbell: {0}", e.toString());
        }
    }
}
