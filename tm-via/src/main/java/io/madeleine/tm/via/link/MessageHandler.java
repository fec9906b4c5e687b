package io.madeleine.tm.via.link;

import io.madeleine.api.LossKind;
import io.madeleine.pmm.spi.Blocks;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.tm.via.port.MessageFlyweight;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Handles the messages that arrive for a connection, and checks them: a peer that violates the protocol loses the
 * connection.
 *
 * <p>Threading: the thread that polls.
 */
final class MessageHandler {
    private final ViaConnection connection;
    private final Inbox inbox;
    private final RdmaReceiver receiver;
    private final ControlMessages control;

    MessageHandler(ViaConnection connection, Inbox inbox, RdmaReceiver receiver, ControlMessages control) {
        this.connection = connection;
        this.inbox = inbox;
        this.receiver = receiver;
        this.control = control;
    }

    /** Handles a message; returns whether its slot is kept. */
    boolean handle(int slot, MemorySegment memory, long at, int bytes) {
        long word = MessageFlyweight.word(memory, at);
        int kind = MessageFlyweight.kind(memory, at);
        switch (kind) {
            case MessageFlyweight.PACKET -> {
                return onPacket(slot, word, bytes);
            }
            case MessageFlyweight.CREDIT -> {} // it has been entered
            case MessageFlyweight.HEADER -> onHeader(word, bytes);
            case MessageFlyweight.ANNOUNCE -> onAnnounced(word, bytes);
            case MessageFlyweight.LANDED -> onLanded(memory, at, bytes, word);
            case MessageFlyweight.GRANT -> onGrant(memory, at, bytes);
            case MessageFlyweight.REVOKE -> onRevoke((int) word);
            case MessageFlyweight.REVOKED -> onRevoked(memory, at, bytes);
            case MessageFlyweight.FRAME -> onFrame(memory, at, bytes);
            case MessageFlyweight.FINISH -> connection.finished();
            case MessageFlyweight.END ->
                connection.lost(LossKind.CONNECTION, word == 0 ? "its end was closed" : "the peer has given us up");
            default -> violated("a message of kind " + kind);
        }
        return false;
    }

    private void violated(String what) {
        connection.lost(LossKind.CONNECTION, "it sent " + what);
    }

    private boolean onPacket(int slot, long header, int bytes) {
        if (!PacketHeader.isValid(header) || PacketHeader.payloadBytes(header) != bytes - MessageFlyweight.BYTES) {
            violated("an invalid packet: " + PacketHeader.describe(header) + " in a message of " + bytes + " bytes");
            return false;
        }
        if (connection.isClosed()) {
            return false;
        }
        if (!inbox.add(slot, bytes)) {
            violated("more packets than it has credits for");
            return false;
        }
        connection.activate();
        return true;
    }

    private void onHeader(long header, int bytes) {
        if (!PacketHeader.isValid(header) || bytes != MessageFlyweight.BYTES) {
            violated("an invalid packet: " + PacketHeader.describe(header));
        } else if (!connection.isClosed()) {
            if (receiver.onHeader(header)) {
                connection.activate();
            } else {
                violated("more packets than it has credits for");
            }
        }
    }

    private void onAnnounced(long header, int bytes) {
        RegisteredReceiver registered = connection.registeredReceiver();
        if (registered == null || !PacketHeader.isValid(header) || bytes != MessageFlyweight.BYTES) {
            violated("an invalid packet: " + PacketHeader.describe(header));
        } else if (!connection.isClosed()) {
            if (registered.onAnnounced(header)) {
                connection.activate();
            } else {
                violated("more packets than it has credits for");
            }
        }
    }

    private void onLanded(MemorySegment memory, long at, int bytes, long count) {
        if (count < 1 || count > LandedPieces.MOST || bytes != MessageFlyweight.BYTES + (int) count * Integer.BYTES) {
            violated("a list of landed pieces of " + bytes + " bytes");
            return;
        }
        for (int i = 0; i < count; i++) {
            connection.onWritten(
                    memory.get(Blocks.INT, at + MessageFlyweight.BYTES + (long) i * Integer.BYTES) & 0xFFFFFFFFL);
        }
    }

    private void onGrant(MemorySegment memory, long at, int bytes) {
        RdmaSender sender = connection.sender();
        int count = (bytes - MessageFlyweight.BYTES) / GrantFlyweight.BYTES;
        int first = (int) MessageFlyweight.word(memory, at);
        if (sender == null || !sender.onGrant(memory, at + MessageFlyweight.BYTES, count, first)) {
            violated("a grant that does not follow the last one");
        } else {
            connection.roomMade();
        }
    }

    private void onRevoke(int revocation) {
        if (connection.sender() == null || !control.answer(revocation)) {
            violated("a revocation before the last one was answered");
        }
    }

    private void onRevoked(MemorySegment memory, long at, int bytes) {
        long word = MessageFlyweight.word(memory, at);
        if (bytes != MessageFlyweight.BYTES + Long.BYTES
                || !receiver.onRevoked(
                        (int) (word >>> Integer.SIZE),
                        (int) word,
                        memory.get(Blocks.LONG, at + MessageFlyweight.BYTES))) {
            violated("an answer to no revocation");
        } else {
            connection.activate();
        }
    }

    private void onFrame(MemorySegment memory, long at, int bytes) {
        MemorySegment frame = memory.asSlice(at + MessageFlyweight.BYTES, bytes - MessageFlyweight.BYTES);
        if (!connection.onFrame(frame.toArray(ValueLayout.JAVA_BYTE))) {
            violated("too many frames of the handshake");
        }
    }
}
