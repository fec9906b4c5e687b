package io.madeleine.tm.tcp.spi;

import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;

/**
 * A TLS 1.3 implementation for Netty's {@code SslHandler}. Implementations are found with {@link
 * java.util.ServiceLoader}; the JDK's is built in.
 *
 * <p>Threading: thread-safe.
 */
public interface TlsEngine {
    /** The value of {@code madeleine.tm.tcp.tls.engine} that selects this implementation: letters, digits, hyphens. */
    String key();

    /** The name of this implementation in messages for users. */
    String title();

    /**
     * The number by which the two ends of a connection compare their implementations: from 2 to 127; the JDK's is 1.
     * Implementations whose {@link #keyingMaterial} differs must have different numbers.
     */
    byte kind();

    /**
     * The reason why this implementation cannot be used here, or empty if it can. Loads native libraries only where
     * native access is granted.
     */
    Optional<String> unavailable();

    /** The names of the Java modules that need native access for this implementation. */
    List<String> nativeModules();

    /** Whether this implementation is faster with direct buffers, and encrypts and decrypts them in place. */
    boolean prefersDirect();

    /**
     * Builds a context of this implementation.
     *
     * @param builder holds certificates, key and protocol version
     * @throws SSLException if no context can be built from them
     */
    SslContext build(SslContextBuilder builder) throws SSLException;

    /**
     * Derives a secret that is unique to this TLS session and that only its two ends know. It becomes part of the
     * proofs of the session's secret, so that a man in the middle cannot relay these proofs.
     *
     * @param engine an engine of a context of this implementation, after its handshake
     * @return at least 32 bytes, the same at both ends
     * @throws SSLException if the engine is closed
     * @throws GeneralSecurityException if the platform lacks a required algorithm
     */
    byte[] keyingMaterial(SSLEngine engine) throws SSLException, GeneralSecurityException;
}
