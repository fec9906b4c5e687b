package io.madeleine.nexus;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Calls of one peer that were refused, until the peer has been told: that waits while anything else is to be sent there, so that
 * answers go first, and then one notice tells of many. Who hears of a refusal late asks again late.
 *
 * <p>Threading: thread-safe.
 */
final class RefusedCalls {
    private static final int MAX_CALLS = 1 << 17;

    /** In one notice. */
    private static final int MAX_TOLD = 2_000;

    private final Map<String, List<Long>> calls = new LinkedHashMap<>();
    private int count;
    private volatile boolean any;

    /** Calls that were refused for the same reason. */
    record Some(String why, List<Long> ids) {}

    /** Whether there is somebody to tell. */
    boolean any() {
        return any;
    }

    /** Adds one; false if too many wait already. */
    synchronized boolean add(long id, String why) {
        if (count == MAX_CALLS) {
            return false;
        }
        count++;
        calls.computeIfAbsent(why, _ -> new ArrayList<>()).add(id);
        any = true;
        return true;
    }

    /** Takes those for one notice; none if there is nobody to tell. */
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
