package io.madeleine.testkit.messages;

import static io.madeleine.api.ReceiveMode.CHEAPER;
import static io.madeleine.api.ReceiveMode.EXPRESS;
import static io.madeleine.testkit.messages.TestBlocks.block;
import static io.madeleine.testkit.messages.TestBlocks.receive;
import static io.madeleine.testkit.messages.TestBlocks.send;
import static io.madeleine.testkit.messages.TestThreads.assertSays;
import static io.madeleine.testkit.messages.TestThreads.eventually;
import static io.madeleine.testkit.messages.TestThreads.join;
import static io.madeleine.testkit.messages.TestThreads.pause;
import static io.madeleine.testkit.messages.TestThreads.start;
import static io.madeleine.testkit.messages.TestThreads.together;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.api.IncomingMessage;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.SendMode;
import io.madeleine.api.SessionException;
import io.madeleine.switching.SwitchedChannel;
import io.madeleine.testkit.Pattern;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** The contract of the end of a peer and of a session. */
public interface LossContract extends MessageFixture {
    int MUCH = 24 << 20;

    /**
     * The most such messages that may get lost: a network may buffer one (a socket's buffers take 36 MiB), and drop
     * another when it closes.
     */
    int MOST_SWALLOWED = 3;

    int MOST_SMALL_SWALLOWED = 100_000;

    /** Enough time to drain everything that was sent, however busy the machine is. */
    long LONG_QUIET_NS = 10_000_000_000L;

    private static PeerFailedException assertFails(int rank, Executable call) {
        PeerFailedException thrown = assertThrows(PeerFailedException.class, call);
        assertEquals(rank, thrown.rank(), thrown.getMessage());
        return thrown;
    }

    @Test
    default void shouldFailWhoWaitsForAPeerThatDies() {
        open(2);
        together(
                () -> assertFails(0, () -> channel(1).beginUnpacking(0)),
                () -> assertFails(-1, () -> channel(1).beginUnpacking()),
                () -> {
                    pause(20);
                    sessions().die(0);
                });
        assertFails(0, () -> channel(1).beginUnpacking(0));
        assertFails(-1, () -> channel(1).beginUnpacking());
        assertFails(0, () -> {
            try (OutgoingMessage out = channel(1).beginPacking(0)) {
                out.packInt(1);
                out.endPacking();
            }
        });
        assertFails(0, () -> channel(1).tryBeginUnpacking(0));
        assertFails(-1, () -> channel(1).tryBeginUnpacking());
        assertFails(0, () -> channel(1).tryBeginPacking(0));
        eventually("nothing is left to do", () -> sessions().demand(1) == 0);
    }

    /**
     * The peer may be alive, or die at that moment; its next message may already be in the channel's queue, or in the
     * network.
     */
    @Test
    default void shouldBeginNothingMoreOfAPeerOnceItHasBeenToldThatItIsGivenUp() {
        assumeTrue(!setup().selfDescribed(), "descriptions have no part in it");
        for (boolean dies : new boolean[] {false, true}) {
            for (boolean queued : new boolean[] {false, true}) {
                open(2);
                Thread sender = Thread.ofPlatform().start(this::sendUntilItFails);
                IncomingMessage first = channel(0).beginUnpacking(1);
                assertEquals(0, first.unpackInt());
                first.endUnpacking();
                pause(10);
                for (int rounds = 0; queued && rounds < 1_000; rounds++) {
                    channel(0).session().progress();
                }
                List<String> begun = new ArrayList<>();
                channel(0).session().onPeerFailure((_, _) -> {
                    if (dies) {
                        sessions().die(1);
                    }
                    for (int rounds = 0; rounds < 1_000; rounds++) {
                        channel(0).session().progress();
                        begun.addAll(begunWithoutWaiting());
                    }
                });
                ((SwitchedChannel) channel(0)).peerLost(1, false, "somebody says so");
                begun.addAll(begunWithoutWaiting());
                assertEquals(List.of(), begun, () -> "dies " + dies + ", queued " + queued);
                assertFails(1, () -> channel(0).beginUnpacking(1));
                assertFails(-1, () -> channel(0).beginUnpacking());
                sessions().die(1);
                awaitEnd(sender);
                close();
            }
        }
    }

