package io.madeleine.session.network;

import io.madeleine.pmm.WaitPolicy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.stream.Stream;

/**
 * The processors on which a process may run, according to its affinity mask. Processes that are bound to one processor
 * each do not compete for processors, although each of them sees only one.
 *
 * <p>Threading: immutable.
 *
 * @param list the processors as the Linux kernel lists them, for instance {@code 0-3,8}; empty if unknown
 */
public record Processors(String list) {
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final String KEY = "Cpus_allowed_list:";
    private static final String FORM = "(\\d{1,4}(-\\d{1,4})?(,\\d{1,4}(-\\d{1,4})?)*)?";
    private static final int MAX_LENGTH = 1024;

    /** Takes a list that is too long or has another form as unknown. */
    public Processors {
        if (list.length() > MAX_LENGTH || !list.matches(FORM)) {
            list = "";
        }
    }

    /** Those of this process. */
    public static Processors ofThisProcess() {
        try (Stream<String> lines = Files.lines(STATUS)) {
            return new Processors(lines.filter(line -> line.startsWith(KEY))
                    .map(line -> line.substring(KEY.length()).strip())
                    .findFirst()
                    .orElse(""));
        } catch (IOException | RuntimeException _) {
            return new Processors(""); // not Linux
        }
    }

    /**
     * How many processors the processes of one host can use together.
     *
     * @param available how many processors the JVM may use; a quota can make this fewer than the affinity mask contains
     */
    public static int together(Processors own, List<Processors> ofAll, int available) {
        BitSet union = new BitSet();
        for (Processors of : ofAll) {
            BitSet allowed = of.allowed();
            if (allowed.isEmpty()) {
                return available;
            }
            union.or(allowed);
        }
        boolean hasQuota = available < own.allowed().cardinality();
        return hasQuota ? available : Math.max(available, union.cardinality());
    }

    /** Whether all threads of this process have one processor between them. */
    public boolean isOne(int available) {
        return available == 1 || allowed().cardinality() == 1;
    }

    private BitSet allowed() {
        BitSet allowed = new BitSet();
        if (!list.isEmpty()) {
            for (String range : list.split(",", -1)) {
                int dash = range.indexOf('-');
                int first = Integer.parseInt(dash < 0 ? range : range.substring(0, dash));
                int last = dash < 0 ? first : Integer.parseInt(range.substring(dash + 1));
                if (first <= last) {
                    allowed.set(first, last + 1);
                }
            }
        }
        return allowed;
    }

    /**
     * How this process waits. Turns spinning off if this host has more processes of the session than processors that
     * they may use: spinning would only delay the peer.
     *
     * @param configured what the configuration says
     * @param onHost the processors of all processes of the session on this host
     * @param available how many processors the JVM finds
     */
    public WaitPolicy waiting(WaitPolicy configured, List<Processors> onHost, int available) {
        boolean crowded = onHost.size() > together(this, onHost, available);
        return new WaitPolicy(
                configured.mode(),
                crowded ? 0 : configured.spinNs(),
                configured.yieldRounds(),
                configured.inHandlersNs(),
                isOne(available),
                crowded);
    }
}
