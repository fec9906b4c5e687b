package io.madeleine.tm.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.ReceiveMode;
import io.madeleine.api.SendMode;
import io.madeleine.pmm.WaitMode;
import io.madeleine.pmm.WaitPolicy;
import io.madeleine.testkit.messages.LocalSessions;
import io.madeleine.tm.tcp.GuestContractTest.Guest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;

/** Sessions that sleep in a reactor that is not tcp's. */
@DisabledIfSystemProperty(
        named = "madeleine.test.tcp.io",
        matches = "epoll",
        disabledReason = "Netty's epoll handles what it waits for")
class GuestSessionTest {
    private static final int EXCHANGES = 200;

    private static LocalSessions newSessions() {
        return LocalSessions.of(2)
                .network("tcp", _ -> Guest.newGuest())
                .waiting(new WaitPolicy(WaitMode.BLOCK, 0, 0))
                .open();
    }

    private static void send(Channel channel, int to, MemorySegment block) {
        try (OutgoingMessage out = channel.beginPacking(to)) {
            out.pack(block, SendMode.CHEAPER, ReceiveMode.CHEAPER);
            out.endPacking();
        }
    }

    private static void receive(Channel channel, MemorySegment block) {
        try (IncomingMessage in = channel.beginUnpacking()) {
            in.unpack(block, SendMode.CHEAPER, ReceiveMode.CHEAPER);
            in.endUnpacking();
        }
    }

    private static void answer(Channel channel) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment block = arena.allocate(Integer.BYTES);
            for (int i = 0; i < EXCHANGES; i++) {
                receive(channel, block);
                block.set(ValueLayout.JAVA_INT, 0, block.get(ValueLayout.JAVA_INT, 0) + 1);
                send(channel, 0, block);
            }
        }
    }

    @Test
    @Timeout(30)
    void shouldAnswerEachOtherThoughBothSleepAfterEachMessage() throws InterruptedException {
        try (LocalSessions sessions = newSessions();
                Arena arena = Arena.ofConfined()) {
            Thread peer = Thread.ofPlatform().start(() -> answer(sessions.channel(1)));
            MemorySegment block = arena.allocate(Integer.BYTES);
            for (int i = 0; i < EXCHANGES; i++) {
                block.set(ValueLayout.JAVA_INT, 0, 2 * i);
                send(sessions.channel(0), 1, block);
                receive(sessions.channel(0), block);
                assertEquals(2 * i + 1, block.get(ValueLayout.JAVA_INT, 0));
            }
            peer.join();
        }
    }

    @Test
    @Timeout(30)
    void shouldLeaveNoThreadBehindWhenTheSessionsAreClosed() {
        newSessions().close();
        long beganNs = System.nanoTime();
        while (isAThreadInTheLoop()) { // who closes waits for it for a while only
            assertTrue(System.nanoTime() - beganNs < 20_000_000_000L, "a thread in the loop goes on");
            Thread.onSpinWait();
        }
    }

    private static boolean isAThreadInTheLoop() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().startsWith("madeleine-tcp-loop"));
    }
}