    @Test
    default void shouldNotWaitForAPeerThatIsGivenUpThoughOneOfItsMessagesIsOpen() {
        assumeTrue(!setup().selfDescribed(), "descriptions have no part in it");
        open(2);
        Thread sender = Thread.ofPlatform().start(this::sendUntilItFails);
        IncomingMessage open = channel(0).beginUnpacking(1);
        OutgoingMessage answer = channel(0).beginPacking(1);
        MemorySegment block = block(4);
        ((SwitchedChannel) channel(0)).peerLost(1, false, "somebody says so");
        assertFails(1, () -> channel(0).beginUnpacking(1, 20, TimeUnit.SECONDS));
        assertFails(-1, () -> channel(0).beginUnpacking(20, TimeUnit.SECONDS));
        assertFails(1, () -> channel(0).receive(1, block, 0, 4, SendMode.SAFER, EXPRESS, 20, TimeUnit.SECONDS));
        assertFails(-1, () -> channel(0).receive(block, 0, 4, SendMode.SAFER, EXPRESS, 20, TimeUnit.SECONDS));
        assertFails(1, () -> channel(0).tryBeginUnpacking(1));
        assertFails(-1, () -> channel(0).tryBeginUnpacking());
        assertFails(1, () -> channel(0).beginPacking(1, 20, TimeUnit.SECONDS));
        assertFails(1, () -> channel(0).tryBeginPacking(1));
        open.close();
        answer.close();
        sessions().die(1);
        awaitEnd(sender);
    }

    /** The process that gives the other up goes on, and closes nothing. */
    @Test
    default void shouldTellAPeerThatItIsGivenUpAndNotThatTheOtherHasLeft() {
        open(2);
        ((SwitchedChannel) channel(0)).peerLost(1, false, "somebody says so");
        PeerFailedException told = assertFails(0, () -> channel(1).beginUnpacking(0, 20, TimeUnit.SECONDS));
        assertFalse(String.valueOf(told.getMessage()).contains("has left"), told::getMessage);
    }

    private void sendUntilItFails() {
        try {
            for (int number = 0; ; number++) {
                OutgoingMessage out = channel(1).beginPacking(0, 10, TimeUnit.SECONDS);
                out.packInt(number);
                out.endPacking(10, TimeUnit.SECONDS);
            }
        } catch (MadeleineException _) {
            // the session has ended, or the peer has given this process up
        }
    }

