package io.madeleine.tm.tcp;

import io.madeleine.pmm.spi.ProcessIdentity;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The frames that open a connection, each after its length in two bytes, big-endian:
 *
 * <pre>
 *   initiator                                                      acceptor
 *   HELLO      "MADL" version nonce                        --&gt;
 *              &lt;--  CHALLENGE  "MADL" version nonce proof
 *   JOIN       proof | session, channel, identities, digest --&gt;
 *              &lt;--  VERDICT    proof | 1, or 0 and why not
 *   REJECT     "MADL" version code, either way, instead of any of them
 * </pre>
 *
 * A proof is an HMAC-SHA256 with the session's secret over the frame's name, both nonces, what names the TLS session if there
 * is one, and the frame's body: it is checked before the body is read. Packets follow the verdict, from both sides.
 *
 * <p>With TLS, all of this is inside it, and the acceptor begins, with READY: by then it has accepted the initiator's
 * certificate, which TLS 1.3 does not tell an initiator otherwise. READY and HELLO say in one more byte which implementation of
 * TLS their sender has. These bytes, both certificates and a secret of the TLS session (RFC 5705, RFC 9266) are part of every
 * proof ({@link TlsBinding}), so that nobody can stand between and pass proofs on, not even with a certificate that both ends
 * trust.
 *
 * <p>Threading: confined to the event loop; the static parts are stateless.
 */
final class Handshake {
    static final int MAGIC = 0x4D41444C;
    static final int VERSION = 1;
    static final int NONCE_BYTES = 32;
    static final int PROOF_BYTES = 32;

    /** At most two frames each way: less than 4 KiB in total. */
    static final int MAX_FRAME_BYTES = 2000;

    static final int LENGTH_BYTES = 2;

    static final byte HELLO = 1;
    static final byte CHALLENGE = 2;
    static final byte JOIN = 3;
    static final byte VERDICT = 4;
    static final byte REJECT = 5;
    static final byte READY = 6;

    /** Codes of REJECT. */
    static final byte OTHER_VERSION = 1;

    static final byte OTHER_SECRET = 2;
    static final byte MALFORMED = 3;
    static final byte TOO_SLOW = 4;
    static final byte TLS_NEEDED = 5;
    static final byte TLS_NOT_SPOKEN = 6;

    private static final int MAX_REASON_BYTES = 1000;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final byte[] secret;
    private final byte[] ownNonce = new byte[NONCE_BYTES];
    private final byte[] initiatorNonce;
    private final byte[] acceptorNonce;
    private byte[] binding = {};

    private Handshake(byte[] secret, byte[] peerNonce, boolean initiator) {
        this.secret = secret;
        RANDOM.nextBytes(ownNonce);
        this.initiatorNonce = initiator ? ownNonce : peerNonce;
        this.acceptorNonce = initiator ? peerNonce : ownNonce;
    }

    /** The side that calls; the acceptor's nonce is filled in by {@link #readChallenge}. */
    static Handshake initiator(byte[] secret) {
        return new Handshake(secret, new byte[NONCE_BYTES], true);
    }

    /** The side that is called, which has the caller's nonce. */
    static Handshake acceptor(byte[] secret, byte[] initiatorNonce) {
        return new Handshake(secret, initiatorNonce, false);
    }

    /** Binds the proofs to a TLS session; before the first one. */
    void bind(byte[] names) {
        binding = names.clone();
    }

    /**
     * What the initiator wants.
     *
     * @param sessionId the session both have to belong to
     * @param channel the channel the connection is for
     * @param initiator who calls
     * @param acceptor who is called
     * @param tableDigest the digest of the initiator's selection table
     */
    record Join(
            String sessionId, String channel, ProcessIdentity initiator, ProcessIdentity acceptor, long tableDigest) {}

    /** The frame or its body is not what it has to be. */
    static final class MalformedFrameException extends Exception {
        private static final long serialVersionUID = 1L;

        MalformedFrameException(String message) {
            super(message);
        }
    }

    private static ByteBuf begin(byte type) {
        return Unpooled.buffer(128, MAX_FRAME_BYTES).writeByte(type);
    }

    private static ByteBuf beginPlain(byte type) {
        return begin(type).writeInt(MAGIC).writeShort(VERSION);
    }

    ByteBuf hello() {
        return beginPlain(HELLO).writeBytes(ownNonce);
    }

    ByteBuf challenge() {
        return beginPlain(CHALLENGE).writeBytes(ownNonce).writeBytes(proof(CHALLENGE, new byte[0]));
    }

    static ByteBuf ready(byte kindOfTls) {
        return beginPlain(READY).writeByte(kindOfTls);
    }

    static ByteBuf reject(byte code) {
        return beginPlain(REJECT).writeByte(code);
    }

    ByteBuf join(Join join) {
        ByteBuf body = Unpooled.buffer(128, MAX_FRAME_BYTES);
        writeText(body, join.sessionId);
        writeText(body, join.channel);
        body.writeLong(join.initiator.id()).writeInt(join.initiator.incarnation());
        body.writeLong(join.acceptor.id()).writeInt(join.acceptor.incarnation());
        body.writeLong(join.tableDigest);
        return proven(JOIN, body);
    }

