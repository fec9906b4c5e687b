package io.madeleine.bench.mpi;

import io.madeleine.bench.measure.Pattern;
import io.madeleine.bench.measure.Pattern.Measure;
import java.nio.Buffer;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import mpi.Datatype;
import mpi.MPI;
import mpi.Request;

/**
 * The blocking collective operations, as OSU's benchmarks measure them: the time of a call, a barrier between two
 * calls, the mean over the processes. The size is that of the block of one process, for reductions that of the operand.
 * Roots are rank 0; reductions add floats.
 *
 * <p>Threading: without state.
 */
final class Collectives {
    private static final String MEANING = "one call, the mean over the processes";

    static final List<MpiBenchmark> ALL = List.of(
            new Collective(
                    Pattern.ofProgramWithoutBlocks("mpi-barrier", Measure.MICROSECONDS, MEANING),
                    scene -> new Case(scene.comm::barrier, () -> {})),
            new Collective("mpi-bcast", Collectives::bcast),
            new Collective("mpi-gather", Collectives::gather),
            new Collective("mpi-gatherv", Collectives::gatherv),
            new Collective("mpi-scatter", Collectives::scatter),
            new Collective("mpi-scatterv", Collectives::scatterv),
            new Collective("mpi-allgather", Collectives::allgather),
            new Collective("mpi-allgatherv", Collectives::allgatherv),
            new Collective("mpi-alltoall", Collectives::alltoall),
            new Collective("mpi-alltoallv", Collectives::alltoallv),
            new Collective("mpi-alltoallw", Collectives::alltoallw),
            new Reduction("mpi-reduce", Collectives::reduce),
            new Reduction("mpi-allreduce", Collectives::allreduce),
            new Reduction("mpi-reduce-scatter", Collectives::reduceScatter),
            new Reduction("mpi-reduce-scatter-block", Collectives::reduceScatterBlock),
            new Reduction("mpi-scan", Collectives::scan),
            new Reduction("mpi-exscan", Collectives::exscan),
            new Overlap());

    private Collectives() {}

    /** A call with its arguments, and a look at what it has brought. */
    private record Case(Runnable call, Runnable check) {}

    private interface Preparation {
        Case of(Scene scene);
    }

    private static boolean isSmall(long bytes, int ranks) {
        return bytes * ranks <= Integer.MAX_VALUE - 16;
    }

    private static Pattern pattern(String word) {
        return Pattern.ofProgram(word, Measure.MICROSECONDS, MEANING);
    }

    private static double meanOfCalls(Scene scene, Runnable call, boolean isBarrier, long rounds) {
        scene.comm.barrier();
        long elapsedNs = 0;
        if (isBarrier) {
            long beginNs = System.nanoTime();
            for (long i = 0; i < rounds; i++) {
                call.run();
            }
            elapsedNs = System.nanoTime() - beginNs;
        } else {
            for (long i = 0; i < rounds; i++) {
                long beginNs = System.nanoTime();
                call.run();
                elapsedNs += System.nanoTime() - beginNs;
                scene.comm.barrier();
            }
        }
        double[] sum = new double[1];
        scene.comm.reduce(new double[] {(double) elapsedNs}, sum, 1, MPI.DOUBLE, MPI.SUM, 0);
        return Measure.MICROSECONDS.value(sum[0], (double) rounds * scene.size, scene.bytes);
    }

    private record Collective(Pattern pattern, Preparation preparation) implements MpiBenchmark {
        Collective(String word, Preparation preparation) {
            this(Collectives.pattern(word), preparation);
        }

        @Override
        public boolean has(long bytes, int ranks, MpiBuffers buffers) {
            return ranks >= leastRanks() && isSmall(bytes, ranks);
        }

        @Override
        public void verify(Scene scene) {
            scene.fillAll();
            Case prepared = preparation.of(scene);
            prepared.call().run();
            prepared.check().run();
        }

        @Override
        public double sample(Scene scene, long rounds) {
            return meanOfCalls(
                    scene, preparation.of(scene).call(), pattern.word().equals("mpi-barrier"), rounds);
        }
    }

    private record Reduction(Pattern pattern, Preparation preparation) implements MpiBenchmark {
        Reduction(String word, Preparation preparation) {
            this(Collectives.pattern(word), preparation);
        }

        @Override
        public boolean isOfFloats() {
            return true;
        }

