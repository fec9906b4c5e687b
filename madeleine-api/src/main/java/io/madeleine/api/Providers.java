package io.madeleine.api;

import io.madeleine.api.spi.SessionProvider;
import java.util.ServiceLoader;

/**
 * Finds the implementation of the API.
 *
 * <p>Threading: stateless.
 */
final class Providers {
    private Providers() {}

    static SessionProvider session() {
        return ServiceLoader.load(SessionProvider.class)
                .findFirst()
                .or(() -> ServiceLoader.load(SessionProvider.class, Session.class.getClassLoader())
                        .findFirst())
                .orElseThrow(() -> new SessionException("no implementation of Madeleine was found: expected the"
                        + " artifact io.madeleine:madeleine on the class path or module path"));
    }
}
