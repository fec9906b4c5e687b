package io.madeleine.mpi.device;

/**
 * What a probe learns of a message.
 *
 * <p>Threading: immutable.
 *
 * @param source the session rank of the sender
 * @param tag the tag
 * @param bytes the length of the body in bytes
 */
public record Envelope(int source, int tag, long bytes) {}
