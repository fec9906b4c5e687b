package io.madeleine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class LaunchPlanTest {
    @Test
    void shouldChangeOnePartAndKeepTheOthers() {
        LaunchPlan.Conduct conduct = new LaunchPlan.Conduct(OnFailure.STOP, false, true, Duration.ofSeconds(1));
        LaunchPlan plan = LaunchPlan.of(3, List.of("Main"))
                .withEnvironment(Map.of("A", "1"))
                .withDirectory(Path.of("d"))
                .withConfiguration(Path.of("c"))
                .withSettings(List.of("k=v"))
                .withConduct(conduct);
        LaunchPlan expected = new LaunchPlan(
                3,
                List.of("Main"),
                Map.of("A", "1"),
                Optional.of(Path.of("d")),
                Optional.of(Path.of("c")),
                List.of("k=v"),
                conduct);
        assertEquals(expected, plan);
        assertEquals(
                expected,
                plan.withDirectory(Path.of("x"))
                        .withConduct(LaunchPlan.Conduct.DEFAULT)
                        .withSettings(List.of())
                        .withEnvironment(Map.of())
                        .withConfiguration(Path.of("y"))
                        .withConfiguration(Path.of("c"))
                        .withEnvironment(Map.of("A", "1"))
                        .withSettings(List.of("k=v"))
                        .withConduct(conduct)
                        .withDirectory(Path.of("d")));
    }

    @Test
    void shouldTakeOneToFourThousandProcessesAndCopiesOfItsParts() {
        for (int count : new int[] {Integer.MIN_VALUE, -1, 0, 4097, Integer.MAX_VALUE}) {
            String why = assertThrows(IllegalArgumentException.class, () -> LaunchPlan.of(count, List.of()))
                    .getMessage();
            assertEquals(count + " processes: expected 1 to 4096", why);
        }
        List<String> arguments = new ArrayList<>(List.of("Main"));
        for (int count : new int[] {1, 4096}) {
            LaunchPlan plan = LaunchPlan.of(count, arguments);
            assertEquals(count, plan.processes());
            arguments.add("later");
            assertEquals("Main", plan.javaArguments().getFirst());
            assertEquals(arguments.size() - 1, plan.javaArguments().size());
        }
    }
}
