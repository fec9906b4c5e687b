package io.madeleine.mpi.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.SendTask;
import io.madeleine.api.Session;
import io.madeleine.api.Signal;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Short messages leave in one step if nothing is in their way. */
class PeerTest {
    private static final int CREDIT_BYTES = 64 << 10;
    private static final Faults NO_FAULTS = new Faults((Session)
            Proxy.newProxyInstance(Session.class.getClassLoader(), new Class<?>[] {Session.class}, (_, method, _) -> {
                throw new AssertionError("unexpected: " + method);
            }));

    private final MemorySegment sent = Arena.ofAuto().allocate(Header.BYTES + NowHeaders.BODY_BYTES);
    private final List<String> calls = new ArrayList<>();
    private boolean hasRoom = true;
    private long sentBytes;

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
                        MemorySegment blocks = (MemorySegment) arguments[1];
                        long bytes = (long) arguments[3] + (arguments.length == 7 ? (long) arguments[4] : 0);
                        MemorySegment.copy(blocks, (long) arguments[2], sent, 0, bytes);
                        sentBytes = bytes;
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
        byte kind() {
            return Header.CREDIT;
        }

        @Override
        long bytesBehind() {
            return 0;
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
        assertFalse(peer.trySendEager(MemorySegment.ofArray(new byte[8]), 0, 8, 3, 4));
        hasRoom = true;
        peer.post(first);
        assertEquals(5, Header.credits(sent));
    }

    @Test
    void shouldSendAShortBodyBehindItsHeader() {
        MemorySegment body = MemorySegment.ofArray(new long[] {1, 0x1234_5678_9abc_def0L});
        assertTrue(peer.trySendEager(body, 8, 8, 33, 44));
        assertEquals(Header.EAGER, Header.kind(sent));
        assertEquals(33, Header.context(sent));
        assertEquals(44, Header.tag(sent));
        assertEquals(8, Header.bytes(sent));
        assertEquals(0, Header.sender(sent));
        assertEquals(24, sentBytes, "half a cache line with the 8 bytes of the packet");
        assertEquals(0x1234_5678_9abc_def0L, sent.get(ValueLayout.JAVA_LONG_UNALIGNED, Header.EAGER_BYTES));
    }

