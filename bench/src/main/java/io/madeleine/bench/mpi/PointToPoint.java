package io.madeleine.bench.mpi;

import io.madeleine.bench.measure.Pattern;
import io.madeleine.bench.measure.Pattern.Measure;
import java.util.List;
import mpi.MPI;
import mpi.Request;
import mpi.Status;

/**
 * Messages between the ranks 0 and 1, as {@code osu_latency}, {@code osu_bw}, {@code osu_bibw}, {@code osu_mbw_mr}
 * measure them, and what a message costs a process that also computes.
 *
 * <p>Threading: without state.
 */
final class PointToPoint {
    /** Messages of a window, each of which must have left before the next window begins; as OSU's. */
    static final int WINDOW = 64;

    private static final int TAG = 1;
    private static final int ANSWER = 2;
    private static final long MILLISECOND_NS = 1_000_000;

    static final List<MpiBenchmark> ALL = List.of(
            new RoundTrip("mpi-latency", Measure.MICROSECONDS, "half round trip of MPI_Send and MPI_Recv"),
            new RoundTrip("mpi-pingpong", Measure.BANDWIDTH, "bytes over half a round trip of MPI_Send and MPI_Recv"),
            new Posted(),
            new Window("mpi-bandwidth", Measure.BANDWIDTH, "windows of 64 messages", false),
            new Window("mpi-bibandwidth", Measure.BANDWIDTH, "windows of 64 messages, both ways at once", true),
            new Window("mpi-rate", Measure.RATE, "windows of 64 messages", false),
            new Compute(),
            new Rendezvous());

    private PointToPoint() {}

    private static void send(Scene scene, int tag) {
        scene.comm.send(scene.out, scene.bytes, MPI.BYTE, 1 - scene.rank, tag);
    }

    private static void receive(Scene scene, int tag) {
        Status _ = scene.comm.recv(scene.in, scene.bytes, MPI.BYTE, 1 - scene.rank, tag);
    }

    private static void exchange(Scene scene) {
        if (scene.rank == 0) {
            send(scene, TAG);
            receive(scene, TAG);
        } else if (scene.rank == 1) {
            receive(scene, TAG);
            send(scene, TAG);
        }
    }

    private static void verifyExchange(Scene scene) {
        if (scene.rank > 1) {
            return;
        }
        scene.fill(0, 1 - scene.rank);
        scene.clear();
        exchange(scene);
        scene.check(0, 1 - scene.rank, scene.rank);
    }

    private record RoundTrip(Pattern pattern) implements MpiBenchmark {
        RoundTrip(String word, Measure measure, String meaning) {
            this(Pattern.ofProgram(word, measure, meaning));
        }

        @Override
        public int messages() {
            return 2;
        }

        @Override
        public void verify(Scene scene) {
            verifyExchange(scene);
        }

        @Override
        public double sample(Scene scene, long rounds) {
            scene.comm.barrier();
            long beginNs = System.nanoTime();
            for (long i = 0; i < rounds; i++) {
                exchange(scene);
            }
            return pattern.measure().value((double) (System.nanoTime() - beginNs), 2.0 * rounds, scene.bytes);
        }
    }

    /** As {@link RoundTrip}, behind receives that wait for other messages. */
    private record Posted() implements MpiBenchmark {
        private static final int RECEIVES = 1000;
        private static final int FIRST_TAG = 100;
        private static final Pattern PATTERN = Pattern.ofProgram(
                "mpi-posted-1000", Measure.MICROSECONDS, "the same behind 1,000 receives that wait for other messages");

        @Override
        public Pattern pattern() {
            return PATTERN;
        }

        @Override
        public int messages() {
            return 2;
        }

        @Override
        public void verify(Scene scene) {
            verifyExchange(scene);
        }

        @Override
        public double sample(Scene scene, long rounds) {
            Request[] others = new Request[scene.rank < 2 ? RECEIVES : 0];
            for (int i = 0; i < others.length; i++) {
                others[i] = scene.comm.Irecv(new byte[1], 0, 1, MPI.BYTE, 1 - scene.rank, FIRST_TAG + i);
            }
            scene.comm.barrier();
            long beginNs = System.nanoTime();
            for (long i = 0; i < rounds; i++) {
                exchange(scene);
            }
            double elapsedNs = (double) (System.nanoTime() - beginNs);
            for (Request other : others) {
                other.cancel();
                other.waitFor();
            }
            return PATTERN.measure().value(elapsedNs, 2.0 * rounds, scene.bytes);
        }
    }

    /** Windows of non-blocking messages, from rank 0 or from both; each window is acknowledged. */
    private record Window(Pattern pattern, boolean isBothWays) implements MpiBenchmark {
        Window(String word, Measure measure, String meaning, boolean isBothWays) {
            this(Pattern.ofProgram(word, measure, meaning), isBothWays);
        }

        @Override
        public int messages() {
            return WINDOW;
        }

