package io.madeleine.pmm.tls;

/**
 * The names of the files of a {@link PemIdentity}.
 *
 * <p>Threading: immutable.
 *
 * @param certificate the PEM file of this process's certificate chain, its own certificate first
 * @param privateKey the PEM file of its private key
 * @param trusted the PEM file of the certificate authorities that peers' certificates must chain to
 */
public record PemFiles(String certificate, String privateKey, String trusted) {}
