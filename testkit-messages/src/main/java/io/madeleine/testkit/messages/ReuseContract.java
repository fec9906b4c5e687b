package io.madeleine.testkit.messages;

import static io.madeleine.api.ReceiveMode.CHEAPER;
import static io.madeleine.testkit.messages.TestBlocks.block;
import static io.madeleine.testkit.messages.TestBlocks.receive;
import static io.madeleine.testkit.messages.TestBlocks.send;
import static io.madeleine.testkit.messages.TestThreads.join;
import static io.madeleine.testkit.messages.TestThreads.pause;
import static io.madeleine.testkit.messages.TestThreads.start;
import static io.madeleine.testkit.messages.TestThreads.together;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.Completion;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.OutgoingMessage;
import io.madeleine.api.SendMode;
import io.madeleine.testkit.Pattern;
import java.lang.foreign.MemorySegment;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * The contract of message objects: an object belongs to one message until that has ended and its user has closed it.
 */
public interface ReuseContract extends MessageFixture {
    int COUNT = 250;

    /** A size for which the end of a message has to be waited for. */
    int BYTES = 23_000;

    @Test
    default void shouldNotGiveAnIncomingMessageAwayWhileItsEndIsWaitedFor() {
        open(2);
        receiveByAnotherThreadThanTheHandlers(false);
    }

    @Test
    default void shouldNotGiveAnIncomingMessageAwayWhileItsCompletionIsWaitedFor() {
        open(2);
        receiveByAnotherThreadThanTheHandlers(true);
    }

    /**
     * The handler passes each message to another thread. That thread leads while it ends the message, and the handler
     * gets the next message in it.
     */
    private void receiveByAnotherThreadThanTheHandlers(boolean asynchronously) {
        LinkedBlockingQueue<IncomingMessage> begun = new LinkedBlockingQueue<>();
        channel(1).onMessage(message -> {
            message.unpackInt();
            begun.add(message);
        });
        MemorySegment block = block(BYTES);
        together(
                () -> {
                    for (int i = 0; i < COUNT; i++) {
                        sendNumbered(channel(0), 1, i);
                    }
                },
                () -> {
                    for (int i = 0; i < COUNT; i++) {
                        try (IncomingMessage in = begun.poll(20, TimeUnit.SECONDS)) {
                            assertNotNull(in, "message " + i);
                            in.unpack(block, SendMode.CHEAPER, CHEAPER).within(20, TimeUnit.SECONDS);
                            if (asynchronously) {
                                Completion completion = in.endUnpackingAsync();
                                assertTrue(completion.await(20, TimeUnit.SECONDS), "the end of message " + i);
                            } else {
                                in.endUnpacking();
                            }
                            Pattern.check(i, block);
                        }
                    }
                });
    }

    private static void sendNumbered(Channel channel, int remote, int number) {
        try (OutgoingMessage out = channel.beginPacking(remote, 20, TimeUnit.SECONDS)) {
            out.packInt(number);
            out.pack(block(number, BYTES), SendMode.CHEAPER, CHEAPER);
            out.endPacking(20, TimeUnit.SECONDS);
        }
    }

    @Test
    default void shouldNotGiveAnOutgoingMessageAwayWhileItsEndIsWaitedFor() {
        open(2);
        sendBesideAHandlerThatSends(false);
    }

    @Test
    default void shouldNotGiveAnOutgoingMessageAwayWhileItsCompletionIsWaitedFor() {
        open(2);
        sendBesideAHandlerThatSends(true);
    }

