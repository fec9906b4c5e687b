package io.madeleine.testkit.messages;

import static io.madeleine.api.ReceiveMode.CHEAPER;
import static io.madeleine.testkit.messages.TestBlocks.block;
import static io.madeleine.testkit.messages.TestThreads.eventually;
import static io.madeleine.testkit.messages.TestThreads.join;
import static io.madeleine.testkit.messages.TestThreads.pause;
import static io.madeleine.testkit.messages.TestThreads.start;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.api.IncomingMessage;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.SendMode;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * The contract of completions whose peer leaves or dies: they complete and report the loss, however a caller observes
 * them.
 */
public interface CompletionLossContract extends MessageFixture {
    int MUCH = 24 << 20;
    int SOME = 2 << 20;

    /** So many messages of {@link #MUCH} bytes are more than a network buffers while its peer receives nothing. */
    int MESSAGES = 3;

    /** Real networks without descriptors only: large blocks take long, and the other set-ups add nothing here. */
    private void assumeLargeBlocksAreWorthwhile() {
        assumeTrue(setup().isReal() && !setup().selfDescribed());
    }

    @Test
    default void shouldEndTheCompletionsOfMessagesToAPeerThatIsGone() throws Exception {
        assumeLargeBlocksAreWorthwhile();
        sendToAPeerThatIsGone(PeerEnd.CLOSES, CompletionLook.IS_DONE);
        sendToAPeerThatIsGone(PeerEnd.DIES, CompletionLook.ON_DONE);
    }

    private void sendToAPeerThatIsGone(PeerEnd end, CompletionLook look) throws Exception {
        open(2);
        CompletableFuture<Void> ending = start(() -> {
            pause(10);
            end.befall(sessions(), 1);
        });
        MemorySegment block = block(MUCH);
        PeerFailedException failure = null;
        for (int i = 0; i < MESSAGES && failure == null; i++) {
            try (OutgoingMessage out = channel(0).beginPacking(1, CompletionLook.LONGEST_S, TimeUnit.SECONDS)) {
                out.pack(block, SendMode.CHEAPER, CHEAPER);
                MadeleineException found = look.outcome(out.endPackingAsync());
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
    default void shouldEndTheCompletionsOfMessagesFromAPeerThatIsGone() throws Exception {
        assumeLargeBlocksAreWorthwhile();
        receiveFromAPeerThatIsGone(PeerEnd.CLOSES, CompletionLook.IS_DONE);
        receiveFromAPeerThatIsGone(PeerEnd.DIES, CompletionLook.ON_DONE);
    }

    private void receiveFromAPeerThatIsGone(PeerEnd end, CompletionLook look) throws Exception {
        open(2);
        int bytes = end == PeerEnd.CLOSES ? SOME : MUCH;
        OutgoingMessage out = channel(0).beginPacking(1);
        out.packInt(5).pack(block(bytes), SendMode.CHEAPER, CHEAPER);
        out.endPackingAsync();
        IncomingMessage in = channel(1).beginUnpacking(0, CompletionLook.LONGEST_S, TimeUnit.SECONDS);
        assertEquals(5, in.unpackInt());
        CompletableFuture<Void> ending = start(() -> end.befall(sessions(), 0));
        if (end == PeerEnd.DIES) {
            join(ending);
        }
        in.unpack(block(bytes), SendMode.CHEAPER, CHEAPER);
        MadeleineException failure = look.outcome(in.endUnpackingAsync());
        if (end == PeerEnd.CLOSES) { // closing sends what was promised
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
