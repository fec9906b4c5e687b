package io.madeleine.tm.tcp;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;

/**
 * Checks the Netty on the path: an application may bring none, or another version than this module was built for. This
 * class names no class of Netty, so that it can run before one is loaded.
 *
 * <p>Threading: stateless.
 */
final class NettyLibrary {
    private static final int MAJOR = 4;
    private static final int MINOR = 2;
    private static final String NEEDED = "needs Netty " + MAJOR + "." + MINOR;

    /** A file in each jar of Netty. */
    private static final String VERSIONS = "META-INF/io.netty.versions.properties";

    private static final String SUFFIX = ".version";

    /** One class of each artifact that the NIO transport needs; where possible a class that exists only since 4.2. */
    private static final Map<String, String> MARKERS = markers();

    private NettyLibrary() {}

    private static Map<String, String> markers() {
        Map<String, String> markers = new LinkedHashMap<>();
        markers.put("io.netty.util.concurrent.ThreadAwareExecutor", "netty-common");
        markers.put("io.netty.channel.IoHandlerFactory", "netty-transport");
        markers.put("io.netty.buffer.ByteBuf", "netty-buffer");
        markers.put("io.netty.handler.codec.LengthFieldPrepender", "netty-codec-base");
        markers.put("io.netty.handler.ssl.SslHandler", "netty-handler");
        return markers;
    }

    /** The reason why Netty cannot be used, or empty if it can. */
    static Optional<String> unavailable() {
        return unavailable(NettyLibrary.class.getClassLoader());
    }

    /** As {@link #unavailable()}, for the Netty that a class loader finds. */
    static Optional<String> unavailable(ClassLoader loader) {
        Map<String, String> versions = versions(loader);
        Optional<String> old = MARKERS.values().stream()
                .map(versions::get)
                .filter(version -> version != null && isTooOld(version))
                .findFirst();
        if (old.isPresent()) {
            return Optional.of(NEEDED + ", found " + old.get());
        }
        for (Map.Entry<String, String> marker : MARKERS.entrySet()) {
            if (!isThere(marker.getKey(), loader)) {
                return Optional.of(NEEDED + ", found " + found(versions, marker.getValue()) + ": add io.netty:"
                        + marker.getValue() + " " + MAJOR + "." + MINOR + " or newer to the class path");
            }
        }
        return Optional.empty();
    }

    private static String found(Map<String, String> versions, String artifact) {
        String version = versions.get("netty-common");
        return version == null ? "none" : version + " without " + artifact;
    }

    private static boolean isThere(String className, ClassLoader loader) {
        try {
            Class<?> _ = Class.forName(className, false, loader);
            return true;
        } catch (ClassNotFoundException | LinkageError _) {
            return false;
        }
    }

    private static boolean isTooOld(String version) {
        String[] parts = version.split("\\.", -1);
        try {
            int major = Integer.parseInt(parts[0]);
            return major < MAJOR || major == MAJOR && parts.length > 1 && Integer.parseInt(parts[1]) < MINOR;
        } catch (NumberFormatException _) {
            return false; // not a version number of Netty: the marker classes decide
        }
    }

    /**
     * The version of each artifact, as far as the jars state it. If an artifact is there twice, the first one counts.
     */
    private static Map<String, String> versions(ClassLoader loader) {
        Map<String, String> versions = new TreeMap<>();
        try {
            for (URL file : Collections.list(loader.getResources(VERSIONS))) {
                Properties properties = new Properties();
                try (InputStream in = file.openStream()) {
                    properties.load(in);
                }
                for (String name : properties.stringPropertyNames()) {
                    if (name.endsWith(SUFFIX)) {
                        String version = properties.getProperty(name);
                        String plain = version.endsWith(".Final")
                                ? version.substring(0, version.length() - ".Final".length())
                                : version;
                        versions.putIfAbsent(name.substring(0, name.length() - SUFFIX.length()), plain);
                    }
                }
            }
        } catch (IOException | IllegalArgumentException _) {
            // the marker classes decide
        }
        return versions;
    }
}
