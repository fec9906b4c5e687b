package io.madeleine.mpi.device;

/** When a send is done. */
public enum SendMode {
    /** When its memory may be reused: the message may wait at the receiver. */
    STANDARD,

    /** When its memory may be reused and the message has been matched. */
    SYNCHRONOUS
}
