package io.madeleine.pmm.handshake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.ProcessIdentity;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** A proof covers every bit of what it is to prove, and nothing else is accepted in its place. */
class HandshakeFramesTest {
    private static final byte[] SECRET = {1, 2, 3, 4, 5, 6, 7, 8};
    private static final byte[] LINE = {1, 2, 9, 9, 9, 9};
    private static final int HEAD_BYTES = 7;
    private static final HandshakeFrames.Join JOIN =
            new HandshakeFrames.Join("session", "main", new ProcessIdentity(1, 0), new ProcessIdentity(2, 0), 42);

    /** Both sides of one handshake, after HELLO. */
    private static final class Pair {
        final HandshakeFrames initiator = HandshakeFrames.initiator(SECRET);
        final HandshakeFrames acceptor;

        Pair() {
            byte[] hello = initiator.hello();
            acceptor = HandshakeFrames.acceptor(SECRET, Arrays.copyOfRange(hello, HEAD_BYTES, hello.length));
        }

        /** A pair that has exchanged the challenge, too. */
        static Pair challenged() throws MalformedFrameException {
            Pair pair = new Pair();
            assertTrue(believes(pair.initiator, pair.acceptor.challenge()));
            return pair;
        }
    }

    private static boolean believes(HandshakeFrames initiator, byte[] challenge) throws MalformedFrameException {
        ByteBuffer rest = ByteBuffer.wrap(challenge, HEAD_BYTES, challenge.length - HEAD_BYTES);
        return initiator.readChallenge(rest);
    }

    private static boolean isProven(HandshakeFrames reader, byte type, byte[] frame) throws MalformedFrameException {
        return reader.readProven(type, ByteBuffer.wrap(frame, 1, frame.length - 1));
    }

    private static byte[] flipped(byte[] frame, int bit) {
        byte[] changed = frame.clone();
        changed[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
        return changed;
    }

    @Test
    void shouldNoticeEachFlippedBitOfAChallenge() throws Exception {
        Pair pair = new Pair();
        byte[] challenge = pair.acceptor.challenge();
        for (int bit = HEAD_BYTES * Byte.SIZE; bit < challenge.length * Byte.SIZE; bit++) {
            assertFalse(believes(pair.initiator, flipped(challenge, bit)), "bit " + bit);
        }
        assertTrue(believes(pair.initiator, challenge));
    }

    @Test
    void shouldNoticeEachFlippedBitOfARequestAndOfItsAnswer() throws Exception {
        Pair pair = Pair.challenged();
        byte[] join = pair.initiator.join(JOIN);
        byte[] accepted = pair.acceptor.accepted();
        byte[] refused = pair.acceptor.refused("a reason");
        for (int bit = Byte.SIZE; bit < join.length * Byte.SIZE; bit++) {
            assertFalse(isProven(pair.acceptor, HandshakeFrames.JOIN, flipped(join, bit)), "bit " + bit);
        }
        for (byte[] verdict : new byte[][] {accepted, refused}) {
            for (int bit = Byte.SIZE; bit < verdict.length * Byte.SIZE; bit++) {
                assertFalse(isProven(pair.initiator, HandshakeFrames.VERDICT, flipped(verdict, bit)), "bit " + bit);
            }
            assertTrue(isProven(pair.initiator, HandshakeFrames.VERDICT, verdict));
        }
        assertTrue(isProven(pair.acceptor, HandshakeFrames.JOIN, join));
    }

    @Test
    void shouldNoticeAFrameThatWasCutOrLengthened() throws Exception {
        Pair pair = Pair.challenged();
        byte[] join = pair.initiator.join(JOIN);
        for (int length = 1 + HandshakeFrames.PROOF_BYTES; length < join.length; length++) {
            assertFalse(isProven(pair.acceptor, HandshakeFrames.JOIN, Arrays.copyOf(join, length)), length + " bytes");
        }
        assertFalse(isProven(pair.acceptor, HandshakeFrames.JOIN, Arrays.copyOf(join, join.length + 1)));
    }

    @Test
    void shouldBelieveNothingThatIsRepeatedFromAnotherHandshake() throws Exception {
        Pair before = Pair.challenged();
        Pair now = Pair.challenged();
        assertFalse(isProven(now.acceptor, HandshakeFrames.JOIN, before.initiator.join(JOIN)), "to the acceptor");
        assertFalse(isProven(now.initiator, HandshakeFrames.VERDICT, before.acceptor.accepted()), "to the initiator");
        assertFalse(believes(new Pair().initiator, before.acceptor.challenge()), "a challenge");
    }

    @Test
    void shouldBelieveNoFrameInPlaceOfAnother() throws Exception {
        Pair pair = Pair.challenged();
        byte[] body = {1};
        byte[] join = pair.initiator.proven(HandshakeFrames.JOIN, body);
        byte[] verdict = pair.acceptor.proven(HandshakeFrames.VERDICT, body);
        assertFalse(isProven(pair.initiator, HandshakeFrames.VERDICT, join), "its own frame, sent back");
        assertFalse(isProven(pair.acceptor, HandshakeFrames.JOIN, verdict), "its own frame, sent back");
        assertTrue(isProven(pair.initiator, HandshakeFrames.VERDICT, verdict));
    }

    /** Both nonces count: with another one of either side, nothing that the other side proves holds. */
    @Test
    void shouldCoverEachBitOfBothNonces() throws Exception {
        HandshakeFrames initiator = HandshakeFrames.initiator(SECRET);
        byte[] hello = initiator.hello();
        byte[] nonce = Arrays.copyOfRange(hello, HEAD_BYTES, hello.length);
        assertEquals(HandshakeFrames.NONCE_BYTES, nonce.length);
        for (int bit = 0; bit < nonce.length * Byte.SIZE; bit++) {
            HandshakeFrames other = HandshakeFrames.acceptor(SECRET, flipped(nonce, bit));
            assertFalse(believes(initiator, other.challenge()), "bit " + bit + " of the initiator's nonce");
            assertFalse(isProven(initiator, HandshakeFrames.VERDICT, other.accepted()), "bit " + bit);
        }
    }

    @Test
    void shouldCoverTheSecretAndTheProtectedLine() throws Exception {
        for (int bit = 0; bit < SECRET.length * Byte.SIZE; bit++) {
            HandshakeFrames initiator = HandshakeFrames.initiator(flipped(SECRET, bit));
            byte[] hello = initiator.hello();
            HandshakeFrames acceptor =
                    HandshakeFrames.acceptor(SECRET, Arrays.copyOfRange(hello, HEAD_BYTES, hello.length));
            assertFalse(believes(initiator, acceptor.challenge()), "bit " + bit + " of the secret");
        }
        for (int bit = 0; bit < LINE.length * Byte.SIZE; bit++) {
            Pair pair = new Pair();
            pair.initiator.bind(LINE);
            pair.acceptor.bind(flipped(LINE, bit));
            assertFalse(believes(pair.initiator, pair.acceptor.challenge()), "bit " + bit + " of the binding");
        }
        Pair bound = new Pair();
        bound.initiator.bind(LINE);
        assertFalse(believes(bound.initiator, bound.acceptor.challenge()), "one side alone is bound");
        bound.acceptor.bind(LINE);
        assertTrue(believes(bound.initiator, bound.acceptor.challenge()));
    }
}
