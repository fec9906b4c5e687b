package io.madeleine.bench.report;

import java.util.List;

/** Who can be compared with whom: what goes through memory, and what goes through the network stack. */
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

    /** Of one of ours, or of a peer. */
    public static Family of(boolean ours, String name) {
        boolean overStack = STACK_WORDS.stream().anyMatch(name::contains);
        if (ours) { // a family, and perhaps what drives it, as via:tcp
            String family = name.split(":", 2)[0];
            return MEMORY_PROTOCOLS.contains(family) && !overStack ? MEMORY : STACK;
        }
        return overStack ? STACK : MEMORY;
    }
}
