package io.madeleine.pmm;

import io.madeleine.pmm.spi.ProcessContext;
import io.madeleine.pmm.spi.RemoteMemory;
import io.madeleine.pmm.spi.RemoteMemoryException;
import io.madeleine.pmm.spi.RemoteMemoryException.Kind;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Descriptors of exported memory, sealed so that only a process of the session can make one and nobody can change one:
 *
 * <pre>
 *   0    family: up to three letters, and the version
 *   4    session: a hash of its name
 *   8    body: 40 bytes, defined by the network
 *   48   seal: HMAC-SHA-256 with the session's secret, the first 16 bytes
 * </pre>
 *
 * <p>Threading: immutable.
 */
public final class RemoteDescriptor {
    /** The length of the network's part in bytes. */
    public static final int BODY_BYTES = 40;

    private static final int SESSION = 4;
    private static final int BODY = 8;
    private static final int SEAL = BODY + BODY_BYTES;
    private static final byte VERSION = 1;
    private static final String PURPOSE = "madeleine remote memory ";

    private final String family;
    private final ProcessContext context;

    /** The descriptors of a network in a session. */
    public RemoteDescriptor(String family, ProcessContext context) {
        this.family = family;
        this.context = context;
    }

    /** Makes the descriptor of a body of {@link #BODY_BYTES} bytes. */
    public byte[] seal(byte[] body) {
        ByteBuffer descriptor = ByteBuffer.allocate(RemoteMemory.MAX_DESCRIPTOR_BYTES);
        descriptor.put(head()).put(body, 0, BODY_BYTES);
        return descriptor.put(sealOf(descriptor.array())).array();
    }

    /**
     * Opens a descriptor.
     *
     * @return its body
     * @throws RemoteMemoryException if it does not belong to this network and session, or its seal is wrong
     */
    public ByteBuffer open(byte[] descriptor) {
        if (descriptor.length != RemoteMemory.MAX_DESCRIPTOR_BYTES) {
            throw new RemoteMemoryException(
                    Kind.MALFORMED,
                    "a descriptor of remote memory of " + family + " has " + RemoteMemory.MAX_DESCRIPTOR_BYTES
                            + " bytes, found " + descriptor.length);
        }
        byte[] head = head();
        if (!Arrays.equals(head, 0, SESSION, descriptor, 0, SESSION)) {
            throw new RemoteMemoryException(
                    Kind.MALFORMED, "this is no descriptor of remote memory of " + family + ", version " + VERSION);
        }
        if (!Arrays.equals(head, SESSION, BODY, descriptor, SESSION, BODY)) {
            throw new RemoteMemoryException(
                    Kind.OTHER_SESSION,
                    "the descriptor belongs to another session: session " + context.sessionId()
                            + " can attach only memory that one of its own processes has exported");
        }
        byte[] seal = Arrays.copyOfRange(descriptor, SEAL, descriptor.length);
        if (!MessageDigest.isEqual(seal, sealOf(descriptor))) {
            throw new RemoteMemoryException(
                    Kind.FORGED,
                    "the seal of the descriptor is wrong: no process of session " + context.sessionId()
                            + " made it, or it was changed");
        }
        return ByteBuffer.wrap(descriptor, BODY, BODY_BYTES).slice().order(ByteOrder.BIG_ENDIAN);
    }

    private byte[] head() {
        byte[] head = new byte[BODY];
        byte[] name = family.getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(name, 0, head, 0, Math.min(name.length, SESSION - 1));
        head[SESSION - 1] = VERSION;
        ByteBuffer.wrap(head).putInt(SESSION, context.sessionId().hashCode());
        return head;
    }

    private byte[] sealOf(byte[] descriptor) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(context.secret(), "HmacSHA256"));
            mac.update((PURPOSE + context.sessionId()).getBytes(StandardCharsets.UTF_8));
            mac.update(descriptor, 0, SEAL);
            return Arrays.copyOf(mac.doFinal(), RemoteMemory.MAX_DESCRIPTOR_BYTES - SEAL);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has HmacSHA256", e);
        }
    }
}
