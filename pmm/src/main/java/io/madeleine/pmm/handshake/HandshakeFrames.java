package io.madeleine.pmm.handshake;

import io.madeleine.admission.Proofs;
import io.madeleine.pmm.spi.ProcessIdentity;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;

/**
 * The frames that open a connection; numbers are big-endian:
 *
 * <pre>
 *   initiator                                                      acceptor
 *   HELLO      "MADL" version nonce                        --&gt;
 *              &lt;--  CHALLENGE  "MADL" version nonce proof
 *   JOIN       proof | session, channel, identities, digest --&gt;
 *              &lt;--  VERDICT    proof | 1, or 0 and the reason
 *   REJECT     "MADL" version code, either way, instead of any of them
 * </pre>
 *
 * <p>A proof is an HMAC-SHA256 with the session's secret over the version, the frame's type, both nonces, the channel
 * binding if the line is protected, and the frame's body. The receiver checks it before it reads the body. After the
 * verdict both sides send packets.
 *
 * <p>Over a protected line the acceptor begins, with READY. It has then accepted the initiator's certificate, which TLS
 * 1.3 does not tell an initiator otherwise. READY and HELLO carry one more byte that names the sender's TLS
 * implementation; the {@link ChannelBinding} is part of every proof.
 *
 * <p>Threading: confined to one handshake; the static parts are stateless.
 */
public final class HandshakeFrames {
    /** The characters "MADL". */
    public static final int MAGIC = 0x4D41444C;

    /** The protocol version; increased whenever a frame, or the traffic after the verdict, changes. */
    public static final int VERSION = 2;

    /** The longest frame. Each side sends at most three frames, less than 4 KiB together. */
    public static final int MAX_FRAME_BYTES = 2000;

    /** The length of a nonce in bytes. */
    public static final int NONCE_BYTES = Proofs.BYTES;

    /** The length of a proof in bytes. */
    public static final int PROOF_BYTES = Proofs.BYTES;

    /** Frame type: the initiator's nonce. */
    public static final byte HELLO = 1;

    /** Frame type: the acceptor's answer to HELLO. */
    public static final byte CHALLENGE = 2;

    /** Frame type: the initiator's request. */
    public static final byte JOIN = 3;

    /** Frame type: the acceptor's answer to the request. */
    public static final byte VERDICT = 4;

    /** Frame type: the end of the handshake, with a code. */
    public static final byte REJECT = 5;

    /** Frame type: the acceptor's line is protected. */
    public static final byte READY = 6;

    /** REJECT code: another protocol version. */
    public static final byte OTHER_VERSION = 1;

    /** REJECT code: another secret. */
    public static final byte OTHER_SECRET = 2;

    /** REJECT code: an unreadable frame. */
    public static final byte MALFORMED = 3;

    /** REJECT code: the handshake took too long. */
    public static final byte TOO_SLOW = 4;

    /** REJECT code: the sender requires TLS, and the line is not protected. */
    public static final byte TLS_NEEDED = 5;

    /** REJECT code: the receiver uses TLS, and the sender does not. */
    public static final byte TLS_NOT_SPOKEN = 6;

    private static final int HEAD_BYTES = 1 + Integer.BYTES + Short.BYTES;
    private static final int MAX_REASON_BYTES = 1000;
    private static final int MAX_TEXT_BYTES = 255;
    private static final int JOIN_NUMBER_BYTES = 2 * (Long.BYTES + Integer.BYTES) + Long.BYTES;

    private final byte[] secret;
    private final byte[] ownNonce = Proofs.nonce();
    private final byte[] initiatorNonce;
    private final byte[] acceptorNonce;
    private byte[] binding = {};

    private HandshakeFrames(byte[] secret, byte[] peerNonce, boolean initiator) {
        this.secret = secret;
        this.initiatorNonce = initiator ? ownNonce : peerNonce;
        this.acceptorNonce = initiator ? peerNonce : ownNonce;
    }

    /** The initiator's frames; {@link #readChallenge} sets the acceptor's nonce. */
    public static HandshakeFrames initiator(byte[] secret) {
        return new HandshakeFrames(secret, new byte[NONCE_BYTES], true);
    }

    /** The acceptor's frames, with the initiator's nonce. */
    public static HandshakeFrames acceptor(byte[] secret, byte[] initiatorNonce) {
        return new HandshakeFrames(secret, initiatorNonce.clone(), false);
    }

    /** Binds the proofs to a protected line; call it before the first proof. */
    public void bind(byte[] names) {
        binding = names.clone();
    }

    /**
     * The initiator's request.
     *
     * @param sessionId the session to which both must belong
     * @param channel the connection's channel
     * @param initiator the process that calls
     * @param acceptor the process that is called
     * @param tableDigest the digest of the initiator's selection table
     */
    public record Join(
            String sessionId, String channel, ProcessIdentity initiator, ProcessIdentity acceptor, long tableDigest) {}

    // ---- writing

    private static byte[] plain(byte type, byte[]... parts) {
        ByteBuffer frame = ByteBuffer.allocate(MAX_FRAME_BYTES);
        frame.put(type).putInt(MAGIC).putShort((short) VERSION);
        for (byte[] part : parts) {
            frame.put(part);
        }
        return written(frame);
    }

    private static byte[] written(ByteBuffer frame) {
        byte[] bytes = new byte[frame.position()];
        frame.get(0, bytes);
        return bytes;
    }

