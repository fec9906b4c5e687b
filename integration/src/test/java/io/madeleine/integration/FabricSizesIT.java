package io.madeleine.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.madeleine.api.Session;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Messages of many sizes between two processes over each of libfabric's software providers. */
class FabricSizesIT {
    /** Large blocks time out over udp;ofi_rxd on a busy machine, as they do in fi_pingpong. */
    @ParameterizedTest
    @CsvSource({"shm, 1048576", "tcp;ofi_rxm, 1048576", "net, 1048576", "udp;ofi_rxd, 1000"})
    void shouldExchangeMessages(String provider, int mostBytes) throws Exception {
        try (Processes processes =
                Fabric.over(provider, 2, Program.class).arguments(mostBytes).start()) {
            processes.assertSuccess();
            for (int rank = 0; rank < 2; rank++) {
                assertEquals(
                        Integer.toString(Program.MESSAGES),
                        processes.out(rank).linesAfter("messages ").getFirst(),
                        processes::toString);
            }
        }
    }

    static final class Program {
        static final int MESSAGES = 100;

        public static void main(String[] args) {
            try (Session session = Session.open()) {
                System.out.println("messages " + FabricSizes.exchange(session, MESSAGES, Integer.parseInt(args[0])));
            }
        }
    }
}
