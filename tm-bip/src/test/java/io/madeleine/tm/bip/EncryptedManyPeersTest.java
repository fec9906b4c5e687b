package io.madeleine.tm.bip;

import io.madeleine.testkit.Certificates;

/** The keys and ciphers of an idle connection take little memory, and what the TLS handshake needed is given back. */
class EncryptedManyPeersTest extends ManyPeersTest {
    @Override
    String settings() {
        return Certificates.settingsOfThisRun(BipSide.ENCRYPTION);
    }

    @Override
    int count() {
        return 100; // each of them with a TLS handshake
    }
}
