package io.madeleine.tm.tcp.tls;

import io.madeleine.api.ConfigurationException;
import io.madeleine.tm.tcp.config.TcpConfig;
import io.madeleine.tm.tcp.spi.TlsEngine;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateFactory;
import java.security.cert.CertificateNotYetValidException;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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
    private static final Pattern PRIVATE_KEY =
            Pattern.compile("-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\\s]+)-----END PRIVATE KEY-----");
    private static final int MAX_FILE_BYTES = 1 << 20;

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
        X509Certificate[] chain = certificates("certificate", config.certificate());
        X509Certificate[] trusted = certificates("trusted", config.trusted());
        PrivateKey key = privateKey(config.privateKey(), chain[0]);
        checkPair(config, chain[0], key);
        checkDates(config.certificate(), chain[0]);
        TlsEngine implementation = TlsEngines.chosen(config.engine());
        SslContext server = null;
        try {
            server = build(
                    implementation, SslContextBuilder.forServer(key, chain).clientAuth(ClientAuth.REQUIRE), trusted);
            SslContext client = build(
                    implementation,
                    SslContextBuilder.forClient().keyManager(key, chain).endpointIdentificationAlgorithm(null),
                    trusted);
            return new TlsIdentity(implementation, server, client, TimeUnit.NANOSECONDS.toMillis(timeoutNs));
        } catch (SSLException e) {
            ReferenceCountUtil.release(server);
            throw new ConfigurationException(
                    "tcp cannot use TLS with " + KEY + "certificate = " + config.certificate() + ": " + e.getMessage(),
                    e);
        }
    }

    private static SslContext build(TlsEngine implementation, SslContextBuilder builder, X509Certificate[] trusted)
            throws SSLException {
        return implementation.build(builder.trustManager(trusted).protocols("TLSv1.3"));
    }

    private static byte[] read(String key, String file) {
        if (file.isEmpty()) {
            throw new ConfigurationException(
                    KEY + key + " is empty: expected a PEM file, since " + KEY + "enabled = true");
        }
        Path path = Path.of(file);
        try (InputStream in = Files.newInputStream(path)) {
            byte[] bytes = in.readNBytes(MAX_FILE_BYTES + 1);
            if (bytes.length > MAX_FILE_BYTES) {
                throw new ConfigurationException(
                        KEY + key + " = " + file + " is larger than " + MAX_FILE_BYTES + " bytes: expected a PEM file");
            }
            return bytes;
        } catch (IOException e) {
            throw new ConfigurationException(
                    KEY + key + " = " + file + " (" + path.toAbsolutePath() + ") cannot be read: expected a PEM file; "
                            + e,
                    e);
        }
    }

    private static X509Certificate[] certificates(String key, String file) {
        try (InputStream in = new java.io.ByteArrayInputStream(read(key, file))) {
            X509Certificate[] found = CertificateFactory.getInstance("X.509").generateCertificates(in).stream()
                    .map(X509Certificate.class::cast)
                    .toArray(X509Certificate[]::new);
            if (found.length > 0) {
                return found;
            }
        } catch (GeneralSecurityException | IOException e) {
            throw new ConfigurationException(
                    KEY + key + " = " + file + " holds no X.509 certificate that can be read: expected PEM, "
                            + "\"-----BEGIN CERTIFICATE-----\"; " + e.getMessage(),
                    e);
        }
        throw new ConfigurationException(KEY + key + " = " + file
                + " holds no certificate: expected at least one as PEM, \"-----BEGIN CERTIFICATE-----\"");
    }

    private static PrivateKey privateKey(String file, X509Certificate certificate) {
        String algorithm = certificate.getPublicKey().getAlgorithm();
        Matcher found = PRIVATE_KEY.matcher(
                new String(read("private-key", file), java.nio.charset.StandardCharsets.ISO_8859_1));
        if (!found.find()) {
            throw new ConfigurationException(KEY + "private-key = " + file + " holds no key that can be read: expected "
                    + "PKCS#8 as PEM without a password, \"-----BEGIN PRIVATE KEY-----\" (openssl pkcs8 -topk8 "
                    + "-nocrypt converts other formats)");
        }
        try {
            byte[] encoded = Base64.getMimeDecoder().decode(found.group(1));
            return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(encoded));
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            throw new ConfigurationException(
                    KEY + "private-key = " + file + " is not the " + algorithm + " key that " + KEY
                            + "certificate needs: " + e.getMessage(),
                    e);
        }
    }

    /** A wrong key would otherwise show only as a failed handshake at the peer. */
    private static void checkPair(TcpConfig.TlsConfig config, X509Certificate certificate, PrivateKey key) {
        String signing = switch (key.getAlgorithm()) {
            case "EC" -> "SHA256withECDSA";
            case "RSA" -> "SHA256withRSA";
            default -> key.getAlgorithm();
        };
        boolean fits;
        try {
            Signature signature = Signature.getInstance(signing);
            signature.initSign(key);
            signature.update(certificate.getEncoded());
            byte[] signed = signature.sign();
            signature.initVerify(certificate.getPublicKey());
            signature.update(certificate.getEncoded());
            fits = signature.verify(signed);
        } catch (GeneralSecurityException _) {
            fits = false;
        }
        if (!fits) {
            throw new ConfigurationException(KEY + "private-key = " + config.privateKey() + " does not belong to " + KEY
                    + "certificate = " + config.certificate() + " ("
                    + certificate.getSubjectX500Principal() + "): expected the key of its first certificate");
        }
    }

    private static void checkDates(String file, X509Certificate certificate) {
        try {
            certificate.checkValidity();
        } catch (CertificateExpiredException | CertificateNotYetValidException e) {
            throw new ConfigurationException(
                    KEY + "certificate = " + file + " (" + certificate.getSubjectX500Principal() + ") is valid from "
                            + certificate.getNotBefore() + " to " + certificate.getNotAfter()
                            + ": expected one that is valid now",
                    e);
        }
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
