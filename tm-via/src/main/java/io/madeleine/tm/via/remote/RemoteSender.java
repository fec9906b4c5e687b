package io.madeleine.tm.via.remote;

import io.madeleine.tm.via.ffi.FabricException;
import io.madeleine.tm.via.ffi.Flags;
import io.madeleine.tm.via.port.Completion;
import io.madeleine.tm.via.port.MessageFlyweight;
import io.madeleine.tm.via.port.Slab;
import io.madeleine.tm.via.port.ViaPort;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Sends the messages of remote memory. What the provider does not take at once leaves in later polls; what it does not
 * take for a long time is dropped.
 *
 * <p>Threading: thread-safe.
 */
final class RemoteSender implements Completion {
    private static final int SLOTS = 8;
    private static final int SLOT_BYTES = 2048;
    private static final int PAYLOAD_AT = MessageFlyweight.BYTES;
    private static final long DROP_NS = 10_000_000_000L;

    private final RemoteHome home;
    private final ViaPort port;
    private final MessageProofs proofs;
    private final BiConsumer<RemoteMessage, String> whenFailed;
    private final Deque<Queued> queue = new ArrayDeque<>();
    private final @Nullable Queued[] inSlots = new Queued[SLOTS];
    private final Deque<Runnable> failures = new ArrayDeque<>();
    private @Nullable Slab slab;
    private int firstOperation;
    private volatile boolean behind;

    private record Queued(long peer, RemoteMessage message, long sinceNs) {}

    /** A sender without memory; it takes it with the first message. */
    RemoteSender(RemoteHome home, MessageProofs proofs, BiConsumer<RemoteMessage, String> whenFailed) {
        this.home = home;
        this.port = home.port();
        this.proofs = proofs;
        this.whenFailed = whenFailed;
    }

    /** Whether {@link #flush} has something to do. */
    boolean isBehind() {
        return behind;
    }

    /**
     * Takes memory for messages if there is none yet; no message of another process is answered before.
     *
     * @throws FabricException if it cannot be registered
     */
    synchronized void open() {
        if (slab == null) {
            slab = port.newSlab((long) SLOTS * SLOT_BYTES, Flags.FI_SEND);
            firstOperation = port.newOperations(this, SLOTS);
        }
    }

    /** Sends a message to a peer that is in use; it stays so until the message has left. */
    void send(long peer, RemoteMessage message) {
        synchronized (this) {
            open();
            home.keepPeer(peer);
            queue.add(new Queued(peer, message, System.nanoTime()));
            behind = true;
        }
        flush();
        port.outstanding().need();
    }

    /** Sends what waits. */
    void flush() {
        if (!behind) {
            return;
        }
        synchronized (this) {
            for (Iterator<Queued> left = queue.iterator(); left.hasNext(); ) {
                Queued next = left.next();
                int slot = freeSlot();
                if (slot < 0) {
                    break;
                }
                if (post(slot, next)) {
                    left.remove();
                } else if (System.nanoTime() - next.sinceNs > DROP_NS) {
                    left.remove();
                    home.releasePeer(next.peer);
                }
            }
            behind = !queue.isEmpty() || !failures.isEmpty();
        }
        tellFailures();
    }

    private void tellFailures() {
        while (true) {
            Runnable next;
            synchronized (this) {
                next = failures.poll();
            }
            if (next == null) {
                return;
            }
            next.run();
        }
    }

    private int freeSlot() {
        for (int i = 0; i < SLOTS; i++) {
            if (inSlots[i] == null) {
                return i;
            }
        }
        return -1;
    }

    private boolean post(int slot, Queued queued) {
        Slab memory = slab;
        if (memory == null) {
            return false;
        }
        RemoteMessage message = queued.message;
        byte[] payload = message.payload(proofs);
        long at = (long) slot * SLOT_BYTES;
        MessageFlyweight.address(
                memory.memory(), at, MessageFlyweight.NO_CONNECTION, message.kind(), message.key(), message.number());
        MessageFlyweight.credits(memory.memory(), at, 0, 0, 0);
        MemorySegment.copy(payload, 0, memory.memory(), ValueLayout.JAVA_BYTE, at + PAYLOAD_AT, payload.length);
        inSlots[slot] = queued;
        int result = port.sendWithCompletion(
                memory.address() + at,
                PAYLOAD_AT + payload.length,
                memory.descriptor(),
                queued.peer,
                firstOperation + slot);
        if (result == ViaPort.BEGUN) {
            return true;
        }
        inSlots[slot] = null;
        if (result == ViaPort.AGAIN) {
            return false;
        }
        home.releasePeer(queued.peer);
        failures.add(() -> whenFailed.accept(message, port.errorText(result)));
        return true;
    }

    /** Whether nothing waits or is under way. */
    synchronized boolean isIdle() {
        for (Queued each : inSlots) {
            if (each != null) {
                return false;
            }
        }
        return queue.isEmpty();
    }

    @Override
    public synchronized void completed(int tag, long bytes) {
        Queued sent = inSlots[tag];
        inSlots[tag] = null;
        if (sent != null) {
            home.releasePeer(sent.peer);
        }
    }

    @Override
    public synchronized void failed(int tag, int code, String reason) {
        Queued sent = inSlots[tag];
        inSlots[tag] = null;
        if (sent != null) {
            home.releasePeer(sent.peer);
            failures.add(() -> whenFailed.accept(sent.message, reason)); // in the next poll
            behind = true;
        }
    }

    /** Frees the memory; the endpoint is closed. */
    synchronized void close() {
        Slab memory = slab;
        if (memory != null) {
            memory.close();
        }
    }
}
