package io.madeleine.nexus;

/**
 * A context that wants to attach.
 *
 * @param path what the URL has behind host and port, without the slash; empty if nothing
 * @param address where it comes from, {@code host:port}
 * @param session the id of its session
 * @param rank its rank there
 */
public record AttachRequest(String path, String address, String session, int rank) {}
