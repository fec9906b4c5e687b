package io.madeleine.pmm;

/**
 * What a thread waits for. It is asked often, by the waiting thread only, may do a step of its own, and is not asked
 * again once it has said yes.
 */
@FunctionalInterface
public interface Condition {
    /** Whether the wait is over. */
    boolean isMet();
}
