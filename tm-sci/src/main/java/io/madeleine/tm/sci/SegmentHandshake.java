package io.madeleine.tm.sci;

import io.madeleine.api.SessionException;
import io.madeleine.pmm.handshake.Handshake;
import io.madeleine.pmm.handshake.HandshakeFrames;
import io.madeleine.pmm.handshake.HandshakeLine;
import io.madeleine.pmm.handshake.PendingConnection;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.TransmissionCapabilities;
import io.madeleine.tm.sci.files.SessionDirectory;
import io.madeleine.tm.sci.link.PairHeaderFlyweight;
import io.madeleine.tm.sci.link.PairLayout;
import io.madeleine.tm.sci.link.PairSegment;
import io.madeleine.tm.sci.link.PairSizes;
import io.madeleine.tm.sci.link.SciConnection;
import io.madeleine.tm.sci.memory.OrderedWords;
import io.madeleine.tm.sci.memory.SegmentFile;
import io.madeleine.tm.sci.memory.TruncatedFiles;
import io.madeleine.tm.sci.wake.InboxLayout;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A pair segment during the handshake. The header has one mailbox for each side, which holds the last frame that the
 * side has sent. One frame is enough, because each side waits for the answer before it sends the next. After the
 * handshake the segment becomes the connection.
 *
 * <p>Threading: guarded by the adapter's lock.
 */
final class SegmentHandshake implements HandshakeLine {
    private static final long MIN_BYTES = 4096;
    private static final long MAX_BYTES = 1L << 40;

    private final ConnectionAttempt call;
    private final int side;
    private final Arena arena;
    private final MemorySegment memory;
    private @Nullable Handshake handshake;
    private long lastRead;
    private long sentFrames;
    private boolean connection;

    private SegmentHandshake(ConnectionAttempt call, int side, Arena arena, MemorySegment memory) {
        this.call = call;
        this.side = side;
        this.arena = arena;
        this.memory = memory;
    }

    /**
     * Creates the initiator's segment under a temporary name, fills in its header, and renames the file in one atomic
     * step. The segment is smaller than configured where little memory is left; its header states the sizes.
     *
     * @throws NoRoomException if there is not enough memory
     */
    static SegmentHandshake offer(ConnectionAttempt call, Path file) {
        if (Files.exists(file)) {
            throw new SessionException(call.describe("another request for it is under way (" + file + " exists)"));
        }
        SciAdapter adapter = call.adapter;
        List<TransmissionCapabilities> modules = call.request.modules();
        SciConfig config = adapter.config();
        PairSizes configured =
                PairSizes.chosen(config.shortRingBytes(), config.regularCellBytes(), config.regularCells(), modules);
        PairSizes fitting = configured.within(modules, adapter.directory().bytesToSpare());
        if (!fitting.equals(configured)) {
            adapter.noteThatMemoryIsScarce(configured, fitting);
        }
        long bytes = PairLayout.of(modules, fitting).totalBytes();
        Path unnamed =
                file.resolveSibling(file.getFileName().toString().replace(SessionDirectory.PAIR, SessionDirectory.NEW));
        Arena arena = Arena.ofShared();
        try {
            MemorySegment memory = SegmentFile.create(unnamed, bytes, arena);
            adapter.singleCopy().publish(memory, PairLayout.INITIATOR);
            PairHeaderFlyweight.setSlot(memory, PairLayout.INITIATOR, call.slot);
            PairHeaderFlyweight.write(memory, fitting);
            TruncatedFiles.settle();
            Files.move(unnamed, file, StandardCopyOption.ATOMIC_MOVE);
            return new SegmentHandshake(call, PairLayout.INITIATOR, arena, memory);
        } catch (IOException e) {
            arena.close();
            delete(unnamed);
            throw noRoom(call, bytes, fitting, e);
        } catch (InternalError e) {
            arena.close();
            delete(unnamed);
            throw new SessionException(call.describe("the file " + unnamed + " was cut short by somebody"), e);
        } catch (RuntimeException | Error e) {
            arena.close();
            delete(unnamed);
            throw e;
        }
    }

    private static NoRoomException noRoom(ConnectionAttempt call, long bytes, PairSizes sizes, IOException cause) {
        SessionDirectory directory = call.adapter.directory();
        String what = "cannot reserve " + bytes + " bytes of shared memory (" + sizes + ", both ways) in "
                + directory.path() + ": " + cause.getMessage() + "; " + directory.room(cause, bytes)
                + "; make room, give another directory with " + SciConfig.ROOT + ".directory, or smaller sizes with "
                + SciConfig.ROOT + ".short.ring, .regular.cell and .regular.cells, as conf/many-processes.conf does";
        return new NoRoomException(call.describe(what), cause);
    }

