package io.madeleine.mpi.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.SendTask;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Messages that consist of their header leave in one step if nothing is in their way. */
class PeerTest {
    private static final int CREDIT_BYTES = 64 << 10;

    private final MemorySegment sent = Arena.ofAuto().allocate(Header.BYTES);
    private final List<String> calls = new ArrayList<>();
    private boolean hasRoom = true;

    private final Channel channel = (Channel) Proxy.newProxyInstance(
            Channel.class.getClassLoader(), new Class<?>[] {Channel.class}, (_, method, arguments) -> {
                calls.add(method.getName());
                return switch (method.getName()) {
                    case "newSendTask" ->
                        Proxy.newProxyInstance(
                                SendTask.class.getClassLoader(), new Class<?>[] {SendTask.class}, (_, task, _) -> {
                                    calls.add(task.getName());
                                    return null;
                                });
                    case "trySend" -> {
                        MemorySegment.copy((MemorySegment) arguments[1], 0, sent, 0, Header.BYTES);
                        yield hasRoom;
                    }
                    case "tryBeginPacking" -> Optional.empty();
                    default -> throw new AssertionError("unexpected: " + method);
                };
            });

    private final Peer peer = new Peer(channel, 1, CREDIT_BYTES, false);

    /** A message that consists of its header. */
    private static final class Short extends Outgoing {
        private int ends;

        @Override
        void pack(OutgoingMessage begun, MemorySegment header, int credits) {
            throw new AssertionError("it leaves in one step");
        }

        @Override
        boolean isShort() {
            return true;
        }

        @Override
        void write(MemorySegment header, int credits) {
            Header.write(header, Header.CREDIT, credits, 0, 0, 0, 7);
        }

        @Override
        void ended(@Nullable RuntimeException failure) {
            ends++;
        }
    }

    @Test
    void shouldSendAHeaderInOneStep() {
        calls.clear();
        Short message = new Short();
        assertFalse(peer.owe(5));
        peer.post(message);
        assertEquals(List.of("trySend"), calls);
        assertEquals(1, message.ends);
        assertEquals(5, Header.credits(sent), "it returns credits");
        assertEquals(7, Header.bytes(sent));
        assertFalse(peer.hasQueue());
    }

    @Test
    void shouldQueueAHeaderThatCannotLeaveAndReturnItsCreditsLater() {
        hasRoom = false;
        calls.clear();
        Short first = new Short();
        assertFalse(peer.owe(5));
        peer.post(first);
        peer.post(new Short());
        assertEquals(List.of("trySend", "tryBeginPacking", "schedule", "schedule"), calls);
        assertEquals(0, first.ends);
        assertEquals(2, peer.queued());
    }

    @Test
    void shouldReturnTheCreditsOfAHeaderThatCouldNotLeave() {
        Short first = new Short();
        assertFalse(peer.owe(5));
        hasRoom = false;
        assertFalse(peer.trySendInline(MemorySegment.ofArray(new byte[8]), 0, 8, 3, 4));
        hasRoom = true;
        peer.post(first);
        assertEquals(5, Header.credits(sent));
    }

    @Test
    void shouldSendAShortBodyInItsHeader() {
        MemorySegment body = MemorySegment.ofArray(new long[] {1, 0x1234_5678_9abc_def0L});
        assertTrue(peer.trySendInline(body, 8, 8, 33, 44));
        assertEquals(Header.EAGER, Header.kind(sent));
        assertEquals(33, Header.context(sent));
        assertEquals(44, Header.tag(sent));
        assertEquals(8, Header.bytes(sent));
        assertEquals(0x1234_5678_9abc_def0L, sent.get(ValueLayout.JAVA_LONG_UNALIGNED, Header.INLINE_OFFSET));
    }

    /** One that could not leave pays nothing. */
    @Test
    void shouldPayForAShortBodyThatHasLeft() {
        MemorySegment body = MemorySegment.ofArray(new byte[8]);
        int most = CREDIT_BYTES / Header.CREDIT_BYTES / Peer.cost(8);
        hasRoom = false;
        for (int i = 0; i < 2 * most; i++) {
            assertFalse(peer.trySendInline(body, 0, 8, 3, 4));
        }
        hasRoom = true;
        for (int i = 0; i < most; i++) {
            assertTrue(peer.trySendInline(body, 0, 8, 3, 4), "message " + i + " of " + most);
        }
        assertFalse(peer.trySendInline(body, 0, 8, 3, 4));
        peer.addCredits(Peer.cost(8));
        assertTrue(peer.trySendInline(body, 0, 8, 3, 4));
    }

    @Test
    void shouldLetNoShortBodyOvertakeTheQueue() {
        hasRoom = false;
        peer.post(new Short());
        hasRoom = true;
        assertFalse(peer.trySendInline(MemorySegment.ofArray(new byte[8]), 0, 8, 3, 4));
    }
}
