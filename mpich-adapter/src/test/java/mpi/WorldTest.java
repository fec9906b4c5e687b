package mpi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A test in which a process fails ends soon, and the next one has a world that works. */
class WorldTest {
    @ParameterizedTest
    @ValueSource(strings = {"sci", "tcp"})
    void shouldEndSoonWhereOthersWaitForAProcessThatHasFailed(String network) {
        try (World world = new World(network, 3)) {
            long beganNs = System.nanoTime();
            AssertionError told = assertThrows(
                    AssertionError.class,
                    () -> world.run(comm -> {
                        if (comm.getRank() == 1) {
                            throw new IllegalStateException("as the test wants");
                        }
                        comm.barrier();
                    }));
            long tookS = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - beganNs);
            assertEquals("as the test wants", told.getCause().getMessage());
            assertTrue(tookS < 30, tookS + " s");
            world.run(Comm::barrier);
        }
    }
}