        @Override
        public boolean has(long bytes, int ranks, MpiBuffers buffers) {
            return ranks >= leastRanks() && bytes >= Float.BYTES && bytes % Float.BYTES == 0;
        }

        @Override
        public void verify(Scene scene) {
            scene.fillNumbers();
            Case prepared = preparation.of(scene);
            prepared.call().run();
            prepared.check().run();
        }

        @Override
        public double sample(Scene scene, long rounds) {
            return meanOfCalls(scene, preparation.of(scene).call(), false, rounds);
        }
    }

    // ---- moving data

    private static int[] counts(Scene scene) {
        int[] counts = new int[scene.size];
        Arrays.fill(counts, scene.bytes);
        return counts;
    }

    private static int[] places(Scene scene) {
        return IntStream.range(0, scene.size).map(rank -> rank * scene.bytes).toArray();
    }

    /** Block {@code i} of what was received is what rank {@code i} has sent to this one. */
    private static void checkAll(Scene scene) {
        for (int from = 0; from < scene.size; from++) {
            scene.check(from, from, scene.rank);
        }
    }

    /** What everybody sends to rank 0, at rank 0. */
    private static void checkAtRoot(Scene scene) {
        if (scene.rank == 0) {
            checkAll(scene);
        }
    }

    /** Everybody has what everybody had in block 0. */
    private static void checkEverywhere(Scene scene) {
        for (int from = 0; from < scene.size; from++) {
            scene.check(from, from, 0);
        }
    }

    private static Case bcast(Scene scene) {
        return new Case(() -> scene.comm.bcast(scene.out, scene.bytes, MPI.BYTE, 0), () -> scene.checkOut(0, 0, 0));
    }

    private static Case gather(Scene scene) {
        return new Case(
                () -> scene.comm.gather(scene.out, scene.bytes, MPI.BYTE, scene.in, scene.bytes, MPI.BYTE, 0),
                () -> checkAtRoot(scene));
    }

    private static Case gatherv(Scene scene) {
        int[] counts = counts(scene);
        int[] places = places(scene);
        return new Case(
                () -> scene.comm.gatherv(scene.out, scene.bytes, MPI.BYTE, scene.in, counts, places, MPI.BYTE, 0),
                () -> checkAtRoot(scene));
    }

    private static Case scatter(Scene scene) {
        return new Case(
                () -> scene.comm.scatter(scene.out, scene.bytes, MPI.BYTE, scene.in, scene.bytes, MPI.BYTE, 0),
                () -> scene.check(0, 0, scene.rank));
    }

    private static Case scatterv(Scene scene) {
        int[] counts = counts(scene);
        int[] places = places(scene);
        return new Case(
                () -> scene.comm.scatterv(scene.out, counts, places, MPI.BYTE, scene.in, scene.bytes, MPI.BYTE, 0),
                () -> scene.check(0, 0, scene.rank));
    }

    private static Case allgather(Scene scene) {
        return new Case(
                () -> scene.comm.allGather(scene.out, scene.bytes, MPI.BYTE, scene.in, scene.bytes, MPI.BYTE),
                () -> checkEverywhere(scene));
    }

    private static Case allgatherv(Scene scene) {
        int[] counts = counts(scene);
        int[] places = places(scene);
        return new Case(
                () -> scene.comm.allGatherv(scene.out, scene.bytes, MPI.BYTE, scene.in, counts, places, MPI.BYTE),
                () -> checkEverywhere(scene));
    }

    private static Case alltoall(Scene scene) {
        return new Case(
                () -> scene.comm.allToAll(scene.out, scene.bytes, MPI.BYTE, scene.in, scene.bytes, MPI.BYTE),
                () -> checkAll(scene));
    }

    private static Case alltoallv(Scene scene) {
        int[] counts = counts(scene);
        int[] places = places(scene);
        return new Case(
                () -> scene.comm.allToAllv(scene.out, counts, places, MPI.BYTE, scene.in, counts, places, MPI.BYTE),
                () -> checkAll(scene));
    }

    private static Case alltoallw(Scene scene) {
        int[] counts = counts(scene);
        int[] places = places(scene);
        Datatype[] types = new Datatype[scene.size];
        Arrays.fill(types, MPI.BYTE);
        return new Case(
                () -> scene.comm.allToAllw(scene.out, counts, places, types, scene.in, counts, places, types),
                () -> checkAll(scene));
    }

    // ---- reductions

