package io.madeleine.mpi.device;

/** What a receive may ask for instead of a rank or a tag. */
final class Wildcards {
    static final int ANY_SOURCE = -1;
    static final int ANY_TAG = -1;

    private Wildcards() {}
}
