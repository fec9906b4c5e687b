package io.madeleine.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Session;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code via} between two network namespaces, which stand for two hosts. Skipped where they cannot be made. */
class FabricHostsIT {
    private static final String SECRET = "session.secret=5f0d1c8e9b7a42638e21c4d5a6f70b9d";
    private static final String RXM = "tcp;ofi_rxm";

    private TwoHosts hosts;

    @BeforeEach
    void makeHosts() throws InterruptedException {
        hosts = new TwoHosts("mvi");
    }

    @AfterEach
    void removeHosts() {
        if (hosts != null) {
            hosts.close();
        }
    }

    private Ranks ranks(String provider, int port) throws Exception {
        return Fabric.over(provider, 2, Program.class)
                .arguments(hosts.address(0), hosts.address(1))
                .hosts(hosts.addresses(port))
                .prefixed(hosts::prefix);
    }

    @ParameterizedTest
    @ValueSource(strings = {RXM, "net"})
    void shouldExchangeMessages(String provider) throws Exception {
        try (Processes processes = ranks(provider, 7321).with(SECRET).start()) {
            processes.assertSuccess();
            for (int rank = 0; rank < 2; rank++) {
                assertEquals("100", processes.out(rank).linesAfter("messages ").getFirst(), processes::toString);
            }
        }
    }

    @Test
    void shouldPutGetAndCountBesideMessages() throws Exception {
        try (Processes processes = Fabric.over(RXM, 2, MemoryProgram.class)
                .arguments(hosts.address(0), hosts.address(1))
                .hosts(hosts.addresses(7322))
                .prefixed(hosts::prefix)
                .with(SECRET)
                .optimizing()
                .start()) {
            processes.assertSuccess();
            assertEquals(
                    processes.out(1).linesAfter("counted "), processes.out(0).linesAfter("counted "));
        }
    }

    /** libfabric does not encrypt, and anybody on the network could take part. */
    @Test
    void shouldNotOpenWithoutASecret() throws Exception {
        try (Processes processes = ranks(RXM, 7323).start()) {
            processes.awaitAll();
            assertNotEquals(0, processes.exitCode(), processes::toString);
            assertTrue(processes.toString().contains("madeleine.session.secret"), processes::toString);
        }
    }

    private static Session open(String[] args) {
        String rank = System.getProperty("madeleine.session.rank");
        return Session.open("tm.via.adapters.default.address=" + args[Integer.parseInt(rank)]);
    }

    /** Messages of several sizes there and back. */
    static final class Program {
        public static void main(String[] args) {
            try (Session session = open(args)) {
                System.out.println("messages " + FabricSizes.exchange(session, 100, 1 << 20));
            }
        }
    }

    /** Remote memory beside messages. */
    static final class MemoryProgram {
        public static void main(String[] args) throws Exception {
            try (Session session = open(args)) {
                FabricMemoryIT.Beside.both(session);
            }
        }
    }
}
