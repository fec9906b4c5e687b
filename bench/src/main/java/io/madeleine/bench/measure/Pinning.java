package io.madeleine.bench.measure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Binds a process to one processor, with the help of {@code taskset}.
 *
 * <p>Threading: stateless.
 */
public final class Pinning {
    /**
     * The variable of the environment that names the processors to use, as {@code 0,4}; without it, all that are
     * allowed.
     */
    public static final String PROCESSORS = "MADELEINE_PERF_PROCESSORS";

    private static final Path STATUS = Path.of("/proc/self/status");
    private static final String ALLOWED = "Cpus_allowed_list:";

    private Pinning() {}

    /** Why processes cannot be pinned here; empty if they can. */
    public static Optional<String> unavailable() {
        String path = Optional.ofNullable(System.getenv("PATH")).orElse("");
        boolean found = Stream.of(path.split(":"))
                .filter(folder -> !folder.isEmpty())
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, "taskset")));
        if (!found) {
            return Optional.of("there is no taskset command on the PATH");
        }
        return processors().size() < 2 ? Optional.of("fewer than two processors may be used") : Optional.empty();
    }

    /** Binds all threads of this process to a processor of its own. */
    public static void pinThisProcess(int rank) {
        List<Integer> processors = processors();
        String processor = processors.get(rank % processors.size()).toString();
        try {
            Process taskset = new ProcessBuilder(
                            "taskset",
                            "-a",
                            "-p",
                            "-c",
                            processor,
                            Long.toString(ProcessHandle.current().pid()))
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            if (taskset.waitFor() != 0) {
                System.err.println("rank " + rank + " could not be pinned to processor " + processor);
            }
        } catch (IOException e) {
            System.err.println("rank " + rank + " could not be pinned: " + e.getMessage());
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    /** The processors that this process may use. */
    public static List<Integer> processors() {
        String chosen = System.getenv(PROCESSORS);
        if (chosen != null && !chosen.isBlank()) {
            return parse(chosen);
        }
        try (Stream<String> lines = Files.lines(STATUS)) {
            return lines.filter(line -> line.startsWith(ALLOWED))
                    .map(line -> parse(line.substring(ALLOWED.length()).strip()))
                    .findFirst()
                    .orElse(List.of());
        } catch (IOException _) {
            return List.of();
        }
    }

    /** Parses a list such as {@code 0-3,8,10-11}. */
    public static List<Integer> parse(String ranges) {
        List<Integer> numbers = new ArrayList<>();
        for (String range : ranges.split(",", -1)) {
            String[] ends = range.strip().split("-", -1);
            for (int i = Integer.parseInt(ends[0]); i <= Integer.parseInt(ends[ends.length - 1]); i++) {
                numbers.add(i);
            }
        }
        return numbers;
    }
}
