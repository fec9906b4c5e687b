package io.madeleine.tm.via.remote;

import io.madeleine.pmm.spi.ProcessContext;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The proofs in messages of remote memory: HMAC-SHA-256 with the session's secret over the whole message, the first 16
 * bytes. A message with a wrong proof is ignored.
 *
 * <p>Threading: thread-safe.
 */
final class MessageProofs {
    /** The length of a proof. */
    static final int BYTES = 16;

    private static final String ALGORITHM = "HmacSHA256";
    private static final String PURPOSE = "madeleine via remote memory ";
    private static final int HEAD_BYTES = Integer.BYTES + 2 * Long.BYTES;

    private final SecretKeySpec key;
    private final byte[] purpose;

    MessageProofs(ProcessContext context) {
        this.key = new SecretKeySpec(context.secret(), ALGORITHM);
        this.purpose = (PURPOSE + context.sessionId()).getBytes(StandardCharsets.UTF_8);
    }

    /** The proof of a message whose payload has a gap for it. */
    byte[] of(int kind, long token, long word, byte[] payload, int gapFrom, int gapTo) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(key);
            mac.update(purpose);
            mac.update(ByteBuffer.allocate(HEAD_BYTES)
                    .putInt(kind)
                    .putLong(token)
                    .putLong(word)
                    .flip());
            mac.update(payload, 0, gapFrom);
            mac.update(payload, gapTo, payload.length - gapTo);
            return Arrays.copyOf(mac.doFinal(), BYTES);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has " + ALGORITHM, e);
        }
    }
}