    ByteBuf accepted() {
        return proven(VERDICT, Unpooled.buffer(1).writeByte(1));
    }

    ByteBuf refused(String reason) {
        ByteBuf body = Unpooled.buffer(128, MAX_FRAME_BYTES).writeByte(0);
        byte[] text = reason.getBytes(StandardCharsets.UTF_8);
        return proven(VERDICT, body.writeBytes(text, 0, Math.min(text.length, MAX_REASON_BYTES)));
    }

    /** A frame with a proof of its body. */
    ByteBuf proven(byte type, ByteBuf body) {
        byte[] bytes = ByteBufUtil.getBytes(body);
        return begin(type).writeBytes(proof(type, bytes)).writeBytes(bytes);
    }

    private static void writeText(ByteBuf body, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (bytes.length > 255) {
            throw new IllegalArgumentException("\"" + text + "\" is longer than 255 bytes");
        }
        body.writeByte(bytes.length).writeBytes(bytes);
    }

    /** Takes the acceptor's nonce; returns whether its proof holds. The head has been checked. */
    boolean readChallenge(ByteBuf frame) throws MalformedFrameException {
        need(frame, NONCE_BYTES + PROOF_BYTES, "CHALLENGE");
        frame.readBytes(acceptorNonce);
        return MessageDigest.isEqual(readProof(frame), proof(CHALLENGE, new byte[0]));
    }

    /** Takes the proof and the body behind it; returns whether it holds, and the reader stands before the body then. */
    boolean readProven(byte type, ByteBuf frame) throws MalformedFrameException {
        if (frame.readableBytes() < PROOF_BYTES) {
            throw new MalformedFrameException("a frame without a proof");
        }
        byte[] theirs = readProof(frame);
        byte[] body = ByteBufUtil.getBytes(frame, frame.readerIndex(), frame.readableBytes());
        return MessageDigest.isEqual(theirs, proof(type, body));
    }

    private static byte[] readProof(ByteBuf frame) {
        byte[] proof = new byte[PROOF_BYTES];
        frame.readBytes(proof);
        return proof;
    }

    static Join readJoin(ByteBuf body) throws MalformedFrameException {
        String sessionId = readText(body);
        String channel = readText(body);
        need(body, 2 * (Long.BYTES + Integer.BYTES) + Long.BYTES, "JOIN");
        ProcessIdentity initiator = new ProcessIdentity(body.readLong(), body.readInt());
        ProcessIdentity acceptor = new ProcessIdentity(body.readLong(), body.readInt());
        return new Join(sessionId, channel, initiator, acceptor, body.readLong());
    }

    private static String readText(ByteBuf body) throws MalformedFrameException {
        if (!body.isReadable() || body.readableBytes() < 1 + body.getUnsignedByte(body.readerIndex())) {
            throw new MalformedFrameException("a text is cut off");
        }
        return body.readString(body.readUnsignedByte(), StandardCharsets.UTF_8);
    }

    /** Why the acceptor refused, or an empty text if it did not. */
    static String readVerdict(ByteBuf body) throws MalformedFrameException {
        if (!body.isReadable()) {
            throw new MalformedFrameException("an empty VERDICT");
        }
        boolean accepted = body.readByte() == 1;
        String reason = body.toString(StandardCharsets.UTF_8);
        return accepted ? "" : reason.isEmpty() ? "no reason given" : reason;
    }

    static void need(ByteBuf frame, int bytes, String name) throws MalformedFrameException {
        if (frame.readableBytes() != bytes) {
            throw new MalformedFrameException(
                    "a " + name + " of " + frame.readableBytes() + " bytes, " + bytes + " expected");
        }
    }

    private byte[] proof(byte type, byte[] body) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret, "HmacSHA256"));
            mac.update(new byte[] {'M', 'A', 'D', 'L', VERSION, type});
            mac.update(initiatorNonce);
            mac.update(acceptorNonce);
            mac.update(binding);
            return mac.doFinal(body);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("HMAC-SHA256 is in every JDK", e);
        }
    }

    /** A code of REJECT in words. */
    static String describe(int code) {
        return switch (code) {
            case OTHER_VERSION ->
                "it speaks another version of the wire protocol; run the same release in all processes";
            case OTHER_SECRET ->
                "the two processes do not have the same session secret (madeleine.session.secret), or somebody stands between them";
            case MALFORMED -> "it could not read what it was sent";
            case TOO_SLOW -> "the handshake took too long";
            case TLS_NEEDED -> "it speaks TLS only; set madeleine.tm.tcp.tls.enabled alike in all processes";
            case TLS_NOT_SPOKEN -> "it does not speak TLS; set madeleine.tm.tcp.tls.enabled alike in all processes";
            default -> "for a reason unknown to this release (code " + code + ")";
        };
    }
}
