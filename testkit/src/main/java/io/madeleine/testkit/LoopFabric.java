package io.madeleine.testkit;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The medium that all "loop" adapters of one test share: where the two ends of a connection meet, and where broken rules
 * are noted, since an error on the session's own thread would be seen by nobody.
 *
 * <p>Threading: thread-safe.
 */
public final class LoopFabric {
    private final AtomicInteger adapterCount = new AtomicInteger();
    private final Map<String, LoopMeeting> meetings = new HashMap<>();
    private final Queue<ContractViolation> violations = new ConcurrentLinkedQueue<>();

    private final Map<Long, LoopRemoteMemory.Export> exports = new ConcurrentHashMap<>();
    private final AtomicLong keyCount = new AtomicLong();
    private volatile boolean still;

    /** A medium that nobody uses yet. */
    public LoopFabric() {}

    /** Lets posted memory rest: nothing of what is under way by modules that post moves, as if a NIC had stopped. */
    public void holdStill(boolean wanted) {
        still = wanted;
    }

    boolean isStill() {
        return still;
    }

    /** The rules that were broken so far. */
    public List<ContractViolation> violations() {
        return new ArrayList<>(violations);
    }

    /** Notes a broken rule and returns what to throw. */
    public ContractViolation violation(String what) {
        ContractViolation violation = new ContractViolation(what);
        violations.add(violation);
        return violation;
    }

    /** The memory that was exported, by its keys. */
    Map<Long, LoopRemoteMemory.Export> exports() {
        return exports;
    }

    long newKey() {
        return keyCount.incrementAndGet();
    }

    String newAddress() {
        return "loop:" + System.identityHashCode(this) + ":" + adapterCount.getAndIncrement();
    }

    /** Who comes first waits, who comes second finds the other. Both then hold the same meeting. */
    synchronized LoopMeeting meet(String place, LoopMeeting.Visitor visitor) {
        LoopMeeting found = meetings.remove(place);
        if (found == null) {
            LoopMeeting waiting = new LoopMeeting(visitor);
            meetings.put(place, waiting);
            return waiting;
        }
        found.complete(visitor);
        return found;
    }

    /** Gives up waiting; false if the other has come meanwhile. */
    synchronized boolean leave(String place, LoopMeeting meeting) {
        @Nullable LoopMeeting waiting = meetings.get(place);
        if (waiting != meeting) {
            return false;
        }
        meetings.remove(place);
        return true;
    }
}
