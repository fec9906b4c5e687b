package io.madeleine.nexus.wire;

/**
 * An endpoint of some node, with the grant that a context of another session needs to call it: 128 bits that only
 * holders of a startpoint know.
 *
 * <p>Threading: immutable.
 *
 * @param endpoint the number of the endpoint at its node
 * @param grant half of the grant
 * @param grantRest the other half
 */
public record Link(int endpoint, long grant, long grantRest) {
    /** The endpoint for the adapter's own requests, which every node has. */
    public static final Link SYSTEM = new Link(RequestLayout.SYSTEM_ENDPOINT);

    /** A link without a grant, to an endpoint of a process of the same session. */
    public Link(int endpoint) {
        this(endpoint, 0, 0);
    }

    /** Whether the link has a grant. */
    public boolean isGranted() {
        return (grant | grantRest) != 0;
    }

    public boolean isSystem() {
        return endpoint == RequestLayout.SYSTEM_ENDPOINT;
    }

    /** Whether the presented grant is the right one; takes the same time for every wrong grant. */
    public boolean isOpenedBy(long said, long saidRest) {
        return isGranted() && ((grant ^ said) | (grantRest ^ saidRest)) == 0;
    }

    /** The endpoint, without the grant, which is secret. */
    @Override
    public String toString() {
        return "endpoint " + Names.endpoint(endpoint);
    }
}
