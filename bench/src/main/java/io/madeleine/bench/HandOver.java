package io.madeleine.bench;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Two threads that hand a number back and forth.
 *
 * <p>Threading: confined to caller, which is one of the two.
 */
final class HandOver {
    /** Numbers in between keep the two in cache lines of their own. */
    private static final int LINES = 64;

    private static final int SPINS = 500;
    private static final long END = -1;
    private static final long LONGEST_NS = 40_000_000;

    /**
     * The kernel starts a thread where its parent runs, and takes some ticks of its clock to move it to an idle
     * processor.
     */
    private static final long SETTLING_NS = 25_000_000;

    private HandOver() {}

    /**
     * Measures this many hand-overs there and back again and again: the times in nanoseconds. On a machine so busy that
     * it would take too long, there are fewer.
     */
    static double[] measure(int repetitions, int handOvers) {
        AtomicLong[] padded = new AtomicLong[LINES];
        for (int i = 0; i < LINES; i++) {
            padded[i] = new AtomicLong();
        }
        AtomicLong there = padded[0];
        AtomicLong back = padded[LINES - 1];
        Thread other = Thread.ofPlatform().daemon().start(() -> {
            for (long next = 1; await(there, next); next++) {
                back.setRelease(next);
            }
        });
        double[] durationsNs = new double[repetitions];
        int measured = 0;
        long next = 0;
        for (long startNs = System.nanoTime(); System.nanoTime() - startNs < SETTLING_NS; ) {
            there.setRelease(++next);
            await(back, next);
        }
        for (long startNs = System.nanoTime();
                measured < repetitions && (measured == 0 || System.nanoTime() - startNs < LONGEST_NS);
                measured++) {
            long beginNs = System.nanoTime();
            for (int j = 0; j < handOvers; j++) {
                there.setRelease(++next);
                await(back, next);
            }
            durationsNs[measured] = System.nanoTime() - beginNs;
        }
        there.setRelease(END);
        try {
            other.join();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        return Arrays.copyOf(durationsNs, measured);
    }

    /** False at the end. */
    private static boolean await(AtomicLong cell, long value) {
        long seen = cell.getAcquire();
        for (int spins = 1; seen != value && seen != END; spins++) {
            if (spins % SPINS == 0) {
                Thread.yield(); // the other may have to run on this processor
            } else {
                Thread.onSpinWait();
            }
            seen = cell.getAcquire();
        }
        return seen == value;
    }
}
