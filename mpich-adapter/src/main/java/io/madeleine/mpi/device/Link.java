package io.madeleine.mpi.device;

import org.jspecify.annotations.Nullable;

/** An entry of a {@link MatchTable}: its key, its place in the order of all entries, and its neighbours. */
final class Link<T> {
    final T owner;
    long context;
    int source;
    int tag;
    long sequence;
    boolean isIn;

    @Nullable
    Link<T> previous;

    @Nullable
    Link<T> next;

    Link(T owner) {
        this.owner = owner;
    }

    boolean has(long wantedContext, int wantedSource, int wantedTag) {
        return tag == wantedTag && source == wantedSource && context == wantedContext;
    }
}
