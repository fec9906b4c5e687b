package io.madeleine.integration;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** What makes the other tests of this module shorter. */
class ClassArchiveIT {
    private static final List<Class<?>> LOADED =
            List.of(ClassArchive.Training.class, io.madeleine.api.Session.class, io.netty.buffer.ByteBuf.class);

    @Test
    void shouldLoadTheClassesOfASessionFromTheArchive() throws Exception {
        try (Processes processes = Ranks.of(1, Program.class)
                .withoutSession()
                .java("-Xlog:class+load:stdout")
                .start()) {
            processes.assertSuccess();
            for (Class<?> each : LOADED) {
                assertTrue(
                        processes.out(0).lines().stream()
                                .anyMatch(line -> line.contains(each.getName() + " source: shared objects file (top)")),
                        () -> each + " does not come from the archive\n" + processes);
            }
        }
    }

    /** Loads a class of the tests, of the project and of a library. */
    static final class Program {
        public static void main(String[] args) throws ClassNotFoundException {
            for (Class<?> each : LOADED) {
                Class.forName(each.getName());
            }
        }
    }
}
