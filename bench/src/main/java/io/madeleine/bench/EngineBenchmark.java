package io.madeleine.bench;

import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.SelectorReactor;
import io.madeleine.pmm.Step;
import io.madeleine.pmm.WaitMode;
import io.madeleine.pmm.WaitPolicy;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/** What a round of the engine costs besides polling: nothing is open. */
public class EngineBenchmark extends AbstractBenchmark {
    private static final long SPIN_NS = 20_000;
    private static final int YIELDS = 10;

    private final SelectorReactor reactor = new SelectorReactor();
    private final ProgressEngine engine =
            new ProgressEngine("bench", reactor, new WaitPolicy(WaitMode.SPIN, SPIN_NS, YIELDS));
    private int turns;
    private final Step step = () -> ++turns % 2 == 0;

    /** JMH calls this before anything is measured; the engine's thread sleeps by then. */
    @Setup(Level.Trial)
    public void turnOnce() {
        engine.progress();
    }

    /** Takes the lead, makes a round, leaves the lead. */
    @Benchmark
    public int round() {
        return engine.progress();
    }

    /** Pending work is entered, retried in one round, finished in the next. */
    @Benchmark
    public int stepInTwoRounds() {
        engine.enqueue(step);
        return engine.progress() + engine.progress();
    }

    /** Ends the engine. */
    @TearDown(Level.Trial)
    public void close() {
        engine.close();
        reactor.close();
    }
}
