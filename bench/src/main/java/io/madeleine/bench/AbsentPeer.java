package io.madeleine.bench;

/**
 * A peer that cannot be measured here.
 *
 * @param name the peer
 * @param reason what is missing, and how to get it
 */
record AbsentPeer(String name, String reason) {
    /** One JSON object on one line. */
    String json() {
        return new Json()
                .text("kind", "absent")
                .text("name", name)
                .text("reason", reason)
                .line();
    }
}
