package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A request to a non-threaded handler and its reply cost no allocation, at either end. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("measures")
class AllocationTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int WARM = 10_000;
    private static final int COUNT = 3_000;

    /** Of several stretches the best counts: what the JVM does now and then is no price of a request. */
    private static final int STRETCHES = 6;

    @ParameterizedTest
    @ValueSource(strings = {"sci", "tcp"})
    void shouldNotAllocatePerRequest(String network) throws Exception {
        AtomicInteger answers = new AtomicInteger();
        int echo = "echo".hashCode();
        int answer = "answer".hashCode();
        Arguments[] reply = {new Arguments()};
        Startpoint[] back = new Startpoint[2];
        try (World world = new World(
                network,
                2,
                context -> context.endpoint("e")
                        .nonThreaded(
                                "echo",
                                (_, request) ->
                                        back[0].rsr(answer, reply[0].reset().putLong(request.getLong())))
                        .nonThreaded("answer", (_, request) -> answers.addAndGet((int) request.getLong())))) {
            back[0] = world.of(0).startpoint(1, "e");
            Startpoint remote = world.of(1).startpoint(0, "e");
            AtomicBoolean over = new AtomicBoolean();
            Thread server = Thread.ofPlatform().start(() -> world.of(0).await(over::get));
            Arguments arguments = new Arguments();
            int[] expected = {0};
            BooleanSupplier answered = () -> answers.get() == expected[0];
            double best = Double.MAX_VALUE;
            for (int stretch = 0; stretch <= STRETCHES; stretch++) {
                int count = stretch == 0 ? WARM : COUNT;
                long before = allocated(server);
                for (int i = 0; i < count; i++) {
                    expected[0]++;
                    remote.rsr(echo, arguments.reset().putLong(1));
                    world.of(1).await(answered);
                }
                if (stretch > 0) {
                    best = Math.min(best, (allocated(server) - before) / (double) count);
                }
            }
            over.set(true);
            world.of(0).signalWaiters();
            server.join();
            double bytes = best;
            assertTrue(bytes < 1, () -> bytes + " bytes per request and reply");
        }
    }

    private static long allocated(Thread server) {
        return THREADS.getThreadAllocatedBytes(Thread.currentThread().threadId())
                + THREADS.getThreadAllocatedBytes(server.threadId());
    }
}
