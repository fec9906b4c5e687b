package io.madeleine.pmm;

/**
 * The condition for which a thread waits. Only the waiting thread checks it, often; the check may do a step of work. It
 * is not checked again after it has returned true.
 */
@FunctionalInterface
public interface Condition {
    /** Whether the wait is over. */
    boolean isMet();
}
