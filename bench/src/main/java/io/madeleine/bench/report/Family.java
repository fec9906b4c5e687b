package io.madeleine.bench.report;

import java.util.List;

/** Subjects that can be compared: those that go through memory, and those that go through the network stack. */
public enum Family {
    /** Through memory. */
    MEMORY("Through shared memory"),
    /** Through the network stack. */
    STACK("Through the network stack");

    private static final List<String> MEMORY_PROTOCOLS = List.of("sci", "via");
    private static final List<String> STACK_WORDS = List.of("tcp", "udp", "uds", "net", "nio", "grpc", "socket");

    private final String title;

    Family(String title) {
        this.title = title;
    }

    String title() {
        return title;
    }

    /** The family of one of our networks, or of a peer. */
    public static Family of(boolean ours, String name) {
        boolean overStack = STACK_WORDS.stream().anyMatch(name::contains);
        if (ours) { // a family, and perhaps what drives it, as via:tcp
            String family = name.split(":", 2)[0];
            return MEMORY_PROTOCOLS.contains(family) && !overStack ? MEMORY : STACK;
        }
        return overStack ? STACK : MEMORY;
    }
}
