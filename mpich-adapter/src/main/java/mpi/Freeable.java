package mpi;

/** Something that holds resources until it is freed. */
public interface Freeable {
    /** Frees the resources; {@code isNull()}, where it exists, is true afterwards. */
    void free();
}