    /** Makes a HELLO, with the kind of the protected line if there is one. */
    public byte[] hello(byte... kind) {
        return plain(HELLO, ownNonce, kind);
    }

    /** Makes a CHALLENGE. */
    public byte[] challenge() {
        return plain(CHALLENGE, ownNonce, proof(CHALLENGE, new byte[0]));
    }

    /** Makes a READY. */
    public static byte[] ready(byte kind) {
        return plain(READY, new byte[] {kind});
    }

    /** Makes a REJECT. */
    public static byte[] reject(byte code) {
        return plain(REJECT, new byte[] {code});
    }

    /** Makes a JOIN. */
    public byte[] join(Join join) {
        ByteBuffer body = ByteBuffer.allocate(MAX_FRAME_BYTES);
        writeText(body, join.sessionId);
        writeText(body, join.channel);
        body.putLong(join.initiator.id()).putInt(join.initiator.incarnation());
        body.putLong(join.acceptor.id()).putInt(join.acceptor.incarnation());
        body.putLong(join.tableDigest);
        return proven(JOIN, written(body));
    }

    private static void writeText(ByteBuffer body, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (bytes.length > MAX_TEXT_BYTES) {
            throw new IllegalArgumentException("\"" + text + "\" is longer than " + MAX_TEXT_BYTES + " bytes");
        }
        body.put((byte) bytes.length).put(bytes);
    }

    /** Makes a VERDICT that accepts. */
    public byte[] accepted() {
        return proven(VERDICT, new byte[] {1});
    }

    /** Makes a VERDICT that refuses, with the reason. */
    public byte[] refused(String reason) {
        byte[] text = reason.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(text.length, MAX_REASON_BYTES);
        return proven(
                VERDICT,
                ByteBuffer.allocate(1 + length)
                        .put((byte) 0)
                        .put(text, 0, length)
                        .array());
    }

    /** Makes a frame with a proof of its body. */
    public byte[] proven(byte type, byte[] body) {
        return ByteBuffer.allocate(1 + PROOF_BYTES + body.length)
                .put(type)
                .put(proof(type, body))
                .put(body)
                .array();
    }

    private byte[] proof(byte type, byte[] body) {
        return Proofs.proof(secret, "MADL", new byte[] {VERSION, type}, initiatorNonce, acceptorNonce, binding, body);
    }

    // ---- reading

    /**
     * Reads the rest of a frame's head, if its type has one.
     *
     * @return the sender's version; this process's version if the frame has none
     */
    static int readHead(byte type, ByteBuffer frame) throws MalformedFrameException {
        if (type == JOIN || type == VERDICT) {
            return VERSION;
        }
        if (frame.remaining() < HEAD_BYTES - 1 || frame.getInt() != MAGIC) {
            throw new MalformedFrameException("no Madeleine frame");
        }
        return Short.toUnsignedInt(frame.getShort());
    }

    /** Reads a CHALLENGE after its head, keeps the acceptor's nonce, and returns whether the proof is valid. */
    public boolean readChallenge(ByteBuffer frame) throws MalformedFrameException {
        need(frame, NONCE_BYTES + PROOF_BYTES, "CHALLENGE");
        frame.get(acceptorNonce);
        return MessageDigest.isEqual(bytes(frame, PROOF_BYTES), proof(CHALLENGE, new byte[0]));
    }

    /** Reads the proof and returns whether it is valid for the body, which is next in the frame. */
    public boolean readProven(byte type, ByteBuffer frame) throws MalformedFrameException {
        if (frame.remaining() < PROOF_BYTES) {
            throw new MalformedFrameException("a frame without a proof");
        }
        byte[] theirs = bytes(frame, PROOF_BYTES);
        return MessageDigest.isEqual(theirs, proof(type, bytes(frame.duplicate(), frame.remaining())));
    }

    static Join readJoin(ByteBuffer body) throws MalformedFrameException {
        String sessionId = readText(body);
        String channel = readText(body);
        need(body, JOIN_NUMBER_BYTES, "JOIN");
        ProcessIdentity initiator = new ProcessIdentity(body.getLong(), body.getInt());
        ProcessIdentity acceptor = new ProcessIdentity(body.getLong(), body.getInt());
        return new Join(sessionId, channel, initiator, acceptor, body.getLong());
    }

    private static String readText(ByteBuffer body) throws MalformedFrameException {
        if (!body.hasRemaining() || body.remaining() < 1 + Byte.toUnsignedInt(body.get(body.position()))) {
            throw new MalformedFrameException("a text is cut off");
        }
        return new String(bytes(body, Byte.toUnsignedInt(body.get())), StandardCharsets.UTF_8);
    }

    /** Returns why the acceptor refused; empty if it accepted. */
    static String readVerdict(ByteBuffer body) throws MalformedFrameException {
        if (!body.hasRemaining()) {
            throw new MalformedFrameException("an empty VERDICT");
        }
        boolean accepted = body.get() == 1;
        String reason = new String(bytes(body, body.remaining()), StandardCharsets.UTF_8);
        return accepted ? "" : reason.isEmpty() ? "no reason given" : reason;
    }

    static byte[] bytes(ByteBuffer from, int count) {
        byte[] bytes = new byte[count];
        from.get(bytes);
        return bytes;
    }

    static void need(ByteBuffer frame, int bytes, String name) throws MalformedFrameException {
        if (frame.remaining() != bytes) {
            throw new MalformedFrameException(
                    "a " + name + " of " + frame.remaining() + " bytes, " + bytes + " expected");
        }
    }
}