    /**
     * A handler runs in a thread that waits for the end of its own message, and begins the next message to the same
     * peer.
     */
    private void sendBesideAHandlerThatSends(boolean asynchronously) {
        int bytes = 300_000;
        AtomicBoolean over = new AtomicBoolean();
        AtomicInteger same = new AtomicInteger();
        AtomicInteger answers = new AtomicInteger();
        LinkedBlockingQueue<OutgoingMessage> answering = new LinkedBlockingQueue<>();
        OutgoingMessage[] current = new OutgoingMessage[1];
        channel(1).onMessage(message -> {
            message.unpackInt();
            message.endUnpacking();
            message.close();
            Optional<OutgoingMessage> begun = channel(1).tryBeginPacking(0);
            if (begun.isPresent()) {
                if (begun.get() == current[0]) {
                    same.incrementAndGet();
                }
                answers.incrementAndGet();
                answering.add(begun.get()); // another thread ends it
            }
        });
        together(
                () -> {
                    for (int i = 0; i < COUNT; i++) {
                        try (OutgoingMessage out = channel(1).beginPacking(0, 20, TimeUnit.SECONDS)) {
                            current[0] = out;
                            out.packInt(i);
                            out.pack(block(i % 7, bytes), SendMode.CHEAPER, CHEAPER);
                            if (asynchronously) {
                                assertTrue(out.endPackingAsync().await(20, TimeUnit.SECONDS));
                            } else {
                                out.endPacking(20, TimeUnit.SECONDS);
                            }
                            current[0] = null;
                        }
                    }
                    over.set(true);
                },
                () -> {
                    Optional<OutgoingMessage> last = Optional.empty();
                    while (last.isEmpty()) {
                        OutgoingMessage out = answering.poll(1, TimeUnit.MILLISECONDS);
                        if (out != null) {
                            out.packInt(-1);
                            out.endPacking(20, TimeUnit.SECONDS);
                            out.close();
                        } else if (over.get()) {
                            last = channel(1).tryBeginPacking(0); // may fail: the handler may just have begun one
                        }
                    }
                    try (OutgoingMessage out = last.get()) {
                        out.packInt(-2).endPacking();
                    }
                },
                () -> {
                    int next = 0;
                    for (int kind = 0; kind != -2; ) {
                        try (IncomingMessage in = channel(0).beginUnpacking(20, TimeUnit.SECONDS)) {
                            kind = in.unpackInt();
                            if (kind >= 0) {
                                assertEquals(next++, kind);
                                in.unpack(block(bytes), SendMode.CHEAPER, CHEAPER);
                            }
                            in.endUnpacking();
                        }
                    }
                    assertEquals(COUNT, next);
                },
                () -> {
                    while (!over.get()) {
                        try (OutgoingMessage out = channel(0).beginPacking(1, 20, TimeUnit.SECONDS)) {
                            out.packInt(1).endPacking();
                        }
                        pause(1);
                    }
                });
        assertEquals(0, same.get(), "answers that used the object of the awaited message");
    }

    @Test
    default void shouldNotLetALateCloseHitTheNextMessage() {
        open(2);
        together(
                () -> {
                    OutgoingMessage first = channel(0).beginPacking(1);
                    first.packInt(1).endPacking();
                    OutgoingMessage second = channel(0).beginPacking(1);
                    assertNotSame(first, second);
                    first.close();
                    second.packInt(2).endPacking();
                    second.close();
                    Completion completion =
                            channel(0).beginPacking(1).packInt(3).endPackingAsync();
                    for (int i = 4; i < 30; i++) {
                        channel(0).beginPacking(1).packInt(i).endPacking();
                    }
                    completion.await();
                },
                () -> {
                    IncomingMessage first = channel(1).beginUnpacking();
                    assertEquals(1, first.unpackInt());
                    first.endUnpacking();
                    IncomingMessage second = channel(1).beginUnpacking();
                    assertNotSame(first, second);
                    first.close();
                    assertEquals(2, second.unpackInt());
                    second.endUnpacking();
                    second.close();
                    for (int i = 3; i < 30; i++) {
                        IncomingMessage in = channel(1).beginUnpacking();
                        assertEquals(i, in.unpackInt());
                        in.discard();
                        in.discard();
                    }
                });
    }

    @Test
    default void shouldNotLetASecondCloseHitTheNextMessageThatAnotherThreadBegins() {
        open(2);
        together(
                () -> {
                    for (int i = 0; i < 20; i++) {
                        send(channel(0), 1, 9, 100);
                        OutgoingMessage out = channel(0).beginPacking(1);
                        out.packInt(i).endPacking();
                        out.close();
                        OutgoingMessage[] next = new OutgoingMessage[1];
                        join(start(() -> next[0] = channel(0).beginPacking(1)));
                        out.close();
                        next[0].packInt(i).endPacking();
                        next[0].close();
                    }
                },
                () -> {
                    for (int i = 0; i < 20; i++) {
                        receive(channel(1), 9, 100);
                        IncomingMessage in = channel(1).beginUnpacking();
                        assertEquals(i, in.unpackInt());
                        in.endUnpacking();
                        in.close();
                        IncomingMessage[] next = new IncomingMessage[1];
                        join(start(() -> next[0] = channel(1).beginUnpacking()));
                        in.close();
                        assertEquals(i, next[0].unpackInt());
                        next[0].endUnpacking();
                        next[0].close();
                    }
                });
    }

    @Test
    default void shouldServeAgainByClosedObjectsOnly() {
        open(2);
        Set<Object> objects = Collections.synchronizedSet(Collections.newSetFromMap(new IdentityHashMap<>()));
        together(
                () -> {
                    for (int i = 0; i < 200; i++) {
                        try (OutgoingMessage out = channel(0).beginPacking(1)) {
                            objects.add(out);
                            out.packInt(i);
                            if (i % 3 == 0) {
                                out.endPackingAsync().await();
                            } else {
                                out.endPacking();
                            }
                        }
                    }
                },
                () -> {
                    for (int i = 0; i < 200; i++) {
                        try (IncomingMessage in = channel(1).beginUnpacking()) {
                            objects.add(in);
                            assertEquals(i, in.unpackInt());
                            if (i % 3 == 0) {
                                in.endUnpackingAsync().await();
                            } else {
                                in.endUnpacking();
                            }
                        }
                    }
                });
        assertTrue(objects.size() <= 16, () -> objects.size() + " objects for 400 messages");
    }
}
