package io.madeleine.tm.bip.protocol;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Makes and checks cookies, so that an acceptor keeps no state for a peer that has not shown that it receives what is
 * sent to its address. A cookie is the time, and an HMAC-SHA256 of time, address and id, cut to 16 bytes.
 *
 * <p>Threading: confined to the adapter's lock.
 */
public final class Cookies {
    /** How long a cookie is accepted. */
    public static final long LIFETIME_NS = 30_000_000_000L;

    private static final int MAC_BYTES = DatagramLayout.COOKIE_BYTES - Long.BYTES;

    private final Mac mac;

    /** Makes cookies with a new key. */
    public Cookies() {
        byte[] key = new byte[32];
        new SecureRandom().nextBytes(key);
        try {
            mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has HmacSHA256", e);
        }
    }

    /** Makes the cookie for a peer, as bytes. */
    public byte[] make(byte[] address, long initiatorId, long nowNs) {
        ByteBuffer cookie = ByteBuffer.allocate(DatagramLayout.COOKIE_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        return cookie.putLong(nowNs)
                .put(code(address, initiatorId, nowNs), 0, MAC_BYTES)
                .array();
    }

    private byte[] code(byte[] address, long initiatorId, long timeNs) {
        mac.update(address);
        return mac.doFinal(ByteBuffer.allocate(2 * Long.BYTES)
                .putLong(initiatorId)
                .putLong(timeNs)
                .array());
    }

    /** Whether this process made the cookie for this peer, not long ago. */
    public boolean isValid(byte[] cookie, byte[] address, long initiatorId, long nowNs) {
        ByteBuffer read = ByteBuffer.wrap(cookie).order(ByteOrder.LITTLE_ENDIAN);
        long timeNs = read.getLong();
        long ageNs = nowNs - timeNs;
        byte[] expected = ByteBuffer.allocate(MAC_BYTES)
                .put(code(address, initiatorId, timeNs), 0, MAC_BYTES)
                .array();
        byte[] found = new byte[MAC_BYTES];
        read.get(found);
        return MessageDigest.isEqual(expected, found) && ageNs >= 0 && ageNs <= LIFETIME_NS;
    }
}
