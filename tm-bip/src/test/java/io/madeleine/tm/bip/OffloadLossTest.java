package io.madeleine.tm.bip;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Datagrams that travel together get lost, come twice and late like others. */
@Timeout(60)
class OffloadLossTest {
    private static final int BYTES = 2_000_000;

    @BeforeAll
    static void check() {
        OffloadTest.assumeGranted();
    }

    @Test
    void shouldDeliverAllOverABadNetwork() {
        String settings = OffloadContractTest.SETTINGS + "\n" + BipSide.BAD_NETWORK;
        try (Pair pair = new Pair(settings, settings)) {
            Pair.Ends ends = pair.connect("bad");
            for (int number = 0; number < 3; number++) {
                LossTest.transfer(pair, ends, number, BYTES);
            }
        }
    }
}
