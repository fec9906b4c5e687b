package io.madeleine.nexus;

import io.madeleine.nexus.wire.RequestLayout;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A thread that has brought a request and waits for its handler. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class InboundTest {
    private static final int LOOKS = 200;

    @Test
    void shouldParkAReaderThatIsInterruptedWhileAnotherHandlerRuns() throws Exception {
        CountDownLatch holds = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        CountDownLatch taken = new CountDownLatch(1);
        try (World world = new World(
                "sci",
                1,
                context -> context.endpoint("e")
                        .nonThreaded("hold", (_, _) -> {
                            holds.countDown();
                            go.await();
                        })
                        .nonThreaded("take", (_, _) -> taken.countDown()))) {
            Node node = world.of(0).node();
            Startpoint e = world.of(0).startpoint(0, "e");
            Thread holder = Thread.ofPlatform().start(() -> e.rsr("hold", new Arguments()));
            holds.await();
            Thread reader = Thread.ofPlatform().start(() -> {
                Thread.currentThread().interrupt();
                node.inbound()
                        .receive(
                                Request.local(node, new Arguments()),
                                RequestLayout.endpointId("e"),
                                RequestLayout.id("take"));
            });
            try {
                World.await(() -> isParked(reader));
            } finally {
                go.countDown();
            }
            taken.await();
            reader.join();
            holder.join();
        }
    }

    /** Whether it is parked whenever it is looked at: a thread whose park returns at once is seen in between, too. */
    private static boolean isParked(Thread thread) {
        for (int look = 0; look < LOOKS; look++) {
            if (thread.getState() != Thread.State.WAITING) {
                return false;
            }
            LockSupport.parkNanos(1_000_000);
        }
        return true;
    }
}
