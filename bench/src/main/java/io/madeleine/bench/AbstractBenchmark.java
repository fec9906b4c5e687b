package io.madeleine.bench;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What all JMH benchmarks have in common, so that their results can be compared: two forks, five warm-up and five
 * measured iterations of one second, average time in nanoseconds, and the flags under which the core has to work.
 *
 * <p>Threading: one instance per JMH thread.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
        value = 2,
        jvmArgsAppend = {"-Xms256m", "-Xmx256m", "-XX:+UseSerialGC", "--illegal-native-access=deny"})
public abstract class AbstractBenchmark {}
