package io.madeleine.tm.via.remote;

import io.madeleine.pmm.spi.RemoteMemoryException;
import org.jspecify.annotations.Nullable;

/**
 * Memory of a peer, as operations name it, and the operations that have not left yet.
 *
 * <p>Threading: the final fields for any thread, the others guarded by the lock of {@link Transfers}.
 */
final class Target {
    final long peer;
    final long base;
    final long key;

    @Nullable
    Transfer head;

    @Nullable
    Transfer tail;

    /** How many pieces are under way. */
    int outstanding;

    /** When the provider last took or completed a piece. */
    long progressNs;

    /** Whether it is in the list of targets that have something to do. */
    boolean active;

    /** Whether the owner's process has ended. */
    volatile boolean ownerIsDead;

    /** Whether the owner's revocation has arrived; it is handled in a later poll. */
    volatile boolean revoked;

    /** Why no more operations begin; null as long as they do. */
    @Nullable
    RemoteMemoryException refusal;

    /**
     * A target.
     *
     * @param peer the owner's number in the address vector
     * @param base the address of the first byte, as the provider counts addresses
     * @param key the key of its registration
     */
    Target(long peer, long base, long key) {
        this.peer = peer;
        this.base = base;
        this.key = key;
    }

    void add(Transfer transfer) {
        if (tail == null) {
            head = transfer;
        } else {
            tail.next = transfer;
        }
        tail = transfer;
    }

    void removeHead() {
        Transfer first = head;
        if (first != null) {
            head = first.next;
            first.next = null;
            if (head == null) {
                tail = null;
            }
        }
    }
}
