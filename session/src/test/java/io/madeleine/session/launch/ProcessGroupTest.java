package io.madeleine.session.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.api.SessionException;
import io.madeleine.session.bootstrap.LaunchSpec;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.AbstractMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ProcessGroupTest {
    private static final Path SLEEP = Path.of("/bin/sleep");

    private final AtomicInteger cleanUps = new AtomicInteger();

    private Spawner spawner(Map<String, String> environment) {
        Spawner.Settings settings = new Spawner.Settings(
                environment,
                Optional.empty(),
                false,
                TimeUnit.SECONDS.toNanos(10),
                0,
                TimeUnit.SECONDS.toNanos(10),
                cleanUps::incrementAndGet);
        return new Spawner(settings, new Spawner.Terminal(System.out, System.err, new ReentrantLock(), () -> {}));
    }

    /** An environment that the third process cannot get. */
    private static Map<String, String> environmentForTwo() {
        AtomicInteger asked = new AtomicInteger();
        return new AbstractMap<>() {
            @Override
            public Set<Entry<String, String>> entrySet() {
                if (asked.incrementAndGet() > 2) {
                    throw new IllegalStateException("no more");
                }
                return Map.of("MADELEINE_TEST", "1").entrySet();
            }
        };
    }

    private static long sleepers() {
        return ProcessHandle.current()
                .children()
                .filter(child -> child.info()
                        .command()
                        .filter(file -> file.endsWith("sleep"))
                        .isPresent())
                .filter(ProcessHandle::isAlive)
                .count();
    }

    @Test
    void shouldLeaveNoProcessRunningWhenOneCannotBeStarted() {
        assumeTrue(Files.isExecutable(SLEEP), "there is no " + SLEEP);
        long before = sleepers();
        Spawner spawner = spawner(environmentForTwo());
        LaunchSpec spec = new LaunchSpec(3, List.of(SLEEP.toString(), "600"), Map.of());
        String message =
                assertThrows(SessionException.class, () -> spawner.start(spec)).getMessage();
        assertEquals(before, sleepers());
        assertTrue(message.contains("only 2 of 3 processes could be started: no more"), message);
        assertEquals(1, cleanUps.get(), "they were killed, and may have left something");
    }
}
