package io.madeleine.tm.tcp.tls;

import io.madeleine.tm.tcp.config.TcpConfig;
import io.madeleine.tm.tcp.spi.TlsEngine;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;

/**
 * The available TLS implementations, and the choice of {@code tls.engine}.
 *
 * <p>Threading: stateless.
 */
public final class TlsEngines {
    private static final String KEY = TcpConfig.PATH + ".tls.engine";

    private TlsEngines() {}

    /** The implementations of other modules, in no order. */
    private static List<TlsEngine> brought() {
        List<TlsEngine> found = new ArrayList<>();
        ServiceLoader.load(TlsEngine.class, TlsEngines.class.getClassLoader()).forEach(found::add);
        return found;
    }

    /**
     * The named implementation, or with {@code auto} the first usable one, the JDK's last. A named one may be {@link
     * #unavailable}.
     */
    public static TlsEngine chosen(String key) {
        if (key.equals(JdkTls.INSTANCE.key())) {
            return JdkTls.INSTANCE;
        }
        for (TlsEngine engine : brought()) {
            if (key.equals(TcpConfig.AUTO) ? engine.unavailable().isEmpty() : key.equals(engine.key())) {
                return engine;
            }
        }
        return JdkTls.INSTANCE;
    }

    /** The reason why the named implementation cannot be used, or empty if it can. */
    public static Optional<String> unavailable(String key) {
        if (key.equals(TcpConfig.AUTO)) {
            return Optional.empty();
        }
        TlsEngine chosen = chosen(key);
        if (!chosen.key().equals(key)) {
            return Optional.of(KEY + " is " + key + ", and no module provides that: expected madeleine-tm-tcp-" + key
                    + " on the module path or the class path, or " + KEY + " = jdk");
        }
        return chosen.unavailable()
                .map(reason ->
                        KEY + " is " + key + ", which cannot be used here: " + reason + ", or set " + KEY + " = jdk");
    }

    /** The implementation in use, and with {@code auto} the others and why they are not used. */
    public static String describe(String key) {
        StringBuilder words = new StringBuilder("by ").append(chosen(key).title());
        if (key.equals(TcpConfig.AUTO)) {
            for (TlsEngine engine : brought()) {
                engine.unavailable()
                        .ifPresent(reason -> words.append(" (not by ")
                                .append(engine.title())
                                .append(", which is faster: ")
                                .append(reason)
                                .append(')'));
            }
        }
        return words.toString();
    }

    /**
     * The modules that need native access, including those of implementations that are unavailable until it is
     * granted.
     */
    public static List<String> nativeModules(String key) {
        return brought().stream()
                .filter(engine -> key.equals(TcpConfig.AUTO) || key.equals(engine.key()))
                .flatMap(engine -> engine.nativeModules().stream())
                .toList();
    }
}
