package io.madeleine.tm.sci.link;

import io.madeleine.tm.sci.HeapPair;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * All cells are full: the sender refills a cell only after the receiver has emptied it, and the receiver sees a cell
 * only once it is filled.
 */
@JCStressTest
@Outcome(
        id = {"true, true", "false, true"},
        expect = Expect.ACCEPTABLE,
        desc = "There was a free cell already, or not yet; no cell is lost.")
@Outcome(expect = Expect.FORBIDDEN, desc = "A cell was overwritten, seen too early, or lost.")
@State
public class CellsStress {
    private final HeapPair pair = new HeapPair();
    private boolean sent;
    private long seen;
    private boolean inOrder = true;

    public CellsStress() {
        for (int i = 0; i < HeapPair.CELLS; i++) {
            pair.sendCell(i, i + 1);
        }
    }

    @Actor
    public void send() {
        sent = pair.sendCell(HeapPair.CELLS, HeapPair.CELLS + 1);
    }

    @Actor
    public void take() {
        for (int i = 1; i <= HeapPair.CELLS; i++) {
            inOrder &= pair.takeCell() == i;
        }
        seen = pair.takeCell();
    }

    @Arbiter
    public void takeRest(ZZ_Result result) {
        result.r1 = sent;
        long last = seen == 0 ? pair.takeCell() : seen;
        result.r2 = inOrder && last == (sent ? HeapPair.CELLS + 1 : 0);
    }
}
