package io.madeleine.testkit.messages;

import static io.madeleine.api.ReceiveMode.CHEAPER;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.api.Completion;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.SendMode;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * The contract of completions whose peer leaves or dies: they complete and report the loss, however a caller observes
 * them.
 */
abstract class CompletionLossContract extends StackContract {
    private static final int MUCH = 24 << 20;
    private static final int SOME = 2 << 20;

    /** So many messages of {@link #MUCH} bytes are more than a network buffers while its peer receives nothing. */
    private static final int MESSAGES = 3;

    private static final int LONGEST_S = 20;

    /** How a caller observes that a completion is done. {@link LossContract} tests {@code await}. */
    private enum Look {
        IS_DONE,
        ON_DONE
    }

    private enum End {
        CLOSES,
        DIES
    }

    private void end(End end, int rank) {
        if (end == End.DIES) {
            sessions().die(rank);
        } else {
            sessions().session(rank).close();
        }
    }

    /** Waits until a completion is done; returns its failure, or null. */
    private static @Nullable MadeleineException outcome(Completion completion, Look look) throws Exception {
        try {
            switch (look) {
                case IS_DONE -> eventually("the completion is done", completion::isDone);
                case ON_DONE -> {
                    CompletableFuture<Void> done = new CompletableFuture<>();
                    completion.onDone(() -> done.complete(null));
                    done.get(LONGEST_S, TimeUnit.SECONDS);
                }
            }
            completion.await();
            return null;
        } catch (MadeleineException e) {
            assertTrue(completion.isDone());
            assertEquals(
                    e.getMessage(),
                    assertThrows(e.getClass(), completion::await).getMessage());
            return e;
        }
    }

    /**
     * Runs a case on real networks without descriptors only: large blocks take long, and the other set-ups add nothing
     * here.
     */
    private void onRealNetworks(Case tried) throws Exception {
        assumeTrue(setup.isReal() && !setup.selfDescribed());
        tried.check(End.CLOSES, Look.IS_DONE);
        tried.check(End.DIES, Look.ON_DONE);
    }

    @FunctionalInterface
    private interface Case {
        void check(End end, Look look) throws Exception;
    }

    @Test
    void shouldEndTheCompletionsOfMessagesToAPeerThatIsGone() throws Exception {
        onRealNetworks(this::sendToAPeerThatIsGone);
    }

    private void sendToAPeerThatIsGone(End end, Look look) throws Exception {
        open(2);
        CompletableFuture<Void> ending = start(() -> {
            pause(10);
            end(end, 1);
        });
        MemorySegment block = block(MUCH);
        PeerFailedException failure = null;
        for (int i = 0; i < MESSAGES && failure == null; i++) {
            try (OutgoingMessage out = channel(0).beginPacking(1, LONGEST_S, TimeUnit.SECONDS)) {
                out.pack(block, SendMode.CHEAPER, CHEAPER);
                MadeleineException found = outcome(out.endPackingAsync(), look);
                failure = found == null ? null : assertInstanceOf(PeerFailedException.class, found);
            } catch (PeerFailedException e) {
                failure = e; // the network had buffered the previous messages
            }
        }
        assertTrue(failure != null && failure.rank() == 1, "no message to rank 1 failed: " + end + ", " + look);
        join(ending);
        eventually("nothing is left to do", () -> sessions().demand(0) == 0);
        close();
    }

    @Test
    void shouldEndTheCompletionsOfMessagesFromAPeerThatIsGone() throws Exception {
        onRealNetworks(this::receiveFromAPeerThatIsGone);
    }

    private void receiveFromAPeerThatIsGone(End end, Look look) throws Exception {
        open(2);
        int bytes = end == End.CLOSES ? SOME : MUCH;
        OutgoingMessage out = channel(0).beginPacking(1);
        out.packInt(5).pack(block(bytes), SendMode.CHEAPER, CHEAPER);
        out.endPackingAsync();
        IncomingMessage in = channel(1).beginUnpacking(0, LONGEST_S, TimeUnit.SECONDS);
        assertEquals(5, in.unpackInt());
        CompletableFuture<Void> ending = start(() -> end(end, 0));
        if (end == End.DIES) {
            join(ending);
        }
        in.unpack(block(bytes), SendMode.CHEAPER, CHEAPER);
        MadeleineException failure = outcome(in.endUnpackingAsync(), look);
        if (end == End.CLOSES) { // closing sends what was promised
            assertNull(failure);
        } else {
            assertEquals(0, assertInstanceOf(PeerFailedException.class, failure).rank());
        }
        in.close();
        join(ending);
        eventually("nothing is left to do", () -> sessions().demand(1) == 0);
        close();
    }
}
