package io.madeleine.nexus;

import io.madeleine.nexus.wire.Link;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Decides which endpoints contexts of other sessions may call: those to which they hold startpoints, and none by its
 * name alone. A grant is half of an HMAC-SHA256 over the endpoint's rank and number, with a key that only the processes
 * of this session know. So each process can grant access to the endpoints of all others, which it may call anyway.
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

    /**
     * Called before the context first deals with another session: startpoints that it sends from now on carry grants.
     */
    void begin() {
        if (key == null) {
            key = new SecretKeySpec(
                    node.session()
                            .deriveSessionKey(
                                    "nexus grants 1 " + node.nodes().self().channel()),
                    ALGORITHM);
        }
    }

    /** Whether startpoints to endpoints of this session carry grants. */
    boolean isAtWork() {
        return key != null;
    }

    /** The link to an endpoint of a process of the session, with its grant. */
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

    /**
     * Whether a node may call an endpoint of this process: the node belongs to the session, or shows the right grant.
     */
    boolean allow(int caller, @Nullable Endpoint endpoint, long said, long saidRest) {
        return endpoint != null
                && (node.nodes().isMember(caller) || endpoint.grantedLink().isOpenedBy(said, saidRest));
    }

    /** Whether a link that another session has sent points to an endpoint of this session and shows its grant. */
    boolean isGranted(int rank, Link said) {
        return granted(rank, said.endpoint()).isOpenedBy(said.grant(), said.grantRest());
    }
}
