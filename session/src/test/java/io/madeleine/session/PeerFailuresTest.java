package io.madeleine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.madeleine.api.LossKind;
import java.lang.management.ManagementFactory;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PeerFailuresTest {
    private final PeerFailures failures = new PeerFailures("test");
    private final BlockingQueue<String> heard = new LinkedBlockingQueue<>();

    @AfterEach
    void close() {
        failures.close();
    }

    private void hear(String who) {
        failures.listen((rank, cause) -> heard.add(who + " " + rank + " " + cause.rank() + " " + cause.getMessage()));
    }

    private String next() throws InterruptedException {
        return heard.poll(30, TimeUnit.SECONDS);
    }

    @Test
    void shouldTellEachListenerOnceOfEachPeerAlsoLateOnes() throws Exception {
        hear("a");
        failures.report(1, "it fell");
        failures.report(1, "it fell again");
        assertEquals("a 1 1 rank 1 is gone: it fell", next());
        hear("b");
        assertEquals("b 1 1 rank 1 is gone: it fell", next());
        failures.suspect(2, LossKind.CONNECTION, "it too");
        assertEquals("a 2 2 rank 2 is gone: it too", next());
        assertEquals("b 2 2 rank 2 is gone: it too", next());
        assertEquals(0, heard.size());
    }

    /** Code in other languages, or compiled with tools, throws checked exceptions where none is declared. */
    @Test
    void shouldTellAllListenersThoughOneThrowsAnUndeclaredException() throws Exception {
        failures.listen((_, _) -> PeerFailuresTest.<RuntimeException>sneak(new InterruptedException("as a test")));
        hear("b");
        failures.report(1, "it fell");
        assertEquals("b 1 1 rank 1 is gone: it fell", next());
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // erased: this is the point
    private static <T extends Throwable> void sneak(Throwable thrown) throws T {
        throw (T) thrown;
    }

    @Test
    @Tag("measures")
    void shouldNotTakeALeaveForADeath() throws Exception {
        hear("a");
        failures.suspect(1, LossKind.CONNECTION, "the connection was reset");
        failures.left(1);
        failures.suspect(1, LossKind.CONNECTION, "another connection was reset");
        assertEquals(null, heard.poll(1, TimeUnit.SECONDS));
    }

    /** What the peer sent last may be on its way. */
    @Test
    @Tag("measures")
    void shouldWaitAMomentBeforeItGivesUpAPeerThatIsSaidToBeDead() throws Exception {
        hear("a");
        failures.opened();
        failures.suspect(1, LossKind.CONNECTION, "the connection was reset");
        failures.notice(1, "it was killed");
        failures.left(1); // to say goodbye does not make it live
        assertEquals(null, heard.poll());
        assertEquals("a 1 1 rank 1 is gone: it was killed", next());
        failures.notice(1, "it was killed again");
        assertEquals(null, heard.poll(500, TimeUnit.MILLISECONDS));
    }

    /**
     * Both ends of a connection notice its loss; which of them decides first must not change what a program is told.
     */
    @ParameterizedTest
    @EnumSource(LossKind.class)
    void shouldTellWhatItHasLostItselfThoughThePeerGaveItUpFirst(LossKind kind) throws Exception {
        CompletableFuture<LossKind> told = new CompletableFuture<>();
        failures.listen((_, why) -> told.complete(why.kind()));
        failures.opened();
        failures.suspect(1, kind, "what this process has seen");
        failures.gaveUp(1, "it has lost its connection with this process");
        assertEquals(kind, told.get(10, TimeUnit.SECONDS));
    }

    /** It is alive, so the connection is what is lost. */
    @Test
    void shouldTellTheLossOfAConnectionThatOnlyThePeerHasSeen() throws Exception {
        CompletableFuture<LossKind> told = new CompletableFuture<>();
        failures.listen((_, why) -> told.complete(why.kind()));
        failures.opened();
        failures.gaveUp(1, "it has lost its connection with this process");
        failures.left(1); // to leave afterwards changes nothing
        assertEquals(LossKind.CONNECTION, told.get(10, TimeUnit.SECONDS));
    }

    /** One peer may have many connections, and all of them break; each doubt would be a task of its own. */
    @Test
    @Tag("measures")
    void shouldSuspectAPeerOnce() throws Exception {
        hear("a");
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        AtomicInteger peer = new AtomicInteger();
        long bytes = least(() -> {
            int rank = peer.incrementAndGet();
            failures.suspect(rank, LossKind.CONNECTION, "the first connection was reset");
            long beforeBytes = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 5_000; i++) { // before that is decided
                failures.suspect(rank, LossKind.CONNECTION, "another connection was reset");
            }
            return threads.getCurrentThreadAllocatedBytes() - beforeBytes;
        });
        assertTrue(bytes < 50_000, bytes + " bytes for what is suspected already");
        assertEquals("a 1 1 rank 1 is gone: the first connection was reset", next());
    }

    @Test
    void shouldTellTheSessionAgainIfMemoryWasTooShortForThat() throws Exception {
        hear("a");
        BlockingQueue<Integer> told = new LinkedBlockingQueue<>();
        AtomicInteger shortages = new AtomicInteger(2);
        failures.forwardTo((rank, _) -> {
            if (shortages.getAndDecrement() > 0) {
                throw new OutOfMemoryError("as a test");
            }
            told.add(rank);
        });
        failures.suspect(1, LossKind.CONNECTION, "the connection was reset");
        assertEquals(1, told.poll(10, TimeUnit.SECONDS));
        assertEquals("a 1 1 rank 1 is gone: the connection was reset", next());
        assertEquals(null, heard.poll());
    }

    @Test
    @Tag("measures")
    void shouldTellWhatIsKnownBeforeItCloses() {
        failures.listen((_, _) -> {
            try {
                Thread.sleep(50);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        hear("a");
        failures.report(1, "it fell");
        failures.suspect(2, LossKind.CONNECTION, "it may have fallen");
        failures.close();
        assertEquals("a 1 1 rank 1 is gone: it fell", heard.poll());
        assertEquals(null, heard.poll());
    }

    @Test
    @Tag("measures")
    void shouldWaitForWhatIsSuspectedUntilItIsKnown() {
        hear("a");
        failures.suspect(1, LossKind.CONNECTION, "the connection was reset");
        failures.awaitDecisions();
        failures.close();
        assertEquals("a 1 1 rank 1 is gone: the connection was reset", heard.poll());
    }

    @Test
    @Tag("measures")
    void shouldWaitForWhatIsSuspectedThoughAListenerTakesItsTime() {
        failures.listen((rank, _) -> {
            try {
                Thread.sleep(rank == 1 ? 900 : 0);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        hear("a");
        failures.report(1, "it fell");
        failures.suspect(2, LossKind.CONNECTION, "the connection was reset");
        failures.awaitDecisions();
        failures.close();
        assertEquals("a 1 1 rank 1 is gone: it fell", heard.poll());
        assertEquals("a 2 2 rank 2 is gone: the connection was reset", heard.poll());
    }

    /** The least of some: a thread may lose its processor. */
    private static long least(LongSupplier trial) {
        return LongStream.range(0, 3).map(_ -> trial.getAsLong()).min().orElseThrow();
    }

    private static long timeNs(Runnable action) {
        long startNs = System.nanoTime();
        action.run();
        return System.nanoTime() - startNs;
    }

    @Test
    @Tag("measures")
    void shouldNotWaitForWhoIsKnownToHaveLeftOrDied() {
        failures.suspect(1, LossKind.CONNECTION, "the connection was reset");
        failures.suspect(2, LossKind.CONNECTION, "the connection was reset");
        failures.left(1);
        failures.report(2, "it fell");
        long waitedNs = least(() -> {
            failures.suspect(1, LossKind.CONNECTION, "another connection was reset");
            failures.suspect(2, LossKind.CONNECTION, "another connection was reset");
            return timeNs(failures::awaitDecisions);
        });
        assertTrue(waitedNs < 200_000_000L, "it waited for what is known");
    }

    @Test
    @Tag("measures")
    void shouldNotWaitInAListener() throws Exception {
        AtomicInteger suspect = new AtomicInteger(1);
        failures.listen((_, _) -> {
            long waitedNs = least(() -> {
                failures.suspect(suspect.incrementAndGet(), LossKind.CONNECTION, "the connection was reset");
                return timeNs(failures::awaitDecisions);
            });
            heard.add(waitedNs < 200_000_000L ? "went on" : "waited");
        });
        failures.report(1, "it fell");
        assertEquals("went on", next());
    }

    @Test
    @Tag("measures")
    void shouldLetAListenerClose() throws Exception {
        long tookNs = least(() -> {
            PeerFailures closed = new PeerFailures("closed");
            closed.listen((_, _) -> closed.close());
            closed.listen((rank, _) -> heard.add(rank + " fell"));
            return timeNs(() -> {
                closed.report(1, "it fell");
                closed.close();
            });
        });
        assertEquals("1 fell", next());
        assertTrue(tookNs < 900_000_000L, "it waited for itself");
    }

    @Test
    void shouldGoOnAfterAListenerThatFails() throws Exception {
        failures.listen((_, _) -> {
            throw new IllegalStateException("on purpose");
        });
        hear("a");
        failures.report(3, "it fell");
        assertEquals("a 3 3 rank 3 is gone: it fell", next());
    }

    @Test
    void shouldGoOnAfterAListenerThatFailsWithAnErrorOrLeavesItsThreadInterrupted() throws Exception {
        failures.listen((_, _) -> {
            throw new AssertionError("on purpose");
        });
        failures.listen((_, _) -> Thread.currentThread().interrupt());
        failures.listen((rank, _) ->
                heard.add(rank + (Thread.currentThread().isInterrupted() ? " interrupted" : " undisturbed")));
        failures.report(3, "it fell");
        assertEquals("3 undisturbed", next());
    }

    @Test
    void shouldForwardAtOnceAndWhatWasBefore() {
        failures.report(1, "first");
        failures.forwardTo((rank, reason) -> heard.add(rank + " " + reason));
        assertEquals("1 first", heard.poll());
        failures.report(2, "second");
        assertEquals("2 second", heard.poll());
    }

    @Test
    void shouldBeSilentAfterTheClose() {
        hear("a");
        failures.close();
        failures.report(1, "too late");
        assertEquals(null, heard.poll());
    }
}
