package io.madeleine.nexus;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Keeps the refused calls of one peer until the peer is notified. The notice waits while anything else is queued for
 * the peer: answers go first, one notice covers many calls, and a caller that learns of its refusal later also repeats
 * its call later.
 *
 * <p>Threading: thread-safe.
 */
final class RefusedCalls {
    private static final int MAX_CALLS = 1 << 17;

    /** The largest number of calls in one notice. */
    private static final int MAX_TOLD = 2_000;

    private final Map<String, List<Long>> calls = new LinkedHashMap<>();
    private int count;
    private volatile boolean any;

    /** Calls that were refused for the same reason. */
    record Some(String why, List<Long> ids) {}

    /** Whether there are refusals to report. */
    boolean any() {
        return any;
    }

    /** Adds a refused call; false if too many are pending. */
    synchronized boolean add(long id, String why) {
        if (count == MAX_CALLS) {
            return false;
        }
        count++;
        calls.computeIfAbsent(why, _ -> new ArrayList<>()).add(id);
        any = true;
        return true;
    }

    /** Takes the calls for one notice; empty if there are none. */
    synchronized Some take() {
        if (calls.isEmpty()) {
            return new Some("", List.of());
        }
        Map.Entry<String, List<Long>> first = calls.entrySet().iterator().next();
        List<Long> all = first.getValue();
        List<Long> last = all.subList(Math.max(0, all.size() - MAX_TOLD), all.size());
        Some taken = new Some(first.getKey(), List.copyOf(last));
        last.clear();
        if (all.isEmpty()) {
            calls.remove(first.getKey());
        }
        count -= taken.ids().size();
        any = count > 0;
        return taken;
    }
}
