package io.madeleine.tm.bip;

import org.junit.jupiter.api.BeforeAll;

/** The same where many datagrams travel by one call. */
class OffloadAllocationTest extends AllocationTest {
    @BeforeAll
    static void check() {
        OffloadTest.assumeGranted();
    }

    @Override
    String settings() {
        return OffloadContractTest.SETTINGS;
    }
}
