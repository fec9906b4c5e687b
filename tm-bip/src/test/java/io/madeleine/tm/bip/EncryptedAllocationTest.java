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
        // 2 KB for each datagram at both ends; some carry acknowledgements only
        return isLong ? 16_000 : 3_000;
    }
}