    @Test
    void shouldSendALongerBodyBehindItsHeader() {
        byte[] bytes = new byte[NowHeaders.BODY_BYTES];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (i * 31);
        }
        MemorySegment body = MemorySegment.ofArray(bytes);
        for (int length : new int[] {25, 1000, NowHeaders.BODY_BYTES - 5}) {
            assertTrue(peer.trySendEager(body, 5, length, 33, 44));
            assertEquals(length, Header.bytes(sent));
            assertEquals(Header.EAGER_BYTES + length, sentBytes);
            assertEquals(
                    -1, body.asSlice(5, length).mismatch(sent.asSlice(Header.EAGER_BYTES, length)), length + " bytes");
            peer.addCredits(Peer.cost(length));
        }
    }

    /** As those of collective operations, which nobody waits for one by one. */
    @Test
    void shouldSendTheShortBodyOfAnOperationInOneStep() {
        Signal signal = (Signal)
                Proxy.newProxyInstance(Signal.class.getClassLoader(), new Class<?>[] {Signal.class}, (_, _, _) -> null);
        SendOperation send = new SendOperation(signal, new OperationTable<>(), new Controls(), NO_FAULTS, 1 << 20);
        byte[] bytes = new byte[NowHeaders.BODY_BYTES];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (i * 37);
        }
        MemorySegment body = MemorySegment.ofArray(bytes);
        for (int length : new int[] {0, 24, 25, NowHeaders.BODY_BYTES - 3}) {
            calls.clear();
            send.prepare(SendMode.STANDARD, 1, 33, 44).payload().set(body, 3, length);
            send.start();
            send.sendEager(peer, 0);
            assertEquals(List.of("trySend"), calls, length + " bytes");
            assertTrue(send.isDone());
            assertEquals(length, Header.bytes(sent));
            assertEquals(Header.EAGER_BYTES + length, sentBytes);
            assertEquals(
                    -1, body.asSlice(3, length).mismatch(sent.asSlice(Header.EAGER_BYTES, length)), length + " bytes");
        }
    }

    @Test
    void shouldReturnWithAnEagerMessageAsManyCreditsAsItsHeaderHoldsAndTheRestLater() {
        MemorySegment body = MemorySegment.ofArray(new byte[8]);
        boolean _ = peer.owe(Header.MOST_EAGER_CREDITS + 3);
        assertTrue(peer.trySendEager(body, 0, 8, 3, 4));
        assertEquals(Header.MOST_EAGER_CREDITS, Header.credits(sent));
        assertEquals(8, Header.bytes(sent));
        assertTrue(peer.trySendEager(body, 0, 8, 3, 4));
        assertEquals(3, Header.credits(sent));
        assertEquals(0, peer.takeOwed(Integer.MAX_VALUE));
    }

    @Test
    void shouldTellTheLongestEagerMessage() {
        Header.writeEager(sent, Header.MOST_EAGER_CREDITS, Long.MIN_VALUE + 7, -1, Header.MOST_EAGER_BYTES);
        assertEquals(Header.EAGER, Header.kind(sent));
        assertEquals(Header.MOST_EAGER_CREDITS, Header.credits(sent));
        assertEquals(Long.MIN_VALUE + 7, Header.context(sent));
        assertEquals(-1, Header.tag(sent));
        assertEquals(Header.MOST_EAGER_BYTES, Header.bytes(sent));
    }

    /** The handler notes several together, but no more than a 16th of all. */
    @Test
    void shouldReturnTheCreditsThatTheHandlerOwesSeveralAtATime() {
        int all = CREDIT_BYTES / Header.CREDIT_BYTES;
        int returned = 0;
        for (int i = 0; i < all; i++) {
            boolean _ = peer.oweByHandler(1);
            returned += peer.takeOwed(Integer.MAX_VALUE);
            assertTrue(i + 1 - returned < all / 16, returned + " of " + (i + 1));
        }
    }

    @Test
    void shouldAskForAMessageOfItsOwnOnceTheHandlerOwesAQuarter() {
        int asked = 0;
        for (int i = 0; i < CREDIT_BYTES / Header.CREDIT_BYTES / 2; i++) {
            asked += peer.oweByHandler(1) ? 1 : 0;
        }
        assertEquals(1, asked);
    }

    /** The first message may have found few: others had taken them, and gave them back. */
    @Test
    void shouldAskForAnotherMessageWhenTheHandlerOwesThreeQuarters() {
        int asked = 0;
        int all = CREDIT_BYTES / Header.CREDIT_BYTES;
        for (int i = 0; i < all; i++) {
            asked += peer.oweByHandler(1) ? 1 : 0;
        }
        assertEquals(2, asked);
        assertEquals(all, peer.takeOwed(Integer.MAX_VALUE));
    }

    /** One that could not leave pays nothing. */
    @Test
    void shouldPayForAShortBodyThatHasLeft() {
        MemorySegment body = MemorySegment.ofArray(new byte[8]);
        int most = CREDIT_BYTES / Header.CREDIT_BYTES / Peer.cost(8);
        hasRoom = false;
        for (int i = 0; i < 2 * most; i++) {
            assertFalse(peer.trySendEager(body, 0, 8, 3, 4));
        }
        hasRoom = true;
        for (int i = 0; i < most; i++) {
            assertTrue(peer.trySendEager(body, 0, 8, 3, 4), "message " + i + " of " + most);
        }
        assertFalse(peer.trySendEager(body, 0, 8, 3, 4));
        peer.addCredits(Peer.cost(8));
        assertTrue(peer.trySendEager(body, 0, 8, 3, 4));
    }

    @Test
    void shouldLetNoShortBodyOvertakeTheQueue() {
        hasRoom = false;
        peer.post(new Short());
        hasRoom = true;
        assertFalse(peer.trySendEager(MemorySegment.ofArray(new byte[8]), 0, 8, 3, 4));
    }
}
