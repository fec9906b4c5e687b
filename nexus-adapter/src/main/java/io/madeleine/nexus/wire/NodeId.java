package io.madeleine.nexus.wire;

import io.madeleine.nexus.NexusException;

/**
 * The worldwide identity of a context: the session and the rank of its process.
 *
 * @param session the session's name, see {@code KeyTree}
 * @param channel the name of the first of the context's channels
 * @param rank the process in the session
 */
public record NodeId(String session, String channel, int rank) {
    /** The largest length of each text, in characters. */
    private static final int MAX_LENGTH = 200;

    public NodeId {
        if (session.length() > MAX_LENGTH || channel.length() > MAX_LENGTH || rank < 0) {
            throw new NexusException("a node id with a name of " + Math.max(session.length(), channel.length())
                    + " characters and rank " + rank + ": expected up to " + MAX_LENGTH
                    + " characters and a rank of at least 0");
        }
    }

    public boolean isOfSameSessionAs(NodeId other) {
        return session.equals(other.session) && channel.equals(other.channel);
    }

    @Override
    public String toString() {
        return "rank " + rank + " of session " + session + ", channel " + channel;
    }
}
