package io.madeleine.bench.measure;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Processor time and context switches of this process. On a system without {@code /proc} there are no switches to see.
 *
 * <p>Threading: confined to caller.
 */
final class UsageMeter {
    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private static final Path TASKS = Path.of("/proc/self/task");

    private long beginNs;
    private long cpuBeginNs;
    private long switchesBefore;

    void reset() {
        switchesBefore = switches();
        cpuBeginNs = SYSTEM.getProcessCpuTime();
        beginNs = System.nanoTime();
    }

    /** Since the last reset. */
    double cpuPercent() {
        return 100.0 * (SYSTEM.getProcessCpuTime() - cpuBeginNs) / Math.max(1, System.nanoTime() - beginNs);
    }

    /** Since the last reset. */
    long contextSwitches() {
        return Math.max(0, switches() - switchesBefore); // a thread that has ended takes its switches along
    }

    private static long switches() {
        long sum = 0;
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(TASKS)) {
            for (Path task : tasks) {
                sum += switchesOf(task);
            }
        } catch (IOException _) {
            return 0;
        }
        return sum;
    }

    private static long switchesOf(Path task) {
        try {
            long sum = 0;
            for (String line : Files.readAllLines(task.resolve("status"))) {
                if (line.contains("ctxt_switches:")) {
                    sum += Long.parseLong(line.substring(line.indexOf(':') + 1).strip());
                }
            }
            return sum;
        } catch (IOException _) {
            return 0; // the thread has ended
        }
    }
}
