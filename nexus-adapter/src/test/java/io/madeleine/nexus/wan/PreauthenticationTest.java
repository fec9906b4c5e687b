package io.madeleine.nexus.wan;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.admission.HandshakeException;
import io.madeleine.admission.Proofs;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each end judges what it hears as soon as it can, and tells the other end which version it speaks. */
@Timeout(30)
class PreauthenticationTest {
    private static final Credentials KEY = new Credentials(new byte[Proofs.BYTES], null);
    private static final Credentials OTHER_KEY = new Credentials(new byte[] {1}, null);

    private static byte[] client(int magic, int version, byte[] knock) {
        return ByteBuffer.allocate(Preauthentication.BYTES)
                .putInt(magic)
                .putInt(version)
                .put(knock)
                .array();
    }

    private static byte[] nonceIn(byte[] opening) {
        return Arrays.copyOfRange(opening, Preauthentication.GREETING_BYTES, opening.length);
    }

    /** How many bytes the server reads until it refuses. */
    private static int refusedAfter(byte[] said, HandshakeException[] why) {
        Preauthentication server = new Preauthentication(KEY);
        for (int i = 0; i < said.length; i++) {
            server.received().put(said[i]);
            try {
                assertFalse(server.isProven(), "after " + i);
            } catch (HandshakeException e) {
                why[0] = e;
                return i + 1;
            }
        }
        throw new AssertionError("it was taken");
    }

    @Test
    void shouldTakeAKnockWithItsLastByteAndNotBefore() throws Exception {
        Preauthentication server = new Preauthentication(KEY);
        byte[] opening = server.opening();
        assertEquals(Preauthentication.BYTES, opening.length);
        byte[] said = client(Preauthentication.MAGIC, Preauthentication.VERSION, KEY.proof("knock", nonceIn(opening)));
        assertFalse(server.isProven());
        for (int i = 0; i < said.length; i++) {
            server.received().put(said[i]);
            assertEquals(i == said.length - 1, server.isProven(), "after byte " + i);
        }
    }

    @Test
    void shouldRefuseAnotherProgramAnotherVersionAndAnotherSecretAsSoonAsItKnows() {
        byte[] knock = new byte[Proofs.BYTES];
        HandshakeException[] why = new HandshakeException[1];
        for (int bit = 0; bit < Integer.SIZE; bit++) {
            assertEquals(
                    4, refusedAfter(client(Preauthentication.MAGIC ^ 1 << bit, Preauthentication.VERSION, knock), why));
            assertTrue(why[0].getMessage().contains("is no context that can be attached to"), why[0]::getMessage);
            String told = new String(why[0].farewell(), StandardCharsets.US_ASCII);
            assertTrue(told.contains("expected version " + Preauthentication.VERSION), told);
            assertEquals(
                    8, refusedAfter(client(Preauthentication.MAGIC, Preauthentication.VERSION ^ 1 << bit, knock), why));
            assertTrue(why[0].getMessage().contains("expected " + Preauthentication.VERSION), why[0]::getMessage);
            assertEquals(0, why[0].farewell().length, "the client has seen the version");
        }
        assertEquals(
                Preauthentication.BYTES,
                refusedAfter(client(Preauthentication.MAGIC, Preauthentication.VERSION, knock), why));
        assertArrayEquals(new byte[] {Preauthentication.WRONG_SECRET}, why[0].farewell());
    }

    /** What a client makes of a server that says this, and then hangs up; and what the client has said. */
    private static Throwable heard(byte[] opening, byte[] verdict, byte[][] said) throws Exception {
        try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket socket = new Socket(listening.getInetAddress(), listening.getLocalPort());
                Socket server = listening.accept()) {
            CompletableFuture<Void> knocking = new CompletableFuture<>();
            Thread.ofVirtual().start(() -> {
                try {
                    Preauthentication.knock(socket, KEY);
                    knocking.complete(null);
                } catch (Throwable e) {
                    knocking.completeExceptionally(e);
                } finally {
                    close(socket);
                }
            });
            server.getOutputStream().write(opening);
            if (opening.length == Preauthentication.BYTES && opening[7] == Preauthentication.VERSION) {
                said[0] = server.getInputStream().readNBytes(Preauthentication.BYTES);
                server.getOutputStream().write(verdict);
                server.shutdownOutput();
            } else {
                server.shutdownOutput();
                said[0] = server.getInputStream().readAllBytes();
            }
            try {
                knocking.get();
                return null;
            } catch (ExecutionException e) {
                return e.getCause();
            }
        }
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldTellFromWhatAServerSaysWhetherAnotherAttemptHelps() throws Exception {
        byte[] opening = new Preauthentication(KEY).opening();
        byte[] foreign = opening.clone();
        foreign[0] ^= 1;
        byte[] newer = opening.clone();
        newer[7]++;
        byte[][] said = new byte[1][];

        assertEquals(null, heard(opening, new byte[] {Preauthentication.ACCEPTED}, said));
        assertArrayEquals(
                client(Preauthentication.MAGIC, Preauthentication.VERSION, KEY.proof("knock", nonceIn(opening))),
                said[0]);

        Throwable why = heard(opening, new byte[] {Preauthentication.WRONG_SECRET}, said);
        assertTrue(why instanceof HandshakeException && why.getMessage().contains("secret is another one"), "" + why);

        assertTrue(heard(opening, new byte[0], said) instanceof Preauthentication.RejectedException, "no verdict");
        for (int length = 8; length < opening.length; length++) {
            Throwable cut = heard(Arrays.copyOf(opening, length), new byte[0], said);
            assertTrue(cut instanceof Preauthentication.RejectedException, length + " bytes: " + cut);
            assertEquals(0, said[0].length);
        }

        why = heard(foreign, new byte[0], said);
        assertTrue(why instanceof HandshakeException && why.getMessage().contains("no context"), "" + why);
        assertEquals(0, said[0].length, "another program is told nothing");

        why = heard(newer, new byte[0], said);
        assertTrue(
                why instanceof HandshakeException
                        && why.getMessage().contains("speaks version " + (Preauthentication.VERSION + 1)),
                "" + why);
        assertArrayEquals(
                Arrays.copyOf(opening, Preauthentication.GREETING_BYTES), said[0], "its own version, and no knock");
    }

    @Test
    void shouldNotTakeTheKnockOfAnotherSecret() {
        Preauthentication server = new Preauthentication(KEY);
        server.received()
                .put(client(
                        Preauthentication.MAGIC,
                        Preauthentication.VERSION,
                        OTHER_KEY.proof("knock", nonceIn(server.opening()))));
        assertThrows(HandshakeException.class, server::isProven);
    }
}
