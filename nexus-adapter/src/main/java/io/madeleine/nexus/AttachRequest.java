package io.madeleine.nexus;

/**
 * A request of a context of another session to attach.
 *
 * @param path the path of the URL without the leading slash; empty if there is none
 * @param address the remote address, {@code host:port}
 * @param session the name of its session: the session's id and a digest that only that session's processes can prove
 * @param rank its rank in that session, which it has proved
 */
public record AttachRequest(String path, String address, String session, int rank) {}
