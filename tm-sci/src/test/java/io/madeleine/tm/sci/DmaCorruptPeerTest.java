package io.madeleine.tm.sci;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.tm.sci.link.CellLayout;
import io.madeleine.tm.sci.link.PairLayout;
import io.madeleine.tm.sci.link.PairSegment;
import io.madeleine.tm.sci.link.SciConnection;
import io.madeleine.tm.sci.link.SingleCopy;
import io.madeleine.tm.sci.memory.OrderedWords;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** As {@link CorruptPeerTest}, of the words of loans: an address that is none, a length, a grant, a pid. */
@Timeout(value = 10, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DmaCorruptPeerTest {
    private static final long RUN_NS = TimeUnit.SECONDS.toNanos(Boolean.getBoolean("thorough") ? 60 : 1);

    /** Until a loan has made no sense once, on a machine that is busy. */
    private static final long LONGEST_RUN_NS = 40_000_000_000L;

    private static final String OF_A_LOAN = "a loan of sci/dma is out of bounds";
    private static final int ROUNDS = 24;
    private static final String SETTINGS = "madeleine.tm.sci { short { max-block = 256, buffer = 256, ring = 2 KiB },"
            + " regular { cell = 4 KiB, cells = 2 }, dma { single-copy = on, from = 4 KiB } }";

    @TempDir
    Path directory;

    /** The words that the end at {@code side} reads when blocks are lent. */
    private static List<Long> loanWords(int side, PairLayout layout) {
        int other = PairLayout.INITIATOR + PairLayout.ACCEPTOR - side;
        long lender = PairLayout.lender(other);
        List<Long> words = new ArrayList<>(List.of(PairLayout.reads(other), lender, lender + 8, lender + 16));
        CellLayout in = layout.cells().getLast().get(other);
        CellLayout out = layout.cells().getLast().get(side);
        for (int cell = 0; cell < in.cells(); cell++) {
            words.addAll(List.of(in.state(cell), in.header(cell), in.trailer(cell), in.address(cell)));
            words.addAll(List.of(in.length(cell), in.granted(cell), out.taken(cell), out.state(cell)));
        }
        return words;
    }

    @Test
    void shouldEndAConnectionCleanlyWhateverALoanSays() {
        assumeTrue(SingleCopy.availability().on(), SingleCopy.availability().reason());
        long seed = Long.getLong("seed", System.nanoTime());
        SplittableRandom random = new SplittableRandom(seed);
        TreeSet<String> reasons = new TreeSet<>();
        int trials = 0;
        try (Side a = Side.open(directory, 1, SETTINGS);
                Side b = Side.open(directory, 2, SETTINGS)) {
            long beganNs = System.nanoTime();
            while (System.nanoTime() - beganNs < (reasons.toString().contains(OF_A_LOAN) ? RUN_NS : LONGEST_RUN_NS)) {
                fuzz(a, b, random, reasons);
                trials++;
            }
        } catch (RuntimeException | Error e) {
            throw new AssertionError("trial " + trials + " with -Dseed=" + seed + " failed: " + e, e);
        }
        System.out.println("seed " + seed + ": " + trials + " trials, " + reasons);
        assertTrue(reasons.toString().contains(OF_A_LOAN), reasons.toString());
    }

    private static void fuzz(Side a, Side b, SplittableRandom random, TreeSet<String> reasons) {
        Side.Pair pair = Side.Pair.of(a, b, "fuzzed");
        PairSegment segment = ((SciConnection) pair.right()).segment();
        List<Long> words = loanWords(segment.side(), segment.layout());
        FuzzUser left = new FuzzUser(pair.left(), random);
        FuzzUser right = new FuzzUser(pair.right(), random);
        int corruptions = 1 + random.nextInt(4);
        for (int round = 0; round < ROUNDS; round++) {
            left.send();
            right.send();
            if (corruptions > 0 && random.nextInt(3) == 0) {
                corruptions--;
                long offset = words.get(random.nextInt(words.size()));
                OrderedWords.setVolatile(segment.memory(), offset, FuzzUser.anyValue(random));
            }
            a.round();
            b.round();
        }
        reasons.add(left.lost());
        reasons.add(right.lost());
        pair.left().close();
        pair.right().close();
        a.round();
        b.round();
    }
}
