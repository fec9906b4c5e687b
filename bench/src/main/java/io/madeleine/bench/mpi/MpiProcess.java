package io.madeleine.bench.mpi;

import io.madeleine.bench.measure.ControlLine;
import io.madeleine.bench.measure.Order;
import io.madeleine.bench.measure.Pattern;
import io.madeleine.bench.measure.Pinning;
import io.madeleine.bench.measure.Round;
import io.madeleine.bench.measure.Samples;
import java.util.List;
import mpi.Intracomm;
import mpi.MPI;
import mpi.Status;
import org.jspecify.annotations.Nullable;

/**
 * One of the processes of a measurement of MPI: a program of the package {@code mpi} like any other.
 *
 * <p>Threading: confined to caller.
 */
public final class MpiProcess implements ControlLine.Program {
    /** The argument that has the process pinned. */
    public static final String PIN = "pin";

    /** A sample takes about so long. */
    private static final long SAMPLE_NS = 10_000_000;

    private static final int TAG = 9;

    private final Intracomm world = MPI.COMM_WORLD;
    private final MpiBuffers buffers;
    private final int rank = world.getRank();
    private final int size = world.getSize();

    /** Rank 0 tells the others how many rounds come next; 0 ends the order. */
    private final long[] told = new long[1];

    private @Nullable Scene last;

    private MpiProcess(MpiBuffers buffers) {
        this.buffers = buffers;
    }

    /** Started by {@code mad perf} with the kind of buffers, and whether to pin. */
    public static void main(String[] arguments) {
        String[] _ = MPI.Init(arguments);
        int rank = MPI.COMM_WORLD.getRank();
        if (List.of(arguments).contains(PIN)) {
            Pinning.pinThisProcess(rank);
        }
        MpiBuffers buffers = MpiBuffers.valueOf(arguments[0]);
        ControlLine.serveProgram(rank, line -> {
            line.exchangeContacts("-");
            return new MpiProcess(buffers);
        });
    }

    @Override
    public Pattern pattern(String word) {
        return MpiBenchmarks.patterns().stream()
                .filter(pattern -> pattern.word().equals(word))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("MPI has no pattern " + word));
    }

    @Override
    public Round carryOut(Order order) {
        MpiBenchmark benchmark = MpiBenchmarks.of(order.pattern());
        Scene scene = scene(Math.toIntExact(order.bytes()), benchmark.isOfFloats());
        benchmark.verify(scene);
        Samples samples = new Samples(order);
        if (rank == 0) {
            drive(benchmark, scene, samples);
        } else {
            follow(benchmark, scene);
            samples.begin();
            samples.end(0, 1);
        }
        benchmark.verify(scene);
        return samples.round();
    }

    /** The buffers of the last order serve the next one of that size. */
    private Scene scene(int bytes, boolean isOfFloats) {
        Scene before = last;
        if (before != null && before.bytes == bytes && before.isOfFloats == isOfFloats) {
            return before;
        }
        Scene scene = new Scene(world, buffers, bytes, isOfFloats);
        last = scene;
        return scene;
    }

    private void drive(MpiBenchmark benchmark, Scene scene, Samples samples) {
        long sampleNs = samples.sampleNs(SAMPLE_NS);
        long rounds = 1;
        for (long all = 0; samples.isCold(all); ) {
            long beginNs = System.nanoTime();
            double _ = run(benchmark, scene, rounds);
            long elapsedNs = Math.max(1, System.nanoTime() - beginNs);
            all += rounds;
            if (!benchmark.isSingle()) {
                rounds = elapsedNs < sampleNs / 2 ? rounds * 2 : Math.max(1, rounds * sampleNs / elapsedNs);
            }
        }
        while (!samples.isOver()) {
            samples.begin();
            samples.end(run(benchmark, scene, rounds), rounds * benchmark.messages());
        }
        tell(0);
    }

    private double run(MpiBenchmark benchmark, Scene scene, long rounds) {
        tell(rounds);
        return benchmark.sample(scene, rounds);
    }

    private void tell(long rounds) {
        told[0] = rounds;
        for (int to = 1; to < size; to++) {
            world.send(told, 1, MPI.LONG, to, TAG);
        }
    }

    private void follow(MpiBenchmark benchmark, Scene scene) {
        while (true) {
            Status _ = world.recv(told, 1, MPI.LONG, 0, TAG);
            if (told[0] == 0) {
                return;
            }
            double _ = benchmark.sample(scene, told[0]);
        }
    }

    @Override
    public void close() {
        MPI.Finalize();
    }
}
