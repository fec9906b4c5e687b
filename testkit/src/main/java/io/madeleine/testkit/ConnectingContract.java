package io.madeleine.testkit;

import static io.madeleine.testkit.PacketReceiver.transfer;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.MadeleineException;
import io.madeleine.pmm.spi.ConnectionRequest;
import io.madeleine.pmm.spi.ProtocolChannel;
import io.madeleine.pmm.spi.ProtocolConnection;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The contract of connecting: names and addresses, who comes first, refusals, deadlines, channels apart. */
public interface ConnectingContract extends SpiFixture {
    long SHORT_NS = 100_000_000;

    /** Much longer than that: a busy machine may hold this thread up. */
    long LONG_NS = 3_000_000_000L;

    private static String failure(CompletableFuture<?> future) {
        CompletionException thrown = assertThrows(CompletionException.class, future::join);
        return String.valueOf(
                assertInstanceOf(MadeleineException.class, thrown.getCause()).getMessage());
    }

    @Test
    default void shouldSayWhatItIs() {
        assertFalse(left().driver.name().isBlank());
        assertTrue(
                left().driver.availability().on(), left().driver.availability().reason());
        assertFalse(left().driver.availability().reason().isBlank());
        assertFalse(left().driver.adapterNames().isEmpty());
        assertEquals(left().driver.adapterNames().getFirst(), left().adapter.name());
        assertTrue(left().adapter.address().length() <= 1024);
        assertEquals(
                Optional.empty(), left().adapter.unreachable(right().adapter.address()));
        assertTrue(left().adapter.unreachable("an address of nobody").isPresent());
        assertEquals(right().identity, left().connection().peer());
        assertEquals(left().identity, right().connection().peer());
        assertTrue(left().connection().bidirectional());
    }

    @Test
    default void shouldRefuseAnUnequalDigestAtBothEnds() {
        ProtocolChannel mine = left().adapter.openChannel("digests");
        ProtocolChannel theirs = right().adapter.openChannel("digests");
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        ConnectionRequest request = left().request(right(), true, deadlineNs);
        var ofLeft = mine.connect(new ConnectionRequest(
                request.peer(), request.peerAddress(), true, request.modules(), request.tableDigest() + 1, deadlineNs));
        var ofRight = theirs.connect(right().request(left(), false, deadlineNs));
        drive(() -> ofLeft.isDone() && ofRight.isDone());
        assertTrue(failure(ofLeft).contains("digest"), () -> failure(ofLeft));
        assertTrue(failure(ofRight).contains("digest"), () -> failure(ofRight));
    }

    @Test
    @Tag("measures")
    default void shouldNameBothSidesWhenConnectingTakesTooLong() {
        for (boolean initiator : new boolean[] {true, false}) {
            ProtocolChannel alone = left().adapter.openChannel("alone-" + initiator);
            var future = alone.connect(left().request(right(), initiator, System.nanoTime() + SHORT_NS));
            long startNs = System.nanoTime();
            drive(future::isDone);
            assertTrue(System.nanoTime() - startNs < LONG_NS, "connecting took much longer than its deadline");
            String message = failure(future);
            assertTrue(message.contains(right().identity.toString()), message);
            assertTrue(message.contains(left().identity.toString()) || message.contains("this side"), message);
        }
    }

    @Test
    default void shouldGiveUpConnectingWhenTheChannelIsClosed() {
        ProtocolChannel alone = left().adapter.openChannel("given-up");
        var future = alone.connect(left().request(right(), true, System.nanoTime() + PATIENCE_NS));
        left().poll();
        alone.close();
        alone.close();
        drive(future::isDone);
        assertThrows(CompletionException.class, future::join);
    }

    @Test
    default void shouldConnectWhoeverComesFirst() {
        for (boolean leftFirst : new boolean[] {true, false}) {
            for (boolean leftInitiates : new boolean[] {true, false}) {
                String name = "order-" + leftFirst + leftInitiates;
                SpiEnd first = leftFirst ? left() : right();
                SpiEnd second = leftFirst ? right() : left();
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
    default void shouldKeepTheChannelsApart() {
        int count = 4;
        ProtocolConnection[] mine = new ProtocolConnection[count];
        ProtocolConnection[] theirs = new ProtocolConnection[count];
        for (int i = 0; i < count; i++) {
            long deadlineNs = System.nanoTime() + PATIENCE_NS;
            var ofLeft =
                    left().adapter.openChannel("channel-" + i).connect(left().request(right(), i % 2 == 0, deadlineNs));
            var ofRight = right().adapter
                    .openChannel("channel-" + i)
                    .connect(right().request(left(), i % 2 != 0, deadlineNs));
            drive(() -> ofLeft.isDone() && ofRight.isDone());
            mine[i] = ofLeft.join();
            theirs[i] = ofRight.join();
        }
        for (int i = 0; i < count; i++) {
            PacketSeries series = PacketSeries.random(left().link(0).capabilities(), 10 + i, 2000, i);
            PacketSender sender = new PacketSender(mine[i].links().getFirst(), series);
            PacketReceiver receiver = new PacketReceiver(theirs[i].links().getFirst(), series);
            for (int k = 0; k < count; k++) {
                assertEquals(0, theirs[k].links().getFirst().front());
            }
            drive(transfer(sender, receiver));
        }
    }
}
