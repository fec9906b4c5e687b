package io.madeleine.testkit.messages;

/** How a peer ends. */
enum PeerEnd {
    CLOSES,
    DIES;

    void befall(LocalSessions sessions, int rank) {
        if (this == DIES) {
            sessions.die(rank);
        } else {
            sessions.session(rank).close();
        }
    }
}
