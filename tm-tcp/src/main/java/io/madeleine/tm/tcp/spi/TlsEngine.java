package io.madeleine.tm.tcp.spi;

import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;

/**
 * An implementation of TLS 1.3 for Netty's {@code SslHandler}, found as a service. The JDK's is built in.
 *
 * <p>Threading: thread-safe.
 */
public interface TlsEngine {
    /** What it is called in configuration: letters, digits, hyphens. */
    String key();

    /** What it is called in sentences. */
    String title();

    /** A number from 2 to 127 that tells implementations apart whose {@link #keyingMaterial} differs; 1 is the JDK's. */
    byte kind();

    /** Why it cannot be used here, or empty if it can. Loads what it needs, and only where native access is granted. */
    Optional<String> unavailable();

    /** The Java modules that need native access for it. */
    List<String> nativeModules();

    /** Whether it works faster with buffers outside the heap, and reads and writes them where they are. */
    boolean prefersDirect();

    /**
     * A context of this implementation.
     *
     * @param builder knows certificates, key and the protocol's version
     * @throws SSLException if it cannot be made of these
     */
    SslContext build(SslContextBuilder builder) throws SSLException;

    /**
     * A secret of this TLS session and no other, which its two ends alone know. Part of the proofs of the session's secret, so
     * that nobody can stand between and pass them on.
     *
     * @param engine of a context of this implementation; its handshake is over
     * @return at least 32 bytes, the same at both ends
     * @throws SSLException if the engine is closed
     * @throws GeneralSecurityException if the platform has not what is needed
     */
    byte[] keyingMaterial(SSLEngine engine) throws SSLException, GeneralSecurityException;
}
