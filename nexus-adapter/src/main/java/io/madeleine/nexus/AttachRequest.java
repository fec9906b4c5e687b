package io.madeleine.nexus;

/**
 * A context that wants to attach.
 *
 * @param path what the URL has behind host and port, without the slash; empty if nothing
 * @param address where it comes from, {@code host:port}
 * @param session the name of its session, which only that session's processes can show: it begins with the session's id
 * @param rank its rank there, which it has proved
 */
public record AttachRequest(String path, String address, String session, int rank) {}
