package io.madeleine.tm.bip;

import io.madeleine.testkit.Certificates;

/** What a message allocates with encryption: what the cipher of the JDK does, for each datagram. */
class EncryptedAllocationTest extends AllocationTest {
    @Override
    String settings() {
        return Certificates.settingsOfThisRun(BipSide.ENCRYPTION);
    }

    @Override
    long mostBytes(boolean isLong) {
        return isLong ? 20_000 : 10_000;
    }
}