    /**
     * Maps the segment that a peer offers, and deletes its file name, which nobody else needs.
     *
     * @throws IOException if the file cannot be mapped, or was cut short
     * @throws SessionException if another version of Madeleine created it
     */
    static SegmentHandshake map(ConnectionAttempt call, Path file) throws IOException {
        Arena arena = Arena.ofShared();
        try {
            MemorySegment memory = SegmentFile.open(file, MIN_BYTES, MAX_BYTES, arena);
            Files.delete(file);
            SegmentHandshake mapped = new SegmentHandshake(call, PairLayout.ACCEPTOR, arena, memory);
            if (!PairHeaderFlyweight.isOfThisVersion(memory)) {
                mapped.send(HandshakeFrames.reject(HandshakeFrames.OTHER_VERSION));
                throw new SessionException("it was not written by this version of Madeleine; all processes of a session"
                        + " have to use the same version");
            }
            TruncatedFiles.settle();
            return mapped;
        } catch (InternalError e) {
            arena.close();
            throw new IOException("the file was cut short by somebody", e);
        } catch (IOException | RuntimeException | Error e) {
            arena.close();
            throw e;
        }
    }

    static void delete(Path leftover) {
        try {
            Files.deleteIfExists(leftover);
        } catch (IOException _) {
            // The file is deleted with the directory.
        }
    }

    void start(Handshake begun) {
        handshake = begun;
        begun.start();
    }

    /** Passes a new frame of the peer, or the peer's end, to the handshake. */
    void feed(long nowNs) {
        Handshake fed = handshake;
        if (fed == null || fed.isOver()) {
            return;
        }
        // Read before the frame: a frame that the peer wrote before it gave up counts.
        long state = OrderedWords.acquire(memory, PairLayout.state(other()));
        ByteBuffer frame = takeFrame();
        if (frame != null) {
            fed.receive(frame, nowNs);
        } else if (state != 0) {
            fed.fail("the peer has given the connection up", side == PairLayout.INITIATOR);
        }
    }

    private @Nullable ByteBuffer takeFrame() {
        long word = PairHeaderFlyweight.frameWord(memory, other());
        if (word == lastRead) {
            return null;
        }
        lastRead = word;
        return PairHeaderFlyweight.frame(memory, other(), word);
    }

    private int other() {
        return PairLayout.INITIATOR + PairLayout.ACCEPTOR - side;
    }

    @Override
    public String remote() {
        return "process " + call.request.peer();
    }

    @Override
    public void send(byte[] frame) {
        PairHeaderFlyweight.putFrame(memory, side, ++sentFrames, frame);
        VarHandle.fullFence();
        call.peer.announce(InboxLayout.CONTROL_SLOT);
    }

    private void sendLast(byte[] frame) {
        if (frame.length > 0) {
            send(frame);
        }
    }

    @Override
    public void established(PendingConnection granted, byte[] lastFrame) {
        ConnectionRequest request = call.request;
        PairSizes sizes = PairHeaderFlyweight.sizes(memory);
        int peerSlot = PairHeaderFlyweight.slot(memory, other());
        if (granted != call.wanted
                || !sizes.isValid(request.modules())
                || PairLayout.of(request.modules(), sizes).totalBytes() != memory.byteSize()
                || peerSlot <= InboxLayout.CONTROL_SLOT
                || peerSlot >= InboxLayout.SLOTS) {
            refuse("the peer offered a segment for another connection, or one with invalid sizes: " + sizes + " in "
                    + memory.byteSize() + " bytes, slot " + peerSlot);
            return;
        }
        PairLayout layout = PairLayout.of(request.modules(), sizes);
        if (side == PairLayout.ACCEPTOR) {
            call.adapter.singleCopy().publish(memory, side);
            PairHeaderFlyweight.setSlot(memory, side, call.slot);
        }
        connection = true;
        SciConnection made =
                call.adapter.connected(call, new PairSegment(arena, memory, layout, side, call.slot, peerSlot));
        sendLast(lastFrame);
        granted.complete(made);
    }

    /**
     * Refuses a segment that does not fit the agreed connection. If the grant was for another request, that request
     * waits for its own segment again.
     */
    private void refuse(String reason) {
        send(HandshakeFrames.reject(HandshakeFrames.MALFORMED));
        call.cancel(reason);
        Handshake begun = handshake;
        if (begun != null) {
            begun.fail(reason, true);
        }
    }

    @Override
    public void failed(byte[] lastFrame, String reason, boolean decided) {
        if (isWhole()) {
            sendLast(lastFrame);
        }
        call.lineFailed(reason, decided);
    }

    /** Whether the file has not been cut short. */
    boolean isWhole() {
        return TruncatedFiles.isWhole(memory);
    }

    /** Whether the peer has sent a frame, and thus has mapped the segment. */
    boolean isMapped() {
        return lastRead != 0;
    }

    /** Whether the segment has become a connection. */
    boolean isConnection() {
        return connection;
    }

    /** Ends the handshake, tells the peer so, and frees the segment. */
    void close(String reason) {
        if (isWhole()) {
            OrderedWords.setVolatile(memory, PairLayout.state(side), SciConnection.CLOSED);
            VarHandle.fullFence();
            call.peer.announce(InboxLayout.CONTROL_SLOT);
        }
        arena.close();
        Handshake begun = handshake;
        if (begun != null && !begun.isOver()) {
            begun.fail(reason, true);
        }
    }
}
