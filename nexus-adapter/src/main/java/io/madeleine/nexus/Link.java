package io.madeleine.nexus;

/**
 * An endpoint of some node, with what lets a context of another session call it: 128 bits that only those know to whom a
 * startpoint was given.
 *
 * <p>Threading: immutable.
 *
 * @param endpoint its number at its node
 * @param grant half of what lets call it
 * @param grantRest the other half
 */
record Link(int endpoint, long grant, long grantRest) {
    /** The endpoint of the adapter's own requests, which every node has. */
    static final Link SYSTEM = new Link(Wire.SYSTEM_ENDPOINT);

    /** To an endpoint of a process of the session, which needs nothing else. */
    Link(int endpoint) {
        this(endpoint, 0, 0);
    }

    /** Whether it has what lets contexts of other sessions call. */
    boolean isGranted() {
        return (grant | grantRest) != 0;
    }

    boolean isSystem() {
        return endpoint == Wire.SYSTEM_ENDPOINT;
    }

    /** Whether who says so may call; takes the same time for every wrong answer. */
    boolean isOpenedBy(long said, long saidRest) {
        return isGranted() && ((grant ^ said) | (grantRest ^ saidRest)) == 0;
    }

    /** Without what is secret. */
    @Override
    public String toString() {
        return "endpoint " + Names.endpoint(endpoint);
    }
}
