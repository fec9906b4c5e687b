package mpi;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.madeleine.mpi.collectives.Area;
import io.madeleine.mpi.collectives.Combining;
import io.madeleine.mpi.collectives.Exchanges;
import io.madeleine.mpi.collectives.Reductions;
import io.madeleine.mpi.collectives.Schedule;
import io.madeleine.mpi.collectives.Trees;
import io.madeleine.mpi.comm.RankGroup;
import io.madeleine.mpi.datatypes.Arithmetic;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** How many messages and bytes each member sends, against the formulas of the algorithms. */
class CountsTest {
    private static final Combining SUM = new Combining(Arithmetic.SUM, MPI.INT.type());
    private static final int SHORT = 128;
    private static final int LONG = 1 << 20;

    private static World world;

    @BeforeAll
    static void open() {
        world = new World("sci", 1);
    }

    @AfterAll
    static void close() {
        world.close();
    }

    static IntStream sizes() {
        return IntStream.rangeClosed(1, 17);
    }

    /** The schedule of one member of a group; it is not started. */
    private static Schedule schedule(int size, int rank, Consumer<Schedule> build) {
        int[] ranks = IntStream.range(0, size)
                .map(i -> i == rank ? 0 : i < rank ? i + 1 : i)
                .toArray();
        Schedule schedule = new Schedule("counted", world.of(0).device(), new RankGroup(ranks), 2, 0);
        assertEquals(rank, schedule.rank());
        build.accept(schedule);
        return schedule;
    }

    private static void each(int size, long messages, long bytes, Consumer<Schedule> build) {
        for (int rank = 0; rank < size; rank++) {
            Schedule schedule = schedule(size, rank, build);
            assertEquals(messages, schedule.messages(), "messages of rank " + rank);
            assertEquals(bytes, schedule.bytes(), "bytes of rank " + rank);
        }
    }

    private static void total(int size, long messages, Consumer<Schedule> build) {
        assertEquals(
                messages,
                IntStream.range(0, size)
                        .map(rank -> schedule(size, rank, build).messages())
                        .sum());
    }

    private static long totalBytes(int size, Consumer<Schedule> build) {
        return IntStream.range(0, size)
                .mapToLong(rank -> schedule(size, rank, build).bytes())
                .sum();
    }

    private static int log(int size) {
        return Integer.SIZE - Integer.numberOfLeadingZeros(size - 1);
    }

    private static boolean isPower(int size) {
        return Integer.bitCount(size) == 1;
    }

    @ParameterizedTest
    @MethodSource("sizes")
    void shouldSendAsManyMessagesAsTheFormulasSay(int size) {
        int last = size - 1;
        each(size, log(size), 0, Exchanges::barrier);
        total(size, last, schedule -> Trees.broadcast(schedule, Area.allocate(SHORT), last));
        assertEquals(
                (long) last * SHORT,
                totalBytes(size, schedule -> Trees.broadcast(schedule, Area.allocate(SHORT), last)));
        if (size >= 4) {
            total(size, last + (long) size * last, schedule -> Trees.broadcast(schedule, Area.allocate(LONG), 0));
        }
        Area blocks = Area.allocate((long) size * SHORT);
        total(size, last, schedule -> Trees.gather(schedule, Area.allocate(SHORT), blocks, last));
        total(size, last, schedule -> Trees.scatter(schedule, blocks, Area.allocate(SHORT), SHORT, 0));
        each(size, log(size), (long) last * SHORT, schedule -> Exchanges.allgather(schedule, blocks, SHORT));
        each(
                size,
                last,
                (long) last * LONG,
                schedule -> Exchanges.allgather(schedule, Area.allocate((long) size * LONG), LONG));
        int distances = size >= 8 ? log(size) : last;
        for (int rank = 0; rank < size; rank++) {
            Schedule schedule = schedule(size, rank, each -> Exchanges.alltoall(each, blocks, blocks, SHORT));
            assertEquals(distances, schedule.messages());
        }
        each(
                size,
                last,
                last * 4096L,
                schedule ->
                        Exchanges.alltoall(schedule, Area.allocate(size * 4096L), Area.allocate(size * 4096L), 4096));
    }

    @ParameterizedTest
    @MethodSource("sizes")
    void shouldReduceWithAsManyMessagesAsTheFormulasSay(int size) {
        int last = size - 1;
        total(size, last, schedule -> Reductions.reduce(schedule, Area.allocate(SHORT), SUM, last));
        int power = Integer.highestOneBit(size);
        int pairs = size - power;
        total(
                size,
                (long) power * log(power) + 2L * pairs,
                schedule -> Reductions.allreduce(schedule, Area.allocate(SHORT), SUM));
        if (isPower(size) && size > 1) {
            each(
                    size,
                    2L * log(size),
                    2L * last * (LONG / size),
                    schedule -> Reductions.allreduce(schedule, Area.allocate(LONG), SUM));
            total(
                    size,
                    (long) size * log(size) + last,
                    schedule -> Reductions.reduce(schedule, Area.allocate(LONG), SUM, 0));
        }
        long[] parts = new long[size];
        java.util.Arrays.fill(parts, SHORT);
        each(
                size,
                last,
                (long) last * SHORT,
                schedule -> Reductions.reduceScatter(
                        schedule, Area.allocate((long) size * SHORT), parts, Area.allocate(SHORT), SUM));
        total(
                size,
                IntStream.range(0, size)
                        .map(rank -> (int) IntStream.iterate(1, distance -> distance < size, distance -> distance * 2)
                                .filter(distance -> (rank ^ distance) < size)
                                .count())
                        .sum(),
                schedule -> Reductions.scan(schedule, Area.allocate(SHORT), Area.allocate(SHORT), SUM, false));
    }
}
