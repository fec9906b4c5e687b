package io.madeleine.bench.measure;

import java.util.Optional;

/**
 * Something that can be measured between two processes of this machine: one of our networks, or somebody else's way to
 * do the same. It stays open between its measurements, and is then idle.
 *
 * <p>Threading: confined to caller, but for {@link #close}, which any thread may call.
 */
public interface Subject extends AutoCloseable {
    /** Whose it is. */
    enum Kind {
        /** Ours. */
        PROTOCOL,
        /** Somebody else's. */
        PEER
    }

    /** Whose it is. */
    Kind kind();

    /** Its name, as in options and results. */
    String name();

    /** What distinguishes it from other subjects of its name: how it waits, and at which layer it is measured. */
    default Variant variant() {
        return Variant.PLAIN;
    }

    /** Why it cannot be measured here, and what to do about it; empty if it can. May take a while. */
    Optional<String> absence();

    /** Whether it has this pattern with messages of this size. */
    boolean has(Pattern pattern, long bytes);

    /** Which transmission module takes a message of this size; empty if there is no such thing. */
    default Optional<String> transmissionModule(long bytes) {
        return Optional.empty();
    }

    /**
     * Starts what has to be started; also again, after {@link #close}.
     *
     * @param memoryBytes how much memory the messages of one direction will need
     * @throws MeasuringException if that fails
     */
    void open(long memoryBytes);

    /**
     * Measures once.
     *
     * @throws MeasuringException if that fails; the subject is to be closed then, and may be opened anew
     */
    Round measure(Order order);

    /** Stops what was started. Idempotent. */
    @Override
    void close();

    /**
     * What tells subjects of one name apart.
     *
     * @param waiting the wait mode, if several are compared
     * @param layer the layer, if several are compared
     * @param setup what is switched on or off, or where it runs, if several are compared
     */
    record Variant(Optional<String> waiting, Optional<String> layer, Optional<String> setup) {
        /** There is only one. */
        public static final Variant PLAIN = new Variant(Optional.empty(), Optional.empty(), Optional.empty());

        /** In brackets behind a name; empty if there is nothing to say. */
        public String suffix() {
            String words = String.join(
                    ", ",
                    java.util.stream.Stream.of(setup, layer, waiting)
                            .flatMap(Optional::stream)
                            .toList());
            return words.isEmpty() ? "" : " (" + words + ")";
        }
    }
}
