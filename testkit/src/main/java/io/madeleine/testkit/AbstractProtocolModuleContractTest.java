package io.madeleine.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.MadeleineException;
import io.madeleine.pmm.spi.BufferGroup;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.DynamicLink;
import io.madeleine.pmm.spi.LinkStatus;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.ProtocolChannel;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.StaticLink;
import io.madeleine.pmm.spi.TransmissionLink;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The contract of every protocol module, tested between two adapters in one process. The test of a family extends this
 * class and says how its drivers are made.
 */
public abstract class AbstractProtocolModuleContractTest extends ProgressContract {
    private static final long SHORT_NS = 100_000_000;

    /** Much longer than that: a busy machine may hold this thread up. */
    private static final long LONG_NS = 3_000_000_000L;

    /** More than networks buffer. */
    private static final int CUT_BYTES = 64 << 20;

    /**
     * Whether a connection that is closed without {@code finish} looks orderly to the peer; by default either is
     * accepted.
     */
    protected Optional<Boolean> closingIsOrderly() {
        return Optional.empty();
    }

    private static String failure(CompletableFuture<?> future) {
        CompletionException thrown = assertThrows(CompletionException.class, future::join);
        return String.valueOf(
                assertInstanceOf(MadeleineException.class, thrown.getCause()).getMessage());
    }

    @Test
    void shouldSayWhatItIs() {
        assertFalse(left.driver.name().isBlank());
        assertTrue(left.driver.availability().on(), left.driver.availability().reason());
        assertFalse(left.driver.availability().reason().isBlank());
        assertFalse(left.driver.adapterNames().isEmpty());
        assertEquals(left.driver.adapterNames().getFirst(), left.adapter.name());
        assertTrue(left.adapter.address().length() <= 1024);
        assertEquals(Optional.empty(), left.adapter.unreachable(right.adapter.address()));
        assertTrue(left.adapter.unreachable("an address of nobody").isPresent());
        assertEquals(right.identity, left.connection().peer());
        assertEquals(left.identity, right.connection().peer());
        assertTrue(left.connection().bidirectional());
    }

    // ---- connecting

    @Test
    void shouldRefuseAnUnequalDigestAtBothEnds() {
        ProtocolChannel mine = left.adapter.openChannel("digests");
        ProtocolChannel theirs = right.adapter.openChannel("digests");
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        ConnectionRequest request = left.request(right, true, deadlineNs);
        var ofLeft = mine.connect(new ConnectionRequest(
                request.peer(), request.peerAddress(), true, request.modules(), request.tableDigest() + 1, deadlineNs));
        var ofRight = theirs.connect(right.request(left, false, deadlineNs));
        drive(() -> ofLeft.isDone() && ofRight.isDone());
        assertTrue(failure(ofLeft).contains("digest"), () -> failure(ofLeft));
        assertTrue(failure(ofRight).contains("digest"), () -> failure(ofRight));
    }

    @Test
    @Tag("measures")
    void shouldNameBothSidesWhenConnectingTakesTooLong() {
        for (boolean initiator : new boolean[] {true, false}) {
            ProtocolChannel alone = left.adapter.openChannel("alone-" + initiator);
            var future = alone.connect(left.request(right, initiator, System.nanoTime() + SHORT_NS));
            long startNs = System.nanoTime();
            drive(future::isDone);
            assertTrue(System.nanoTime() - startNs < LONG_NS, "connecting took much longer than its deadline");
            String message = failure(future);
            assertTrue(message.contains(right.identity.toString()), message);
            assertTrue(message.contains(left.identity.toString()) || message.contains("this side"), message);
        }
    }

    @Test
    void shouldGiveUpConnectingWhenTheChannelIsClosed() {
        ProtocolChannel alone = left.adapter.openChannel("given-up");
        var future = alone.connect(left.request(right, true, System.nanoTime() + PATIENCE_NS));
        left.poll();
        alone.close();
        alone.close();
        drive(future::isDone);
        assertThrows(CompletionException.class, future::join);
    }

    @Test
    void shouldConnectWhoeverComesFirst() {
        for (boolean leftFirst : new boolean[] {true, false}) {
            for (boolean leftInitiates : new boolean[] {true, false}) {
                String name = "order-" + leftFirst + leftInitiates;
                SpiEnd first = leftFirst ? left : right;
                SpiEnd second = leftFirst ? right : left;
                long deadlineNs = System.nanoTime() + PATIENCE_NS;
                var early = first.adapter
                        .openChannel(name)
                        .connect(first.request(second, leftInitiates == leftFirst, deadlineNs));
                settle();
                assertFalse(early.isDone());
                var late = second.adapter
                        .openChannel(name)
                        .connect(second.request(first, leftInitiates != leftFirst, deadlineNs));
                drive(() -> early.isDone() && late.isDone());
                assertEquals(second.identity, early.join().peer());
                assertEquals(first.identity, late.join().peer());
            }
        }
    }

