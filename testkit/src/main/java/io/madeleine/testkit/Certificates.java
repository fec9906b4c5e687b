package io.madeleine.testkit;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * An authority of the tests and certificates that it signs (RFC 5280), as PEM files.
 *
 * <p>Threading: confined, but for the static calls.
 */
public final class Certificates {
    private static final char[] PASSWORD = "unimportant".toCharArray();
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyyMMddHHmmss'Z'").withZone(ZoneOffset.UTC);
    private static final byte[] ECDSA_WITH_SHA256 = {0x06, 8, 0x2A, (byte) 0x86, 0x48, (byte) 0xCE, 0x3D, 4, 3, 2};
    private static final byte[] COMMON_NAME = {0x06, 3, 0x55, 4, 3};
    private static final byte[] BASIC_CONSTRAINTS = {0x06, 3, 0x55, 0x1D, 0x13};
    private static final byte[] TRUE = {0x01, 1, (byte) 0xFF};

    private static final Map<String, String> OF_THIS_RUN = new ConcurrentHashMap<>();

    private final Path folder;
    private final String name;
    private final String format;
    private final KeyPair keys = newKeys();
    private final Signed itself;

    /**
     * A folder's authority of that name, which signs itself.
     *
     * @param format settings, with {@code %s} where the files belong
     */
    public Certificates(Path folder, String name, String format) {
        this(folder, name, format, -30, 60);
    }

    /** A certificate that becomes valid in {@code startDays} days, and stays valid for {@code days} days. */
    public Certificates(Path folder, String name, String format, int startDays, int days) {
        this.format = format;
        this.folder = folder;
        this.name = name;
        this.itself = write(name, keys, startDays, days, true);
    }

    /**
     * A certificate and its key.
     *
     * @param certificate the file of the certificate
     * @param key the file of the key
     * @param shown the certificate
     * @param secret the key
     */
    public record Signed(Path certificate, Path key, Certificate shown, PrivateKey secret) {
        /** Settings that show it and trust an authority. */
        public String settings(Certificates trusted) {
            return trusted.format.formatted("certificate = \"" + certificate + "\", private-key = \"" + key
                    + "\", trusted = \"" + trusted.itself.certificate + "\"");
        }

        /** The same for a party that does not belong to this library. */
        public SSLContext context(Certificates trusted) throws IOException, GeneralSecurityException {
            KeyStore store = KeyStore.getInstance("JKS");
            store.load(null, null);
            store.setKeyEntry("own", secret, PASSWORD, new Certificate[] {shown});
            KeyManagerFactory own = KeyManagerFactory.getInstance("PKIX");
            own.init(store, PASSWORD);
            KeyStore others = KeyStore.getInstance("JKS");
            others.load(null, null);
            others.setCertificateEntry("trusted", trusted.itself.shown);
            TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
            trust.init(others);
            SSLContext context = SSLContext.getInstance("TLSv1.3");
            context.init(own.getKeyManagers(), trust.getTrustManagers(), null);
            return context;
        }
    }

    /** The authority's own certificate, to be shown like any other. */
    public Signed itself() {
        return itself;
    }

    /** Signs one that is valid now. */
    public Signed sign(String subject) {
        return sign(subject, -1, 10);
    }

    /** Signs a certificate that becomes valid in {@code startDays} days, and stays valid for {@code days} days. */
    public Signed sign(String subject, int startDays, int days) {
        return write(subject, newKeys(), startDays, days, false);
    }

    private static KeyPair newKeys() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private Signed write(String subject, KeyPair of, int startDays, int days, boolean authority) {
        try {
            Instant start = Instant.now().plus(Duration.ofDays(startDays));
            byte[] encoded = certificate(subject, of, start, start.plus(Duration.ofDays(days)), authority);
            Certificate shown =
                    CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(encoded));
            return new Signed(
                    pem(subject + ".pem", "CERTIFICATE", encoded),
                    pem(subject + ".key", "PRIVATE KEY", of.getPrivate().getEncoded()),
                    shown,
                    of.getPrivate());
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private Path pem(String file, String type, byte[] encoded) {
        String text = Base64.getMimeEncoder().encodeToString(encoded);
        try {
            return Files.writeString(
                    folder.resolve(file), "-----BEGIN " + type + "-----\n" + text + "\n-----END " + type + "-----\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private byte[] certificate(String subject, KeyPair of, Instant start, Instant end, boolean authority)
            throws GeneralSecurityException {
        byte[] constraints = tag(0x30, authority ? TRUE : new byte[0]);
        byte[] algorithm = tag(0x30, ECDSA_WITH_SHA256);
        byte[] signed = tag(
                0x30,
                tag(0xA0, new byte[] {2, 1, 2}),
                tag(2, new BigInteger(64, new SecureRandom()).toByteArray()),
                algorithm,
                distinguished(name),
                tag(0x30, time(start), time(end)),
                distinguished(subject),
                of.getPublic().getEncoded(),
                tag(0xA3, tag(0x30, tag(0x30, BASIC_CONSTRAINTS, TRUE, tag(4, constraints)))));
        Signature signature = Signature.getInstance("SHA256withECDSA");
        signature.initSign(keys.getPrivate());
        signature.update(signed);
        return tag(0x30, signed, algorithm, tag(3, new byte[1], signature.sign()));
    }

    private static byte[] distinguished(String commonName) {
        return tag(0x30, tag(0x31, tag(0x30, COMMON_NAME, tag(0x0C, commonName.getBytes(StandardCharsets.UTF_8)))));
    }

    private static byte[] time(Instant at) {
        return tag(0x18, TIME.format(at).getBytes(StandardCharsets.US_ASCII));
    }

    /** A value of ASN.1 in its distinguished encoding. */
    private static byte[] tag(int tag, byte[]... contents) {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        for (byte[] part : contents) {
            content.writeBytes(part);
        }
        ByteArrayOutputStream whole = new ByteArrayOutputStream();
        whole.write(tag);
        int length = content.size();
        if (length > 255) {
            whole.writeBytes(new byte[] {(byte) 0x82, (byte) (length >> 8), (byte) length});
        } else if (length > 127) {
            whole.writeBytes(new byte[] {(byte) 0x81, (byte) length});
        } else {
            whole.write(length);
        }
        whole.writeBytes(content.toByteArray());
        return whole.toByteArray();
    }

    /** What every process of a run shows, in settings of this format; the files go with the run. */
    public static String settingsOfThisRun(String format) {
        return OF_THIS_RUN.computeIfAbsent(format, Certificates::make);
    }

    private static String make(String format) {
        try {
            Path folder = Files.createTempDirectory("madeleine-tls");
            Certificates authority = new Certificates(folder, "authority", format);
            String settings = authority.sign("process").settings(authority);
            folder.toFile().deleteOnExit();
            try (var files = Files.list(folder)) {
                files.forEach(file -> file.toFile().deleteOnExit()); // before the folder
            }
            return settings;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
