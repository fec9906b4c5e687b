package io.madeleine.session.bootstrap;

import io.madeleine.admission.HandshakeException;
import io.madeleine.api.SessionException;
import io.madeleine.api.WaitInterruptedException;
import io.madeleine.session.config.HostAddress;
import io.madeleine.session.config.Membership;
import io.madeleine.session.config.Timeouts;
import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;

/**
 * Makes control connections.
 *
 * <p>Threading: stateless.
 */
final class ControlConnector {
    private static final int ATTEMPT_MS = 5_000;
    private static final int ANSWER_MS = 2_000;
    private static final long FIRST_PAUSE_MS = 5;
    private static final long LONGEST_PAUSE_MS = 50;

    private ControlConnector() {}

    /** The result of joining. */
    record Joined(ControlConnection connection, ControlMessage.Welcome welcome) {}

    /**
     * Joins, retrying until the deadline: the server may start later, or be out of room for a moment. Fails at once if
     * the server refuses or does not have the same secret.
     */
    static Joined join(HostAddress server, Membership membership, Timeouts timeouts, long deadlineNs) {
        byte[] key = Secrets.controlKey(membership.secret());
        String before = "";
        for (long pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
            try {
                return attempt(server, key, membership, deadlineNs);
            } catch (HandshakeException e) {
                throw new SessionException(membership + ": " + server + " cannot be joined: " + e.getMessage(), e);
            } catch (IOException e) {
                if (e instanceof ConnectException && isOwnPort(membership)) {
                    throw new SessionException(membership + ": the port at " + server + " is closed", e);
                }
                if (deadlineNs - System.nanoTime() <= pauseMs * 1_000_000) {
                    throw new SessionException(
                            membership + ": " + who(membership) + " cannot be reached at " + server + " within "
                                    + timeouts.openBound() + ": " + reason(e) + before,
                            e);
                }
                if (e instanceof EOFException || e instanceof SocketException && !(e instanceof ConnectException)) {
                    before = "; a process listened there earlier";
                }
            }
            pause(pauseMs, membership);
        }
    }

    /**
     * Whether this process itself listens at that address. It then does so from before the join until its port is
     * closed, so a refused connection means that the port is closed.
     */
    private static boolean isOwnPort(Membership membership) {
        return membership.contact() instanceof Membership.Contact.Root root && root.here();
    }

    private static Joined attempt(HostAddress server, byte[] key, Membership membership, long deadlineNs)
            throws IOException {
        int timeoutMs = Math.min(remainingMs(deadlineNs), ATTEMPT_MS);
        Socket socket = new Socket();
        try {
            InetSocketAddress address = server.resolve();
            if (address.isUnresolved()) {
                throw new IOException("no address is known for the host name " + server.host());
            }
            socket.connect(address, timeoutMs);
            if (address.equals(socket.getLocalSocketAddress())) {
                // The system may choose the very same port as the local one, and TCP then connects the socket with
                // itself.
                throw new ConnectException("no process listens there yet");
            }
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(timeoutMs);
            ControlConnection connection = ControlHandshake.connect(socket, key);
            // The server has admitted this process: a second attempt would be refused, so this one waits to the end.
            // At the deadline the server says which processes are missing.
            connection.receiveTimeoutMs(remainingMs(deadlineNs) + ANSWER_MS);
            return new Joined(connection, greet(connection, server, membership));
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    private static ControlMessage.Welcome greet(ControlConnection connection, HostAddress server, Membership membership)
            throws IOException {
        connection.send(new ControlMessage.Hello(
                membership.name(),
                membership.rank(),
                membership.size(),
                HostKey.ofThisNetwork(),
                ProcessHandle.current().pid()));
        return switch (connection.receive().orElse(null)) {
            case ControlMessage.Welcome welcome -> welcome;
            case ControlMessage.Refused(String reason) ->
                throw new SessionException(membership + ": refused by " + server + ": " + reason);
            case null -> throw new SessionException(membership + ": " + server + " does not answer");
            case ControlMessage other ->
                throw new SessionException(membership + ": unexpected answer of " + server + ": " + other);
        };
    }

    private static int remainingMs(long deadlineNs) {
        return Math.clamp((deadlineNs - System.nanoTime()) / 1_000_000, 1, Integer.MAX_VALUE - ANSWER_MS);
    }

    private static String reason(IOException e) {
        if (e instanceof EOFException) {
            return "it closes the connection at once";
        }
        if (e instanceof SocketTimeoutException) {
            return "it does not answer";
        }
        return e.getMessage() == null ? e.toString() : e.getMessage();
    }

    private static String who(Membership membership) {
        return membership.contact() instanceof Membership.Contact.Launcher ? "the launcher" : "rank 0";
    }

    private static void pause(long pauseMs, Membership membership) {
        try {
            Thread.sleep(pauseMs);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new WaitInterruptedException(membership + ": interrupted while joining", e);
        }
    }
}
