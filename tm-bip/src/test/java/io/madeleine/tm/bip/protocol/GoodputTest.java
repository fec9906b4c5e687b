package io.madeleine.tm.bip.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.tm.bip.protocol.GoodputSimulation.Path;
import java.util.Arrays;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What streams of bip/long make of a path, in virtual time. */
class GoodputTest {
    private static final int GIGABIT = 125_000_000; // bytes per second
    private static final int QUEUE_BYTES = 100_000;
    private static final int WINDOW_BYTES = 1 << 19;
    private static final long MICROSECOND = 1_000;
    private static final long MILLISECOND = 1_000_000;
    private static final long SECOND = 1_000_000_000;
    private static final int ETHERNET_BYTES = 1_432;

    private static GoodputSimulation stream(int windowBytes, Path path) {
        return new GoodputSimulation(1, path, windowBytes, 1, 0);
    }

    /** The share of the line's rate that one stream has once it has found it. */
    private static double share(GoodputSimulation run) {
        long[] _ = run.run(SECOND / 2);
        return run.share(run.run(SECOND / 2)[0], SECOND / 2);
    }

    private static void assertShare(double least, GoodputSimulation run) {
        double share = share(run);
        Supplier<String> what = () -> share + " of the rate; " + run;
        assertTrue(share >= least, what);
        assertTrue(share < 1, what);
        assertEquals(ETHERNET_BYTES, run.datagramBytes(), what);
    }

    @ParameterizedTest
    @CsvSource({"0, 0.9", "0.001, 0.9", "0.01, 0.9", "0.03, 0.88"})
    void shouldFillALineThatLosesDatagramsAtRandom(double loss, double least) {
        assertShare(least, stream(WINDOW_BYTES, new Path(GIGABIT, QUEUE_BYTES, MILLISECOND, loss, 5 * MICROSECOND)));
        assertShare(least, stream(WINDOW_BYTES, new Path(GIGABIT, QUEUE_BYTES, MILLISECOND, loss, 50 * MICROSECOND)));
        assertShare(
                least, stream(WINDOW_BYTES, new Path(GIGABIT, QUEUE_BYTES, 20 * MICROSECOND, loss, 5 * MICROSECOND)));
    }

    /** A few losses early in a round are no large share of it. */
    @ParameterizedTest
    @CsvSource({"0.05, 20, 0.85", "0.07, 20, 0.8", "0.05, 200, 0.65"})
    void shouldTellManyRandomLossesFromCongestion(double loss, int pollUs, double least) {
        assertShare(
                least, stream(WINDOW_BYTES, new Path(GIGABIT, QUEUE_BYTES, MILLISECOND, loss, pollUs * MICROSECOND)));
    }

    @Test
    void shouldGoOnWellWhereEndsLookSeldom() {
        assertShare(0.8, stream(WINDOW_BYTES, new Path(GIGABIT, QUEUE_BYTES, MILLISECOND, 0.01, 200 * MICROSECOND)));
    }

    /** What came due while the sender had no processor leaves at once, if the window is large. */
    @ParameterizedTest
    @CsvSource({"1, 0.75", "10, 0.85"})
    void shouldCatchUpWithAPathWhoseQueueHoldsABurst(int roundTripMs, double least) {
        assertShare(
                least,
                stream(
                        16 * WINDOW_BYTES,
                        new Path(GIGABIT, 5 * QUEUE_BYTES, roundTripMs * MILLISECOND, 0, MILLISECOND)));
    }

    @Test
    void shouldSpreadAWindowThatIsLargerThanTheQueueOfTheLine() {
        GoodputSimulation run =
                stream(2 * WINDOW_BYTES, new Path(GIGABIT, QUEUE_BYTES, 10 * MILLISECOND, 0, 20 * MICROSECOND));
        assertShare(0.7, run);
        assertTrue(run.droppedShare() < 0.01, run::toString);
    }

    /** A queue that is full drops tens of datagrams in a row. */
    @Test
    void shouldNotTakeAFullQueueForAPathOfSmallDatagrams() {
        assertShare(0.85, stream(WINDOW_BYTES, new Path(GIGABIT, QUEUE_BYTES, 20 * MICROSECOND, 0, 200 * MICROSECOND)));
    }

    @ParameterizedTest
    @CsvSource({"1, 0", "1, 0.01", "20, 0", "20, 0.01"})
    void shouldShareALineWithStreamsThatBeganEarlier(int roundTripMs, double loss) {
        Path path = new Path(GIGABIT / 10, QUEUE_BYTES, roundTripMs * MILLISECOND, loss, 20 * MICROSECOND);
        GoodputSimulation run = new GoodputSimulation(1, path, WINDOW_BYTES, 4, 300 * MILLISECOND);
        long[] _ = run.run(2 * SECOND);
        assertShares(run, run.run(10 * SECOND), 0.8);
    }

    private static void assertShares(GoodputSimulation run, long[] moved, double least) {
        long all = LongStream.of(moved).sum();
        Supplier<String> what = () -> Arrays.toString(moved) + "; " + run;
        assertTrue(run.share(all, 10 * SECOND) > least, what);
        for (long each : moved) {
            assertTrue(each >= all / moved.length / 2, what);
        }
    }

    @ParameterizedTest
    @CsvSource({"100, 10, 0.9", "100, 200, 0.8", "1000, 10, 0.74", "1000, 200, 0.7", "10000, 10, 0.73"})
    void shouldLeaveAStreamOverTcpItsShare(int roundTripUs, int pollUs, double least) {
        Path path = new Path(GIGABIT / 10, QUEUE_BYTES, roundTripUs * MICROSECOND, 0, pollUs * MICROSECOND);
        GoodputSimulation run = new GoodputSimulation(1, path, WINDOW_BYTES / 2, 2, 0);
        SimulatedReno tcp = new SimulatedReno();
        run.add(tcp);
        long[] _ = run.run(2 * SECOND);
        long before = tcp.arrivedBytes();
        long[] moved = run.run(10 * SECOND);
        long ofTcp = tcp.arrivedBytes() - before;
        assertShares(run, new long[] {moved[0], moved[1], ofTcp}, 0.9);
        assertTrue(ofTcp >= least * (moved[0] + moved[1] + ofTcp) / 3, () -> Arrays.toString(moved) + ", TCP " + ofTcp);
    }
}
