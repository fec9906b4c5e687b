package io.madeleine.tm.sci;

import static io.madeleine.tm.sci.PairHeaderFlyweight.MAPPED;
import static io.madeleine.tm.sci.PairHeaderFlyweight.NOT_UNDERSTOOD;
import static io.madeleine.tm.sci.PairHeaderFlyweight.OTHER_DIGEST;

import io.madeleine.pmm.spi.ConnectionRequest;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The acceptor's side: waits for the pair segment to appear, maps it, removes its name, checks what its header says, and
 * answers there.
 *
 * <p>Threading: guarded by the adapter's lock.
 */
final class Acceptance extends Handshake {
    private static final long MIN_BYTES = 4096;
    private static final long MAX_BYTES = 1L << 40;

    private final Path file;
    private @Nullable Arena arena;

    Acceptance(SciAdapter adapter, SciChannel channel, ConnectionRequest request, SciPeer peer, int slot) {
        super(adapter, channel, request, peer, slot);
        SessionDirectory directory = adapter.directory();
        file = directory.pairFile(peer.stem(), directory.stem(), channel.hash(), SessionDirectory.PAIR);
    }

    @Override
    void tryStep() {
        if (!peer.hasBell() || !Files.exists(file)) {
            return;
        }
        Arena mapping = Arena.ofShared();
        arena = mapping;
        MemorySegment memory;
        try {
            memory = SegmentFile.open(file, MIN_BYTES, MAX_BYTES, mapping);
            Files.delete(file); // both have mapped it now: it needs no name any more
        } catch (IOException e) {
            throw exception("cannot map " + file + ": " + e.getMessage(), e);
        }
        PairLayout layout = check(memory);
        int peerSlot = PairHeaderFlyweight.initiatorSlot(memory);
        adapter.singleCopy().publish(memory, PairLayout.ACCEPTOR);
        succeed(new PairSegment(mapping, memory, layout, PairLayout.ACCEPTOR, slot, peerSlot));
        answer(memory, MAPPED);
    }

    private PairLayout check(MemorySegment memory) {
        if (!PairHeaderFlyweight.isOfThisVersion(memory)) {
            throw refuse(
                    memory,
                    NOT_UNDERSTOOD,
                    "what it offered was not written by this version of Madeleine;"
                            + " all processes of a session have to use the same");
        }
        PairHeaderFlyweight.Parties expected = channel.parties(request.peer(), adapter.self());
        if (!PairHeaderFlyweight.parties(memory).equals(expected)) {
            throw refuse(memory, NOT_UNDERSTOOD, "what it offered is for another connection or another session");
        }
        long theirDigest = PairHeaderFlyweight.tableDigest(memory);
        if (theirDigest != request.tableDigest()) {
            throw refuse(memory, OTHER_DIGEST, digestsDiffer(theirDigest));
        }
        PairSizes sizes = PairHeaderFlyweight.sizes(memory);
        int peerSlot = PairHeaderFlyweight.initiatorSlot(memory);
        if (!sizes.isValid(request.modules())
                || peerSlot <= InboxLayout.CONTROL_SLOT
                || peerSlot >= InboxLayout.SLOTS) {
            throw refuse(memory, NOT_UNDERSTOOD, "what it offered has impossible sizes: " + sizes);
        }
        PairLayout layout = PairLayout.of(request.modules(), sizes);
        if (layout.totalBytes() != memory.byteSize()) {
            throw refuse(
                    memory,
                    NOT_UNDERSTOOD,
                    "what it offered has " + memory.byteSize() + " bytes, expected " + layout.totalBytes());
        }
        return layout;
    }

    private RuntimeException refuse(MemorySegment memory, long answer, String reason) {
        answer(memory, answer);
        return exception(reason);
    }

    private void answer(MemorySegment memory, long answer) {
        PairHeaderFlyweight.answer(memory, answer, slot, request.tableDigest());
        VarHandle.fullFence();
        peer.announce(InboxLayout.CONTROL_SLOT);
    }

    @Override
    void undo() {
        if (arena != null) {
            arena.close();
            arena = null;
        }
        if (peer.isGone()) {
            removeOffer();
        }
    }

    /** A process that was killed cannot take back what it offered. */
    private void removeOffer() {
        try {
            Files.deleteIfExists(file);
        } catch (IOException _) {
            // it goes with the other files of its maker
        }
    }

    @Override
    String awaited() {
        return peer.hasBell()
                ? "process " + adapter.self() + " waited for " + file + ", but process " + request.peer()
                        + " has not made that"
                : "process " + adapter.self() + " waited for process " + request.peer() + " to dial its bell";
    }
}
