package io.madeleine.testkit;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.testkit.heap.HeapPmm;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

/** A request of the driver to copy that cannot be met. */
class HeapRequestTest {
    private static final long ONE_HOUR_NS = 3_600_000_000_000L;

    @Test
    void shouldFailAtOnceIfNobodyHasTheAddress() {
        try (SpiEnd caller = new SpiEnd(new HeapPmm(), "request", 1);
                SpiEnd gone = new SpiEnd(new HeapPmm(), "request", 2)) {
            gone.adapter.close();
            CompletableFuture<ProtocolConnection> future = caller.connect(gone, true, System.nanoTime() + ONE_HOUR_NS);
            caller.poll();
            assertTrue(future.isDone(), "the request waits for its deadline");
            CompletionException thrown = assertThrows(CompletionException.class, future::join);
            String text = String.valueOf(thrown.getMessage());
            assertTrue(text.contains("it has ended, or is in another process"), text);
        }
    }
}
