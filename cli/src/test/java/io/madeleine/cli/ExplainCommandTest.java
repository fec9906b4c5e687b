package io.madeleine.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class ExplainCommandTest {
    @Test
    void shouldExplainModuleBufferManagementAndModesForAllNetworks() {
        CommandLineRun run = CommandLineRun.of("explain", "--bytes", "1MiB", "--send", "later", "--receive", "EXPRESS");
        assertEquals(0, run.code(), run.err());
        assertTrue(run.out().startsWith("A block of 1 MiB, LATER/EXPRESS"), run.out());
        assertTrue(run.out().contains("On sci: sci/dma"), run.out());
        assertTrue(run.out().contains("not sci/short, which takes up to"), run.out());
        assertTrue(run.out().contains("On tcp: tcp/stream"), run.out());
        assertTrue(run.out().contains("LATER: read at endPacking"), run.out());
        assertTrue(run.out().contains("dynamic buffers"), run.out());
    }

    @Test
    void shouldExplainOneNetworkWithModesByDefault() {
        CommandLineRun run = CommandLineRun.of("explain", "--bytes", "8", "--protocol", "tcp");
        assertEquals(0, run.code(), run.err());
        assertTrue(run.out().startsWith("A block of 8 B, CHEAPER/CHEAPER"), run.out());
        assertTrue(run.out().contains("On tcp"), run.out());
        assertFalse(run.out().contains("On sci"), run.out());
    }

    @Test
    void shouldFailWithTheReasonWhenTheNetworkIsOff() {
        CommandLineRun run =
                CommandLineRun.of("explain", "--bytes", "8", "--protocol", "tcp", "--set", "tm.tcp.enabled=false");
        assertEquals(Mad.FAILURE, run.code());
        assertEquals("", run.out());
        assertTrue(run.err().contains("tcp is off") && run.err().contains("madeleine.tm.tcp.enabled"), run.err());
    }
}
