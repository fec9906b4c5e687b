package io.madeleine.nexus.wan;

/**
 * Texts of network addresses.
 *
 * <p>Threading: stateless.
 */
final class Addresses {
    private Addresses() {}

    /** {@code host:port}, an IPv6 address in brackets. */
    static String text(String host, int port) {
        int scope = host.indexOf('%');
        String bare = scope < 0 ? host : host.substring(0, scope);
        return (bare.indexOf(':') >= 0 ? "[" + bare + "]" : bare) + ":" + port;
    }
}