        @Override
        public void verify(Scene scene) {
            if (scene.rank > 1) {
                return;
            }
            scene.fill(0, 1 - scene.rank);
            scene.clear();
            window(scene, new Request[receives(scene) + sends(scene)], new byte[Integer.BYTES]);
            if (receives(scene) > 0) {
                scene.check(0, 1 - scene.rank, scene.rank);
            }
        }

        private int sends(Scene scene) {
            return isBothWays || scene.rank == 0 ? WINDOW : 0;
        }

        private int receives(Scene scene) {
            return isBothWays || scene.rank == 1 ? WINDOW : 0;
        }

        private void window(Scene scene, Request[] requests, byte[] acknowledgement) {
            int at = 0;
            for (int i = 0; i < receives(scene); i++) {
                requests[at++] = scene.comm.Irecv(scene.in, 0, scene.bytes, MPI.BYTE, 1 - scene.rank, TAG);
            }
            for (int i = 0; i < sends(scene); i++) {
                requests[at++] = scene.comm.Isend(scene.out, 0, scene.bytes, MPI.BYTE, 1 - scene.rank, TAG);
            }
            Request.waitAll(requests);
            if (scene.rank == 0) {
                Status _ = scene.comm.recv(acknowledgement, acknowledgement.length, MPI.BYTE, 1, ANSWER);
            } else {
                scene.comm.send(acknowledgement, acknowledgement.length, MPI.BYTE, 0, ANSWER);
            }
        }

        @Override
        public double sample(Scene scene, long rounds) {
            Request[] requests = new Request[receives(scene) + sends(scene)];
            byte[] acknowledgement = new byte[Integer.BYTES];
            scene.comm.barrier();
            long beginNs = System.nanoTime();
            if (scene.rank < 2) {
                for (long i = 0; i < rounds; i++) {
                    window(scene, requests, acknowledgement);
                }
            }
            double messages = (double) rounds * WINDOW * (isBothWays ? 2 : 1);
            return pattern.measure().value((double) (System.nanoTime() - beginNs), messages, scene.bytes);
        }
    }

    /** Rank 0 names an instant until which both compute; {@code System.nanoTime} is one clock on a host. */
    private static long agree(Scene scene, long inNs) {
        long[] instantNs = {System.nanoTime() + inNs};
        if (scene.rank == 0) {
            scene.comm.send(instantNs, 1, MPI.LONG, 1, ANSWER);
        } else {
            Status _ = scene.comm.recv(instantNs, 1, MPI.LONG, 0, ANSWER);
        }
        return instantNs[0];
    }

    private record Compute() implements MpiBenchmark {
        private static final Pattern PATTERN = Pattern.ofProgram(
                "mpi-compute-1ms", Measure.MICROSECONDS, "half round trip after both have computed for 1 ms");

        @Override
        public Pattern pattern() {
            return PATTERN;
        }

        @Override
        public int messages() {
            return 2;
        }

        @Override
        public void verify(Scene scene) {
            verifyExchange(scene);
        }

        @Override
        public double sample(Scene scene, long rounds) {
            if (scene.rank > 1) {
                return 0;
            }
            long elapsedNs = 0;
            for (long i = 0; i < rounds; i++) {
                long instantNs = agree(scene, MILLISECOND_NS);
                scene.computing.until(instantNs);
                exchange(scene);
                elapsedNs += System.nanoTime() - instantNs;
            }
            return PATTERN.measure().value((double) elapsedNs, 2.0 * rounds, scene.bytes);
        }
    }

    /** How long a sender waits for the end of its send while the receiver, which has posted its receive, computes. */
    private record Rendezvous() implements MpiBenchmark {
        private static final long COMPUTE_NS = 5 * MILLISECOND_NS;

        private static final Pattern PATTERN = Pattern.ofProgram(
                "mpi-rendezvous", Measure.MICROSECONDS, "until a send has ended whose receiver computes for 5 ms");

        @Override
        public Pattern pattern() {
            return PATTERN;
        }

        @Override
        public boolean isSingle() {
            return true;
        }

        @Override
        public void verify(Scene scene) {
            scene.fill(0, 1);
            scene.clear();
            double _ = sample(scene, 1);
            if (scene.rank == 1) {
                scene.check(0, 0, 1);
            }
        }

        @Override
        public double sample(Scene scene, long rounds) {
            long elapsedNs = 1;
            if (scene.rank == 0) {
                Status _ = scene.comm.recv(new byte[1], 1, MPI.BYTE, 1, ANSWER);
                long beginNs = System.nanoTime();
                scene.comm.Isend(scene.out, 0, scene.bytes, MPI.BYTE, 1, TAG).waitFor();
                elapsedNs = System.nanoTime() - beginNs;
            } else if (scene.rank == 1) {
                Request receive = scene.comm.Irecv(scene.in, 0, scene.bytes, MPI.BYTE, 0, TAG);
                scene.comm.send(new byte[1], 1, MPI.BYTE, 0, ANSWER);
                scene.computing.until(System.nanoTime() + COMPUTE_NS);
                receive.waitFor();
            }
            return PATTERN.measure().value((double) elapsedNs, 1, scene.bytes);
        }
    }
}
