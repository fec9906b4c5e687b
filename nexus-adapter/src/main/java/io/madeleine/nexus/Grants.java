package io.madeleine.nexus;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * What contexts of other sessions may call: the endpoints to which startpoints were given to them, and nothing by its name alone.
 * What lets call an endpoint is HMAC-SHA256 of its node and number, half of it, with a key that the processes of this session
 * know alone. So each of them can give out startpoints to endpoints of the others, which it may call anyway.
 *
 * <p>Threading: thread-safe.
 */
final class Grants {
    private static final String ALGORITHM = "HmacSHA256";

    private final Node node;
    private volatile @Nullable SecretKeySpec key;

    Grants(Node node) {
        this.node = node;
    }

    /** The context deals with other sessions from now on: startpoints that it sends carry what lets them call. */
    void begin() {
        if (key == null) {
            key = new SecretKeySpec(
                    node.session()
                            .deriveSessionKey(
                                    "nexus grants 1 " + node.nodes().self().channel()),
                    ALGORITHM);
        }
    }

    /** Whether startpoints to endpoints of this session carry what lets others call them. */
    boolean isAtWork() {
        return key != null;
    }

    /** The same link to an endpoint of a process of the session, with what lets others call it. */
    Link granted(int rank, int endpoint) {
        SecretKeySpec known = key;
        if (known == null) {
            return new Link(endpoint);
        }
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(known);
            ByteBuffer made = ByteBuffer.wrap(mac.doFinal(ByteBuffer.allocate(2 * Integer.BYTES)
                    .putInt(rank)
                    .putInt(endpoint)
                    .array()));
            return new Link(endpoint, made.getLong(), made.getLong());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("the JDK lacks " + ALGORITHM + ", which every JDK has", e);
        }
    }

    /** Whether a node may call an endpoint here: it is of the session, or it was given a startpoint. */
    boolean allow(int caller, @Nullable Endpoint endpoint, long said, long saidRest) {
        return endpoint != null
                && (node.nodes().isMember(caller) || endpoint.grantedLink().isOpenedBy(said, saidRest));
    }

    /** Whether what somebody of another session says is a link to an endpoint of this session that was given out. */
    boolean isGranted(int rank, Link said) {
        return granted(rank, said.endpoint()).isOpenedBy(said.grant(), said.grantRest());
    }
}
