package io.madeleine.pmm;

/** Pending work that the engine retries in each round: a send that found no room, a message to be drained. */
public interface Step {
    /**
     * Does what is possible now. The thread that holds the lead calls this.
     *
     * @return whether the work is finished and needs no further call
     */
    boolean step();
}