    @Test
    void shouldKeepTheChannelsApart() {
        int count = 4;
        ProtocolConnection[] mine = new ProtocolConnection[count];
        ProtocolConnection[] theirs = new ProtocolConnection[count];
        for (int i = 0; i < count; i++) {
            long deadlineNs = System.nanoTime() + PATIENCE_NS;
            var ofLeft = left.adapter.openChannel("channel-" + i).connect(left.request(right, i % 2 == 0, deadlineNs));
            var ofRight =
                    right.adapter.openChannel("channel-" + i).connect(right.request(left, i % 2 != 0, deadlineNs));
            drive(() -> ofLeft.isDone() && ofRight.isDone());
            mine[i] = ofLeft.join();
            theirs[i] = ofRight.join();
        }
        for (int i = 0; i < count; i++) {
            PacketSeries series = PacketSeries.random(left.link(0).capabilities(), 10 + i, 2000, i);
            PacketSender sender = new PacketSender(mine[i].links().getFirst(), series);
            PacketReceiver receiver = new PacketReceiver(theirs[i].links().getFirst(), series);
            for (int k = 0; k < count; k++) {
                assertEquals(0, theirs[k].links().getFirst().front());
            }
            transfer(sender, receiver);
        }
    }

    // ---- the end

    @Test
    void shouldDeliverWhatWasSentBeforeTheFinishAndThenTellOfIt() {
        PacketSeries series = PacketSeries.random(left.link(0).capabilities(), 100, 200, 31);
        PacketSender sender = new PacketSender(left.link(0), series);
        PacketReceiver receiver = new PacketReceiver(right.link(0), series);
        drive(() -> {
            receiver.step();
            return sender.step();
        });
        left.connection().finish();
        drive(() -> {
            receiver.step();
            return receiver.isDone();
        });
        drive(() -> right.lossCount > 0);
        assertTrue(right.lossWasOrderly, right.lossReason);
        drive(() -> right.link(0).front() == LinkStatus.CLOSED);

        transferBack();
    }

    /** The end of one direction does not end the other. */
    private void transferBack() {
        PacketSeries series = PacketSeries.random(left.link(0).capabilities(), 100, 200, 32);
        PacketSender sender = new PacketSender(right.link(0), series);
        PacketReceiver receiver = new PacketReceiver(left.link(0), series);
        drive(() -> {
            receiver.step();
            return sender.step() && receiver.isDone();
        });
        assertEquals(0, left.lossCount);
    }

    @Test
    void shouldKeepWhatWasSentBeforeTheCloseReadable() {
        PacketSeries series = PacketSeries.random(left.link(0).capabilities(), 4, 200, 33);
        PacketSender sender = new PacketSender(left.link(0), series);
        drive(sender::step);
        left.connection().close();
        settle(); // the loss may be reported now, or when everything has been read
        PacketReceiver receiver = new PacketReceiver(right.link(0), series);
        drive(() -> {
            receiver.step();
            return receiver.isDone();
        });
        drive(() -> right.link(0).front() == LinkStatus.CLOSED);
        drive(() -> right.lossCount > 0);
        closingIsOrderly().ifPresent(expected -> assertEquals(expected, right.lossWasOrderly, right.lossReason));
        assertFalse(right.lossReason.isBlank());
        assertFalse(right.seenAtLoss.isBlank());
    }

    @Test
    void shouldTellTheSenderWhenThePeerHasClosed() {
        right.connection().close();
        for (int i = 0; i < linkCount(); i++) {
            TransmissionLink link = left.link(i);
            drive(() -> {
                right.poll();
                return sendOne(link) == LinkStatus.CLOSED;
            });
        }
        drive(() -> left.lossCount > 0);
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
    void shouldAnswerClosedAfterTheOwnCloseHoweverOftenItComes() {
        left.connection().close();
        left.connection().close();
        for (int i = 0; i < linkCount(); i++) {
            assertEquals(LinkStatus.CLOSED, left.link(i).front());
            assertEquals(LinkStatus.CLOSED, sendOne(left.link(i)));
        }
        int before = left.upcallCount;
        settle();
        assertEquals(before, left.upcallCount);
        left.channel.close();
        left.channel.close();
        left.adapter.close();
        left.adapter.close();
    }

    @Test
    void shouldSurviveThatAnAdapterVanishesWithoutFinish() {
        PacketSeries series = PacketSeries.random(left.link(0).capabilities(), 4, 200, 34);
        drive(new PacketSender(left.link(0), series)::step);
        left.adapter.close();
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        PacketReceiver receiver = new PacketReceiver(right.link(0), series);
        while (!receiver.isDone()) {
            right.poll();
            receiver.step();
            assertTrue(System.nanoTime() - deadlineNs < 0, "packets that were sent before the end did not arrive");
        }
        while (right.lossCount == 0) {
            right.poll();
            assertTrue(System.nanoTime() - deadlineNs < 0, "the loss was never reported");
        }
    }

    @Test
    void shouldTellThePeerOfAConnectionThatIsGivenUpOtherThanOfAnOrderlyEnd() {
        left.connection().giveUp();
        left.connection().giveUp();
        drive(() -> right.lossCount > 0);
        assertFalse(right.lossWasOrderly, right.lossReason);
        assertFalse(right.lossReason.isBlank());
        assertFalse(right.seenAtLoss.isBlank());
        for (int i = 0; i < linkCount(); i++) {
            assertEquals(LinkStatus.CLOSED, sendOne(left.link(i)));
        }
    }

    /** The rest of the packet never comes: the peer hears of the end all the same, and receives no more. */
    @Test
    void shouldTellOfAnEndThatCutsAPacket() {
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
