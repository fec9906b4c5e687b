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
 *              &lt;--  VERDICT    proof | 1, or 0 and why not
 *   REJECT     "MADL" version code, either way, instead of any of them
 * </pre>
 *
 * A proof is an HMAC-SHA256 with the session's secret over the version, the frame's name, both nonces, what names the protected
 * line if there is one, and the frame's body: it is checked before the body is read. Packets follow the verdict, from both sides.
 *
 * <p>Over a protected line the acceptor begins, with READY: by then it has accepted the initiator's certificate, which TLS 1.3
 * does not tell an initiator otherwise. READY and HELLO say in one more byte which implementation their sender has; the {@link
 * ChannelBinding} is part of every proof.
 *
 * <p>Threading: confined to one handshake; the static parts are stateless.
 */
public final class HandshakeFrames {
    /** "MADL". */
    public static final int MAGIC = 0x4D41444C;

    /** Raised whenever a frame, or what follows the verdict, changes. */
    public static final int VERSION = 2;

    /** At most two frames each way: less than 4 KiB in total. */
    public static final int MAX_FRAME_BYTES = 2000;

    /** The length of nonces. */
    public static final int NONCE_BYTES = Proofs.BYTES;

    /** The length of proofs. */
    public static final int PROOF_BYTES = Proofs.BYTES;

    /** Names of frames. */
    public static final byte HELLO = 1;

    /** The acceptor's answer to HELLO. */
    public static final byte CHALLENGE = 2;

    /** What the initiator wants. */
    public static final byte JOIN = 3;

    /** Whether it gets that. */
    public static final byte VERDICT = 4;

    /** The end. */
    public static final byte REJECT = 5;

    /** The acceptor's line is protected. */
    public static final byte READY = 6;

    /** Codes of REJECT: other version. */
    public static final byte OTHER_VERSION = 1;

    /** Other secret. */
    public static final byte OTHER_SECRET = 2;

    /** Nonsense. */
    public static final byte MALFORMED = 3;

    /** Silence. */
    public static final byte TOO_SLOW = 4;

    /** The peer's line is not protected. */
    public static final byte TLS_NEEDED = 5;

    /** The peer's line is protected, this one is not. */
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

    /** Of the side that calls; the acceptor's nonce is filled in by {@link #readChallenge}. */
    public static HandshakeFrames initiator(byte[] secret) {
        return new HandshakeFrames(secret, new byte[NONCE_BYTES], true);
    }

    /** Of the side that is called, which has the caller's nonce. */
    public static HandshakeFrames acceptor(byte[] secret, byte[] initiatorNonce) {
        return new HandshakeFrames(secret, initiatorNonce.clone(), false);
    }

    /** Binds the proofs to a protected line; before the first one. */
    public void bind(byte[] names) {
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

    /** HELLO; with the kind of protected line there is, if any. */
    public byte[] hello(byte... kind) {
        return plain(HELLO, ownNonce, kind);
    }

    /** CHALLENGE. */
    public byte[] challenge() {
        return plain(CHALLENGE, ownNonce, proof(CHALLENGE, new byte[0]));
    }

    /** READY. */
    public static byte[] ready(byte kind) {
        return plain(READY, new byte[] {kind});
    }

    /** REJECT. */
    public static byte[] reject(byte code) {
        return plain(REJECT, new byte[] {code});
    }

    /** JOIN. */
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

    /** VERDICT: welcome. */
    public byte[] accepted() {
        return proven(VERDICT, new byte[] {1});
    }

    /** VERDICT: why not. */
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

    /** A frame with a proof of its body. */
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
     * Takes the name of a frame and, of those that have one, its head.
     *
     * @return the sender's version, this process's where the frame says none
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

    /** Takes the acceptor's nonce; returns whether its proof holds. The head has been read. */
    public boolean readChallenge(ByteBuffer frame) throws MalformedFrameException {
        need(frame, NONCE_BYTES + PROOF_BYTES, "CHALLENGE");
        frame.get(acceptorNonce);
        return MessageDigest.isEqual(bytes(frame, PROOF_BYTES), proof(CHALLENGE, new byte[0]));
    }

    /** Takes the proof and looks at the body behind it; returns whether it holds: then the body is next. */
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

    /** Why the acceptor refused, or an empty text if it did not. */
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
