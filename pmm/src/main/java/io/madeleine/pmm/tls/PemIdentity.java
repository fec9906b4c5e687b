package io.madeleine.pmm.tls;

import io.madeleine.api.ConfigurationException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
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
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A process's certificate and key and the certificates that it trusts, read from PEM files and checked before any
 * connection is made.
 *
 * <p>Threading: immutable; the arrays are not to be changed.
 */
public final class PemIdentity {
    private static final Pattern PRIVATE_KEY =
            Pattern.compile("-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\\s]+)-----END PRIVATE KEY-----");
    private static final int MAX_FILE_BYTES = 1 << 20;

    private final String keys;
    private final String because;
    private final X509Certificate[] chain;
    private final X509Certificate[] trusted;
    private final PrivateKey key;

    private PemIdentity(String keys, String because, PemFiles files) {
        this.keys = keys;
        this.because = because;
        this.chain = certificates("certificate", files.certificate());
        this.trusted = certificates("trusted", files.trusted());
        this.key = privateKey(files.privateKey(), chain[0]);
        checkPair(files.certificate(), files.privateKey(), chain[0], key);
        checkDates(files.certificate(), chain[0]);
    }

    /**
     * Reads the files.
     *
     * @param keys what the keys begin with, as in {@code madeleine.tm.tcp.tls.}
     * @param because the setting that makes the files necessary
     * @throws ConfigurationException if a file is missing or invalid, or if key and certificate do not belong together
     */
    public static PemIdentity load(String keys, String because, PemFiles files) {
        return new PemIdentity(keys, because, files);
    }

    /** Why {@link #load} would refuse the files; empty if they can be used. */
    public static Optional<String> unusable(String keys, String because, PemFiles files) {
        try {
            load(keys, because, files);
            return Optional.empty();
        } catch (ConfigurationException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    /** The certificate and those that lead to one that peers trust. */
    public X509Certificate[] chain() {
        return chain;
    }

    /** The issuers of peers' certificates. */
    public X509Certificate[] trusted() {
        return trusted;
    }

    /** The key of the first certificate of the chain. */
    public PrivateKey key() {
        return key;
    }

    private byte[] read(String key, String file) {
        if (file.isEmpty()) {
            throw new ConfigurationException(keys + key + " is empty: expected a PEM file, since " + because);
        }
        Path path = Path.of(file);
        try (InputStream in = Files.newInputStream(path)) {
            byte[] bytes = in.readNBytes(MAX_FILE_BYTES + 1);
            if (bytes.length > MAX_FILE_BYTES) {
                throw new ConfigurationException(keys + key + " = " + file + " is larger than " + MAX_FILE_BYTES
                        + " bytes: expected a PEM file");
            }
            return bytes;
        } catch (IOException e) {
            throw new ConfigurationException(
                    keys + key + " = " + file + " (" + path.toAbsolutePath() + ") cannot be read: expected a PEM file; "
                            + e,
                    e);
        }
    }

    private X509Certificate[] certificates(String key, String file) {
        try (InputStream in = new ByteArrayInputStream(read(key, file))) {
            X509Certificate[] found = CertificateFactory.getInstance("X.509").generateCertificates(in).stream()
                    .map(X509Certificate.class::cast)
                    .toArray(X509Certificate[]::new);
            if (found.length > 0) {
                return found;
            }
        } catch (GeneralSecurityException | IOException e) {
            throw new ConfigurationException(
                    keys + key + " = " + file + " holds no X.509 certificate that can be read: expected PEM, "
                            + "\"-----BEGIN CERTIFICATE-----\"; " + e.getMessage(),
                    e);
        }
        throw new ConfigurationException(keys + key + " = " + file
                + " holds no certificate: expected at least one as PEM, \"-----BEGIN CERTIFICATE-----\"");
    }

    private PrivateKey privateKey(String file, X509Certificate certificate) {
        String algorithm = certificate.getPublicKey().getAlgorithm();
        Matcher found = PRIVATE_KEY.matcher(new String(read("private-key", file), StandardCharsets.ISO_8859_1));
        if (!found.find()) {
            throw new ConfigurationException(
                    keys + "private-key = " + file + " holds no key that can be read: expected "
                            + "PKCS#8 as PEM without a password, \"-----BEGIN PRIVATE KEY-----\" (openssl pkcs8 -topk8 "
                            + "-nocrypt converts other formats)");
        }
        try {
            byte[] encoded = Base64.getMimeDecoder().decode(found.group(1));
            return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(encoded));
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            throw new ConfigurationException(
                    keys + "private-key = " + file + " is not the " + algorithm + " key that " + keys
                            + "certificate needs: make both with one command, or give the key that belongs to it",
                    e);
        }
    }

    /** A wrong key would otherwise show only as a failed handshake at the peer. */
    private void checkPair(String certificateFile, String keyFile, X509Certificate certificate, PrivateKey key) {
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
            throw new ConfigurationException(keys + "private-key = " + keyFile + " does not belong to " + keys
                    + "certificate = " + certificateFile + " ("
                    + certificate.getSubjectX500Principal() + "): expected the key of its first certificate");
        }
    }

    private void checkDates(String file, X509Certificate certificate) {
        try {
            certificate.checkValidity();
        } catch (CertificateExpiredException | CertificateNotYetValidException e) {
            throw new ConfigurationException(
                    keys + "certificate = " + file + " (" + certificate.getSubjectX500Principal() + ") is valid from "
                            + certificate.getNotBefore() + " to " + certificate.getNotAfter()
                            + ": expected one that is valid now",
                    e);
        }
    }
}
