package io.madeleine.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.StaticLink;
import io.madeleine.pmm.spi.TransmissionLink;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.junit.jupiter.api.Test;

/** The contract of the end of a connection: finish, close, giving up, and an adapter that vanishes. */
public interface ConnectionEndContract extends SpiFixture {
    /** More than networks buffer. */
    int CUT_BYTES = 64 << 20;

    @Test
    default void shouldDeliverWhatWasSentBeforeTheFinishAndThenTellOfIt() {
        PacketSeries series = PacketSeries.random(left().link(0).capabilities(), 100, 200, 31);
        PacketSender sender = new PacketSender(left().link(0), series);
        PacketReceiver receiver = new PacketReceiver(right().link(0), series);
        drive(() -> {
            receiver.step();
            return sender.step();
        });
        left().connection().finish();
        drive(() -> {
            receiver.step();
            return receiver.isDone();
        });
        drive(() -> right().lossCount > 0);
        assertTrue(right().lossWasOrderly, right().lossReason);
        drive(() -> right().link(0).front() == LinkStatus.CLOSED);

        transferBack();
    }

    /** The end of one direction does not end the other. */
    private void transferBack() {
        PacketSeries series = PacketSeries.random(left().link(0).capabilities(), 100, 200, 32);
        PacketSender sender = new PacketSender(right().link(0), series);
        PacketReceiver receiver = new PacketReceiver(left().link(0), series);
        drive(() -> {
            receiver.step();
            return sender.step() && receiver.isDone();
        });
        assertEquals(0, left().lossCount);
    }

    @Test
    default void shouldKeepWhatWasSentBeforeTheCloseReadable() {
        PacketSeries series = PacketSeries.random(left().link(0).capabilities(), 4, 200, 33);
        PacketSender sender = new PacketSender(left().link(0), series);
        drive(sender::step);
        left().connection().close();
        settle(); // the loss may be reported now, or when everything has been read
        PacketReceiver receiver = new PacketReceiver(right().link(0), series);
        drive(() -> {
            receiver.step();
            return receiver.isDone();
        });
        drive(() -> right().link(0).front() == LinkStatus.CLOSED);
        drive(() -> right().lossCount > 0);
        expectedOrderOfClosing()
                .ifPresent(expected -> assertEquals(expected, right().lossWasOrderly, right().lossReason));
        assertFalse(right().lossReason.isBlank());
        assertFalse(right().seenAtLoss.isBlank());
    }

    @Test
    default void shouldTellTheSenderWhenThePeerHasClosed() {
        right().connection().close();
        for (int i = 0; i < linkCount(); i++) {
            TransmissionLink link = left().link(i);
            drive(() -> {
                right().poll();
                return sendOne(link) == LinkStatus.CLOSED;
            });
        }
        drive(() -> left().lossCount > 0);
    }

    private static long sendOne(TransmissionLink link) {
        long header = PacketHeader.of(0, 1, 0, PacketHeader.FIRST | PacketHeader.LAST);
        return switch (link) {
            case DynamicLink dynamic -> dynamic.send(header, new BufferGroup(), 0);
            case StaticLink fixed -> {
                long claimed = fixed.claim();
                if (claimed >= 0) {
                    fixed.commit(header);
                    VarHandle.fullFence();
                    fixed.announce();
                }
                yield claimed;
            }
        };
    }

    @Test
    default void shouldAnswerClosedAfterTheOwnCloseHoweverOftenItComes() {
        left().connection().close();
        left().connection().close();
        for (int i = 0; i < linkCount(); i++) {
            assertEquals(LinkStatus.CLOSED, left().link(i).front());
            assertEquals(LinkStatus.CLOSED, sendOne(left().link(i)));
        }
        int before = left().upcallCount;
        settle();
        assertEquals(before, left().upcallCount);
        left().channel.close();
        left().channel.close();
        left().adapter.close();
        left().adapter.close();
    }

    @Test
    default void shouldSurviveThatAnAdapterVanishesWithoutFinish() {
        PacketSeries series = PacketSeries.random(left().link(0).capabilities(), 4, 200, 34);
        drive(new PacketSender(left().link(0), series)::step);
        left().adapter.close();
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        PacketReceiver receiver = new PacketReceiver(right().link(0), series);
        while (!receiver.isDone()) {
            right().poll();
            receiver.step();
            assertTrue(System.nanoTime() - deadlineNs < 0, "packets that were sent before the end did not arrive");
        }
        while (right().lossCount == 0) {
            right().poll();
            assertTrue(System.nanoTime() - deadlineNs < 0, "the loss was never reported");
        }
    }

    @Test
    default void shouldTellThePeerOfAConnectionThatIsGivenUpOtherThanOfAnOrderlyEnd() {
        left().connection().giveUp();
        left().connection().giveUp();
        drive(() -> right().lossCount > 0);
        assertFalse(right().lossWasOrderly, right().lossReason);
        assertFalse(right().lossReason.isBlank());
        assertFalse(right().seenAtLoss.isBlank());
        for (int i = 0; i < linkCount(); i++) {
            assertEquals(LinkStatus.CLOSED, sendOne(left().link(i)));
        }
    }

    /** The rest of the packet never comes: the peer hears of the end all the same, and receives no more. */
    @Test
    default void shouldTellOfAnEndThatCutsAPacket() {
        for (boolean givesUp : new boolean[] {false, true}) {
            SpiEnd sender = newEnd(3);
            SpiEnd receiver = newEnd(4);
            try {
                var ofSender = sender.connect(receiver, true, System.nanoTime() + PATIENCE_NS);
                var ofReceiver = receiver.connect(sender, false, System.nanoTime() + PATIENCE_NS);
                drive(() -> {
                    sender.poll();
                    receiver.poll();
                    return ofSender.isDone() && ofReceiver.isDone();
                });
                sender.use(ofSender.join());
                receiver.use(ofReceiver.join());
                cutAPacket(sender, receiver, givesUp);
            } finally {
                sender.close();
                receiver.close();
            }
        }
    }

    private static void cutAPacket(SpiEnd sender, SpiEnd receiver, boolean givesUp) {
        int last = sender.connection().links().size() - 1;
        if (!(sender.link(last) instanceof DynamicLink out)) {
            return; // a buffer is sent as a whole
        }
        BufferGroup group = new BufferGroup();
        group.add(MemorySegment.ofArray(new byte[CUT_BYTES]), 0, CUT_BYTES);
        long header = PacketHeader.of(CUT_BYTES, 1, 0, PacketHeader.FIRST | PacketHeader.LAST);
        for (int rounds = 0; rounds < 100; rounds++) { // the receiver is not polled
            if (out.send(header, group, 0) != LinkStatus.PENDING) {
                return; // the network takes packets whole
            }
            sender.poll();
        }
        if (givesUp) {
            sender.connection().giveUp();
        } else {
            sender.connection().close();
        }
        TransmissionLink in = receiver.link(last);
        BufferGroup found = new BufferGroup();
        found.add(MemorySegment.ofArray(new byte[CUT_BYTES]), 0, CUT_BYTES);
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        boolean moved = true;
        while (receiver.lossCount == 0 || moved) {
            sender.poll();
            receiver.poll();
            moved = in.front() > 0 && in.receive(found, found.remainingBytes()) > 0;
            assertTrue(
                    System.nanoTime() - deadlineNs < 0,
                    "the end of a connection that cuts a packet was never reported, or its rest comes for ever");
        }
        assertFalse(givesUp && receiver.lossWasOrderly, receiver.lossReason);
    }
}
