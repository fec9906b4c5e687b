package io.madeleine.tm.sci;

import static io.madeleine.tm.sci.PairHeaderFlyweight.MAPPED;
import static io.madeleine.tm.sci.PairHeaderFlyweight.OTHER_DIGEST;

import io.madeleine.pmm.spi.ConnectionRequest;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * The initiator's side: makes the pair segment under a name that nobody looks for, fills in its header, and gives it its
 * name in one step; then waits for the acceptor's answer. Where little memory is left the segment is smaller than
 * configured: the sizes stand in its header.
 *
 * <p>Threading: guarded by the adapter's lock.
 */
final class Offer extends Handshake {
    private final Path file;
    private final PairLayout layout;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;

    Offer(SciAdapter adapter, SciChannel channel, ConnectionRequest request, SciPeer peer, int slot) {
        super(adapter, channel, request, peer, slot);
        SessionDirectory directory = adapter.directory();
        file = directory.pairFile(directory.stem(), peer.stem(), channel.hash(), SessionDirectory.PAIR);
        PairSizes sizes = fittingSizes();
        layout = PairLayout.of(request.modules(), sizes);
        Path unnamed = directory.pairFile(directory.stem(), peer.stem(), channel.hash(), SessionDirectory.NEW);
        if (Files.exists(file)) {
            arena.close();
            throw exception("one is being made already");
        }
        try {
            memory = SegmentFile.create(unnamed, layout.totalBytes(), arena);
            adapter.singleCopy().publish(memory, PairLayout.INITIATOR);
            PairHeaderFlyweight.write(
                    memory, channel.parties(adapter.self(), request.peer()), sizes, request.tableDigest(), slot);
            Files.move(unnamed, file, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            arena.close();
            delete(unnamed);
            throw noRoom(
                    "cannot reserve " + layout.totalBytes() + " bytes of shared memory (" + sizes + ", both ways) in "
                            + directory.path() + ": " + e.getMessage() + "; " + directory.room(e, layout.totalBytes())
                            + "; make room, give another place with " + SciConfig.ROOT
                            + ".directory, or smaller sizes with " + SciConfig.ROOT + ".short.ring, .regular.cell and"
                            + " .regular.cells, as conf/many-processes.conf does",
                    e);
        }
        VarHandle.fullFence();
        peer.announce(InboxLayout.CONTROL_SLOT);
    }

    private PairSizes fittingSizes() {
        PairSizes configured = PairSizes.chosen(adapter.config(), request.modules());
        PairSizes fitting =
                configured.within(request.modules(), adapter.directory().bytesToSpare());
        if (!fitting.equals(configured)) {
            adapter.noteThatMemoryIsScarce(configured, fitting);
        }
        return fitting;
    }

    @Override
    void tryStep() {
        long answer = PairHeaderFlyweight.answer(memory);
        if (answer == 0 || answer == MAPPED && !peer.hasBell()) {
            return;
        }
        if (answer == OTHER_DIGEST) {
            throw exception(digestsDiffer(PairHeaderFlyweight.acceptorDigest(memory)));
        }
        int peerSlot = PairHeaderFlyweight.acceptorSlot(memory);
        if (answer != MAPPED || peerSlot <= InboxLayout.CONTROL_SLOT || peerSlot >= InboxLayout.SLOTS) {
            throw exception("its process could make nothing of the shared memory it was offered; all processes of a"
                    + " session have to use the same version of Madeleine");
        }
        succeed(new PairSegment(arena, memory, layout, PairLayout.INITIATOR, slot, peerSlot));
    }

    @Override
    boolean isWhole() {
        return CutMemory.isWhole(memory);
    }

    @Override
    void undo() {
        if (!isWhole()) {
            delete(file);
            arena.close();
            return;
        }
        Words.setVolatile(memory, PairLayout.state(PairLayout.INITIATOR), SciConnection.CLOSED); // mapped too late
        delete(file);
        arena.close();
    }

    private static void delete(Path leftover) {
        try {
            Files.deleteIfExists(leftover);
        } catch (IOException _) {
            // it goes with the directory
        }
    }

    @Override
    String awaited() {
        return "process " + adapter.self() + " offered it in " + file + ", but process " + request.peer()
                + " has not mapped that";
    }
}
