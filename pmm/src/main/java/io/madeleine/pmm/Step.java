package io.madeleine.pmm;

/** Pending work that the engine retries each round: a send that found no room, a message that is being drained. */
public interface Step {
    /**
     * Does what can be done now. Called by the thread that holds the lead.
     *
     * @return whether the work is finished and needs no further call
     */
    boolean step();
}