    private static Case reduce(Scene scene) {
        return new Case(() -> scene.comm.reduce(scene.out, scene.in, scene.floats(), MPI.FLOAT, MPI.SUM, 0), () -> {
            if (scene.rank == 0) {
                scene.checkSums(0, scene.floats(), scene.size);
            }
        });
    }

    private static Case allreduce(Scene scene) {
        return new Case(
                () -> scene.comm.allReduce(scene.out, scene.in, scene.floats(), MPI.FLOAT, MPI.SUM),
                () -> scene.checkSums(0, scene.floats(), scene.size));
    }

    private static Case reduceScatter(Scene scene) {
        int[] counts = new int[scene.size];
        int first = 0;
        for (int rank = 0; rank < scene.size; rank++) {
            counts[rank] = scene.floats() / scene.size + (rank < scene.floats() % scene.size ? 1 : 0);
            first += rank < scene.rank ? counts[rank] : 0;
        }
        int begin = first;
        return new Case(
                () -> scene.comm.reduceScatter(scene.out, scene.in, counts, MPI.FLOAT, MPI.SUM),
                () -> scene.checkSums(begin, counts[scene.rank], scene.size));
    }

    private static Case reduceScatterBlock(Scene scene) {
        int count = scene.floats() / scene.size;
        return new Case(
                () -> scene.comm.reduceScatterBlock(scene.out, scene.in, count, MPI.FLOAT, MPI.SUM),
                () -> scene.checkSums((long) count * scene.rank, count, scene.size));
    }

    private static Case scan(Scene scene) {
        return new Case(
                () -> scene.comm.scan(scene.out, scene.in, scene.floats(), MPI.FLOAT, MPI.SUM),
                () -> scene.checkSums(0, scene.floats(), scene.rank + 1));
    }

    private static Case exscan(Scene scene) {
        return new Case(() -> scene.comm.exScan(scene.out, scene.in, scene.floats(), MPI.FLOAT, MPI.SUM), () -> {
            if (scene.rank > 0) {
                scene.checkSums(0, scene.floats(), scene.rank);
            }
        });
    }

    // ---- computing meanwhile

    /**
     * As {@code osu_iallreduce}: the share of a non-blocking allreduce that a program which computes as long as the
     * operation takes alone does not notice.
     */
    private record Overlap() implements MpiBenchmark {
        private static final Pattern PATTERN = Pattern.ofProgram(
                "mpi-overlap", Measure.PERCENT, "share of MPI_Iallreduce hidden behind computing as long as it takes");

        @Override
        public Pattern pattern() {
            return PATTERN;
        }

        @Override
        public boolean isOfFloats() {
            return true;
        }

        @Override
        public boolean has(long bytes, int ranks, MpiBuffers buffers) {
            return ranks >= leastRanks()
                    && bytes >= Float.BYTES
                    && bytes % Float.BYTES == 0
                    && buffers != MpiBuffers.ARRAY; // the bindings have non-blocking collectives of buffers only
        }

        private static Request begin(Scene scene) {
            return scene.comm.iAllReduce((Buffer) scene.out, (Buffer) scene.in, scene.floats(), MPI.FLOAT, MPI.SUM);
        }

        @Override
        public void verify(Scene scene) {
            scene.fillNumbers();
            begin(scene).waitFor();
            scene.checkSums(0, scene.floats(), scene.size);
        }

        @Override
        public double sample(Scene scene, long rounds) {
            double[] pureNs = {0};
            for (long i = 0; i < rounds; i++) {
                scene.comm.barrier();
                long beginNs = System.nanoTime();
                begin(scene).waitFor();
                pureNs[0] += (double) (System.nanoTime() - beginNs) / rounds;
            }
            scene.comm.bcast(pureNs, 1, MPI.DOUBLE, 0);
            double overallNs = 0;
            double computeNs = 0;
            for (long i = 0; i < rounds; i++) {
                scene.comm.barrier();
                long beginNs = System.nanoTime();
                Request running = begin(scene);
                long computingNs = System.nanoTime();
                scene.computing.until(computingNs + (long) pureNs[0]);
                computeNs += (double) (System.nanoTime() - computingNs) / rounds;
                running.waitFor();
                overallNs += (double) (System.nanoTime() - beginNs) / rounds;
            }
            return Math.clamp(100 - 100 * (overallNs - computeNs) / pureNs[0], 0, 100);
        }
    }
}