    private static void awaitEnd(Thread thread) {
        try {
            assertTrue(thread.join(Duration.ofSeconds(30)));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private List<String> begunWithoutWaiting() {
        List<String> begun = new ArrayList<>();
        try {
            Optional<IncomingMessage> in = channel(0).tryBeginUnpacking(1);
            in.ifPresent(message -> begun.add("of the peer: " + message.unpackInt()));
            in = channel(0).tryBeginUnpacking();
            in.ifPresent(message -> begun.add("of anyone: " + message.unpackInt()));
        } catch (PeerFailedException _) {
            // the loss is already known
        }
        return begun;
    }

    @Test
    default void shouldFailAMessageWhosePeerDiesInItsMiddle() {
        for (boolean asynchronous : new boolean[] {false, true}) {
            open(2);
            CompletableFuture<Void> begun = new CompletableFuture<>();
            CompletableFuture<Void> died = new CompletableFuture<>();
            together(
                    () -> {
                        OutgoingMessage out = channel(0).beginPacking(1);
                        out.packInt(5);
                        out.pack(block(1, MUCH), SendMode.CHEAPER, CHEAPER);
                        out.endPackingAsync();
                        begun.get(10, TimeUnit.SECONDS);
                        sessions().die(0);
                        died.complete(null);
                    },
                    () -> {
                        IncomingMessage in = channel(1).beginUnpacking();
                        assertEquals(5, in.unpackInt());
                        begun.complete(null);
                        died.get(10, TimeUnit.SECONDS);
                        assertFails(0, () -> {
                            in.unpack(block(MUCH), SendMode.CHEAPER, CHEAPER);
                            if (asynchronous) {
                                in.endUnpackingAsync().await();
                            } else {
                                in.endUnpacking();
                            }
                        });
                        in.close();
                        assertFails(0, () -> channel(1).beginUnpacking(0));
                    });
            eventually("nothing is left to do", () -> sessions().demand(1) == 0);
            close();
        }
    }

    @Test
    default void shouldFailWhoSendsToAPeerThatDies() {
        for (boolean asynchronous : new boolean[] {false, true}) {
            open(2);
            together(
                    () -> {
                        try (OutgoingMessage out = channel(0).beginPacking(1)) {
                            out.packInt(5);
                            out.pack(block(1, MUCH), SendMode.CHEAPER, CHEAPER);
                            end(out, asynchronous);
                        } catch (PeerFailedException e) {
                            assertEquals(1, e.rank()); // no exception: the network had buffered the message
                        }
                        assertFails(1, () -> {
                            for (int i = 0; i < MOST_SWALLOWED; i++) {
                                try (OutgoingMessage out = channel(0).beginPacking(1)) {
                                    out.pack(block(1, MUCH), SendMode.CHEAPER, CHEAPER);
                                    end(out, asynchronous);
                                }
                            }
                        });
                        assertFalse(channel(0).isConnected(1), "messages can be sent to a dead peer");
                    },
                    () -> {
                        pause(20);
                        sessions().die(1);
                    });
            eventually("nothing is left to do", () -> sessions().demand(0) == 0);
            close();
        }
    }

    /** No thread reads and detects the loss before the sender fails: the failure says what the connection has seen. */
    @Test
    default void shouldTellASenderWhatWasSeenOfAPeerThatDies() {
        assumeTrue(!setup().selfDescribed(), "descriptions have no part in it");
        for (boolean asynchronous : new boolean[] {false, true}) {
            open(2);
            sessions().die(1);
            PeerFailedException failure = assertThrows(PeerFailedException.class, () -> {
                for (int i = 0; i < MOST_SMALL_SWALLOWED; i++) {
                    try (OutgoingMessage out = channel(0).beginPacking(1)) {
                        out.pack(block(1, 8), SendMode.CHEAPER, CHEAPER);
                        end(out, asynchronous);
                    }
                }
            });
            assertSays("rank 1 is gone from channel default", failure);
            assertFalse(failure.toString().contains("its link is closed"), failure.toString());
            assertThrows(PeerFailedException.class, () -> channel(0).tryBeginPacking(1)); // also before it is reported
            close();
        }
    }

    private static void end(OutgoingMessage out, boolean asynchronous) {
        if (asynchronous) {
            out.endPackingAsync().await();
        } else {
            out.endPacking();
        }
    }

    @Test
    default void shouldFailWhoWaitsForAnExpressBlockOfAPeerThatDies() {
        open(2);
        together(
                () -> {
                    OutgoingMessage out = channel(0).beginPacking(1);
                    out.pack(block(1, MUCH), SendMode.CHEAPER, CHEAPER);
                    out.pack(block(2, 4), SendMode.LATER, CHEAPER);
                    pause(30);
                    sessions().die(0);
                },
                () -> assertThrows(PeerFailedException.class, () -> {
                    // some modules send nothing of a message before its end
                    try (IncomingMessage in = channel(1).beginUnpacking()) {
                        in.unpack(block(MUCH), SendMode.CHEAPER, CHEAPER);
                        in.unpackInt();
                    }
                }));
    }

    @Test
    default void shouldDeliverAllThatWasSentBeforeAPeerLeft() {
        open(2);
        int count = 20; // more than some networks buffer
        CompletableFuture<Void> leaving = start(() -> {
            for (int i = 0; i < count; i++) {
                OutgoingMessage out = channel(0).beginPacking(1);
                out.packInt(i);
                out.endPackingAsync();
            }
            sessions().session(0).close();
        });
        for (int i = 0; i < count; i++) {
            try (IncomingMessage in =
                    i % 2 == 0 ? channel(1).beginUnpacking() : channel(1).beginUnpacking(0, 10, TimeUnit.SECONDS)) {
                pause(i == 3 ? 50 : 0); // the loss becomes known in the middle
                assertEquals(i, in.unpackInt());
                in.endUnpacking();
            }
        }
        assertFails(0, () -> channel(1).beginUnpacking(0));
        assertFails(-1, () -> channel(1).beginUnpacking());
        join(leaving);
    }

    @Test
    default void shouldOfferMessagesBehindOneThatAnotherThreadHasOpen() {
        open(2);
        for (int i = 0; i < 2; i++) {
            OutgoingMessage out = channel(0).beginPacking(1);
            out.packInt(i);
            out.endPackingAsync();
        }
        CompletableFuture<Void> leaving = start(() -> sessions().session(0).close());
        IncomingMessage first = channel(1).beginUnpacking();
        CompletableFuture<Void> second = start(() -> {
            try (IncomingMessage in = channel(1).beginUnpacking()) {
                assertEquals(1, in.unpackInt());
                in.endUnpacking();
            }
        });
        pause(50);
        assertEquals(0, first.unpackInt());
        first.endUnpacking();
        join(second);
        join(leaving);
        assertFails(-1, () -> channel(1).beginUnpacking());
    }

    @Test
    default void shouldGoOnWaitingForAnyoneWhileALivePeerRemains() {
        open(3);
        CompletableFuture<Void> waiting = start(() -> receive(channel(2), 4, 100, 20_000));
        pause(10);
        sessions().die(0);
        pause(30);
        assertFails(0, () -> channel(2).beginUnpacking(0));
        send(channel(1), 2, 4, 100, 20_000);
        join(waiting);
        checkUsable(1, 2);
    }

    @Test
    default void shouldEndAllWaitsWhenTheSessionIsClosed() {
        open(2);
        OutgoingMessage held = channel(1).beginPacking(0);
        CompletableFuture<Void> closing = start(() -> {
            pause(50);
            sessions().session(1).close();
        });
        together(
                () -> assertThrows(SessionException.class, () -> channel(1).beginUnpacking()),
                () -> assertThrows(SessionException.class, () -> channel(1).beginUnpacking(0)),
                () -> assertThrows(SessionException.class, () -> channel(1).beginPacking(0)),
                () -> join(start(
                        Thread.ofVirtual(),
                        () -> assertThrows(
                                SessionException.class, () -> channel(1).beginUnpacking()))));
        join(closing);
        assertThrows(SessionException.class, () -> channel(1).beginUnpacking());
        assertThrows(SessionException.class, () -> channel(1).tryBeginUnpacking());
        assertThrows(SessionException.class, () -> sessions().session(1).progress());
        assertThrows(SessionException.class, () -> channel(1).tryBeginPacking(0)); // while one is open
        assertThrows(SessionException.class, () -> held.packInt(1));
        assertThrows(SessionException.class, held::endPacking);
        held.close();
        assertThrows(SessionException.class, () -> channel(1).tryBeginPacking(0));
        sessions().session(1).close();
        assertThrows(PeerFailedException.class, () -> channel(0).beginUnpacking());
    }

    @Test
    default void shouldSayOfCallsBehindItsCloseThatTheSessionIsClosed() {
        for (boolean peerLeavesFirst : new boolean[] {false, true}) {
            open(2);
            OutgoingMessage out = channel(0).beginPacking(1);
            out.packInt(5);
            out.pack(block(1, MUCH), SendMode.CHEAPER, CHEAPER);
            join(start(
                    () -> { // its end never arrives
                        OutgoingMessage half = channel(1).beginPacking(0);
                        half.packInt(6);
                        half.pack(block(1, MUCH), SendMode.CHEAPER, CHEAPER);
                        half.endPackingAsync();
                    }));
            IncomingMessage in = channel(0).beginUnpacking(1);
            assertEquals(6, in.unpackInt());
            if (peerLeavesFirst) {
                sessions().die(1);
            }
            sessions().session(0).close();
            assertSays("session is closed", assertThrows(SessionException.class, () -> out.pack(block(1, MUCH))));
            assertSays("session is closed", assertThrows(SessionException.class, () -> out.packInt(7)));
            assertSays("session is closed", assertThrows(SessionException.class, out::endPacking));
            assertSays("session is closed", assertThrows(SessionException.class, out::endPacking));
            assertSays("session is closed", assertThrows(SessionException.class, () -> out.packInt(8)));
            out.close();
            assertSays(
                    "session is closed",
                    assertThrows(SessionException.class, () -> in.unpack(block(MUCH), SendMode.CHEAPER, EXPRESS)));
            assertSays("session is closed", assertThrows(SessionException.class, in::endUnpacking));
            in.close();
            assertThrows(SessionException.class, () -> channel(0).tryBeginPacking(1));
            assertThrows(SessionException.class, () -> channel(0).beginPacking(1));
            assertThrows(SessionException.class, () -> channel(0).tryBeginUnpacking(1));
            assertThrows(SessionException.class, () -> channel(0).tryBeginUnpacking());
            assertThrows(SessionException.class, () -> channel(0).beginUnpacking(1));
            assertThrows(SessionException.class, () -> channel(0).beginUnpacking());
            assertFalse(channel(0).isConnected(1));
            close();
        }
    }

    @Test
    @Tag("measures")
    default void shouldNotWaitAtItsCloseForAThreadThatWaitsToHaveItsMessageSent() {
        open(2);
        OutgoingMessage out = channel(0).beginPacking(1);
        out.pack(block(1, MUCH), SendMode.CHEAPER, CHEAPER);
        CompletableFuture<Void> waiting =
                start(() -> assertSays("session is closed", assertThrows(SessionException.class, out::endPacking)));
        pause(20);
        long startNs = System.nanoTime();
        join(start(() -> sessions().session(0).close()));
        assertTrue(System.nanoTime() - startNs < 5_000_000_000L, "close waited for a receiver that may never come");
        join(waiting);
    }

    @Test
    default void shouldFinishWhatWasPromisedBeforeItCloses() {
        open(2);
        MemorySegment received = block(MUCH);
        together(
                () -> {
                    try (OutgoingMessage out = channel(0).beginPacking(1)) {
                        out.pack(block(8, MUCH));
                        out.endPackingAsync();
                    }
                    sessions().session(0).close();
                },
                () -> {
                    pause(20);
                    try (IncomingMessage in = channel(1).beginUnpacking()) {
                        in.unpack(received);
                        in.endUnpacking();
                    }
                });
        Pattern.check(8, received);
    }

    @Test
    default void shouldNotCutOffTheSenderOfAMessageThatItDiscardedBeforeItCloses() {
        open(setup().sessions(2).quiet(LONG_QUIET_NS));
        together(
                () -> {
                    OutgoingMessage out = channel(0).beginPacking(1);
                    out.packInt(5);
                    out.pack(block(1, MUCH), SendMode.CHEAPER, CHEAPER);
                    assertTrue(out.endPackingAsync().await(10, TimeUnit.SECONDS));
                },
                () -> {
                    try (IncomingMessage in = channel(1).beginUnpacking()) {
                        assertEquals(5, in.unpackInt());
                    }
                    sessions().session(1).close();
                });
    }

    @Test
    @Tag("measures")
    default void shouldNotWaitLongForTheRestOfAMessageThatItDiscardedBeforeItCloses() {
        open(2);
        OutgoingMessage out = channel(0).beginPacking(1);
        out.packInt(5);
        for (int i = 0; i < 8; i++) {
            out.pack(block(1, 70_000), SendMode.CHEAPER, CHEAPER); // some networks send nothing before the end
        }
        pause(20);
        long startNs = System.nanoTime();
        join(start(() -> {
            channel(1).tryBeginUnpacking(0).ifPresent(IncomingMessage::discard);
            sessions().session(1).close();
        }));
        assertTrue(System.nanoTime() - startNs < 3_000_000_000L, "close waited for a sender that may never continue");
        out.close();
    }

    @Test
    default void shouldCloseTheSessionFromAHandler() {
        open(2);
        CompletableFuture<Void> closed = new CompletableFuture<>();
        channel(1).onMessage(message -> {
            try {
                message.close();
                sessions().session(1).close();
                closed.complete(null);
            } catch (RuntimeException | Error e) {
                closed.completeExceptionally(e);
            }
        });
        send(channel(0), 1, 1, 100);
        join(closed);
        assertThrows(PeerFailedException.class, () -> channel(0).beginUnpacking());
    }
}
