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
 * The medium that all "loop" adapters of one test share. The two ends of a connection meet here, and broken rules are
 * recorded here, since nobody would see an error on the session's own thread.
 *
 * <p>Threading: thread-safe.
 */
public final class LoopFabric {
    private final AtomicInteger adapterCount = new AtomicInteger();
    private final Map<String, LoopRendezvous> meetings = new HashMap<>();
    private final Queue<ContractViolation> violations = new ConcurrentLinkedQueue<>();

    private final Map<Long, LoopRemoteMemory.Export> exports = new ConcurrentHashMap<>();
    private final AtomicLong keyCount = new AtomicLong();
    private final Queue<LoopPosts> posts = new ConcurrentLinkedQueue<>();
    private volatile boolean still;
    private volatile boolean grasping;

    /** Creates a fabric without adapters. */
    public LoopFabric() {}

    /**
     * Stops or resumes the modules that post: while stopped, nothing that is under way moves, as if a NIC had stalled.
     */
    public void stall(boolean wanted) {
        still = wanted;
    }

    boolean isStalled() {
        return still;
    }

    /**
     * Sets whether the modules that post keep memory of a connection that is lost or given up, until it is closed, as
     * if a NIC took long to release it.
     */
    public void keepMemory(boolean wanted) {
        grasping = wanted;
    }

    boolean keepsMemory() {
        return grasping;
    }

    void add(LoopPosts made) {
        posts.add(made);
    }

    /** Whether a module that posts still reads memory of a sender. */
    public boolean readsMemory() {
        return posts.stream().anyMatch(LoopPosts::holdsMemory);
    }

    /** Whether a module that posts may still write to memory of a receiver. */
    public boolean writesMemory() {
        return posts.stream().anyMatch(LoopPosts::mayWrite);
    }

    /** The rules that were broken so far. */
    public List<ContractViolation> violations() {
        return new ArrayList<>(violations);
    }

    /** Records a broken rule; the caller throws the result. */
    public ContractViolation violation(String what) {
        ContractViolation violation = new ContractViolation(what);
        violations.add(violation);
        return violation;
    }

    /** The exported memory, by key. */
    Map<Long, LoopRemoteMemory.Export> exports() {
        return exports;
    }

    long newKey() {
        return keyCount.incrementAndGet();
    }

    String newAddress() {
        return "loop:" + System.identityHashCode(this) + ":" + adapterCount.getAndIncrement();
    }

    /** Meets the other end: the first caller waits, the second completes the meeting. Both get the same meeting. */
    synchronized LoopRendezvous meet(String place, LoopRendezvous.Visitor visitor) {
        LoopRendezvous found = meetings.remove(place);
        if (found == null) {
            LoopRendezvous waiting = new LoopRendezvous(visitor);
            meetings.put(place, waiting);
            return waiting;
        }
        found.complete(visitor);
        return found;
    }

    /** Stops waiting; false if the other end has come meanwhile. */
    synchronized boolean leave(String place, LoopRendezvous meeting) {
        @Nullable LoopRendezvous waiting = meetings.get(place);
        if (waiting != meeting) {
            return false;
        }
        meetings.remove(place);
        return true;
    }
}
