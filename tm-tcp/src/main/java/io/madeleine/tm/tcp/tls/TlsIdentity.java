package io.madeleine.tm.tcp.tls;

import io.madeleine.api.ConfigurationException;
import io.madeleine.pmm.tls.PemIdentity;
import io.madeleine.pmm.tls.TlsBinding;
import io.madeleine.tm.tcp.config.TcpConfig;
import io.madeleine.tm.tcp.spi.TlsEngine;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import java.security.cert.X509Certificate;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;

/**
 * This process's certificate and key and the certificates it trusts, read from PEM files and checked before any
 * connection is made. Both ends of a connection show a certificate. Names in certificates are not compared with
 * addresses: the session's secret, bound to the TLS session ({@link TlsBinding}), proves that the peer is the intended
 * one and that there is no man in the middle.
 *
 * <p>TLS 1.3 with the implementation that {@link TlsEngines} chooses.
 *
 * <p>Threading: thread-safe.
 */
public final class TlsIdentity implements AutoCloseable {
    private static final String KEY = TcpConfig.PATH + ".tls.";
    private static final String BECAUSE = KEY + "enabled = true";

    /** In memory only: PKCS12, the default, would derive a key of its own in ten thousand rounds, for nothing. */
    private static final String KEY_STORE = "JKS";

    private final TlsEngine implementation;
    private final SslContext server;
    private final SslContext client;
    private final long timeoutMs;
    private final ThreadPoolExecutor tasks;

    private TlsIdentity(TlsEngine implementation, SslContext server, SslContext client, long timeoutMs) {
        this.implementation = implementation;
        this.server = server;
        this.client = client;
        this.timeoutMs = timeoutMs;
        // to sign and to verify takes a millisecond or more, which the leader cannot afford
        this.tasks = new ThreadPoolExecutor(
                1,
                1,
                1,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                Thread.ofPlatform().daemon().name("madeleine-tcp-tls").factory());
        this.tasks.allowCoreThreadTimeOut(true);
    }

    /**
     * Reads the files.
     *
     * @throws ConfigurationException if a file is missing or invalid, or if key and certificate do not belong together
     */
    public static TlsIdentity load(TcpConfig.TlsConfig config, long timeoutNs) {
        PemIdentity own = PemIdentity.load(KEY, BECAUSE, config.files());
        TlsEngine implementation = TlsEngines.chosen(config.engine());
        SslContext server = null;
        try {
            server = build(
                    implementation,
                    SslContextBuilder.forServer(own.key(), own.chain()).clientAuth(ClientAuth.REQUIRE),
                    own.trusted());
            SslContext client = build(
                    implementation,
                    SslContextBuilder.forClient()
                            .keyManager(own.key(), own.chain())
                            .endpointIdentificationAlgorithm(null),
                    own.trusted());
            return new TlsIdentity(implementation, server, client, TimeUnit.NANOSECONDS.toMillis(timeoutNs));
        } catch (SSLException e) {
            ReferenceCountUtil.release(server);
            throw new ConfigurationException(
                    "tcp cannot use TLS with " + KEY + "certificate = "
                            + config.files().certificate() + ": " + e.getMessage(),
                    e);
        }
    }

    /** Why {@link #load} would refuse the files; empty if they can be used. Reads them, and opens nothing else. */
    public static Optional<String> unusable(TcpConfig.TlsConfig config) {
        return PemIdentity.unusable(KEY, BECAUSE, config.files());
    }

    private static SslContext build(TlsEngine implementation, SslContextBuilder builder, X509Certificate[] trusted)
            throws SSLException {
        return implementation.build(
                builder.keyStoreType(KEY_STORE).trustManager(trusted).protocols("TLSv1.3"));
    }

    /** Whether records are encrypted and decrypted in direct buffers. */
    public boolean prefersDirect() {
        return implementation.prefersDirect();
    }

    /** The TLS side of an accepted connection. */
    public TlsSide forAccepted(io.netty.buffer.ByteBufAllocator allocator) {
        return limited(server.newEngine(allocator));
    }

    /** The TLS side of an outgoing connection. */
    public TlsSide forCalled(io.netty.buffer.ByteBufAllocator allocator) {
        SSLEngine engine = client.newEngine(allocator);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm(null);
        engine.setSSLParameters(parameters);
        return limited(engine);
    }

    /**
     * Creates a handler that unwraps one record per call: an engine of {@link SslContext#newHandler} may keep part of
     * a record that {@link TlsInput} needs.
     */
    private TlsSide limited(SSLEngine engine) {
        SslHandler handler = new SslHandler(engine, tasks);
        handler.setHandshakeTimeoutMillis(timeoutMs);
        handler.setCloseNotifyFlushTimeoutMillis(0);
        return new TlsSide(handler, implementation);
    }

    /** Whether {@link #close} was called. */
    public boolean isClosed() {
        return tasks.isShutdown();
    }

    @Override
    public void close() {
        tasks.shutdown();
        ReferenceCountUtil.release(server); // the engines hold it as long as they live
        ReferenceCountUtil.release(client);
    }
}
