package io.madeleine.tm.sci;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.Channel;
import io.madeleine.api.IncomingMessage;
import io.madeleine.api.Signal;
import io.madeleine.pmm.WaitMode;
import io.madeleine.pmm.WaitPolicy;
import io.madeleine.pmm.spi.Adapter;
import io.madeleine.pmm.spi.ProgressSource;
import io.madeleine.pmm.spi.ProtocolChannel;
import io.madeleine.pmm.spi.ProtocolConnection;
import io.madeleine.pmm.spi.ProtocolModule;
import io.madeleine.testkit.messages.LocalSessions;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whoever leads looks for a moment, in a round without messages, at the sender of the handler's last message. What
 * comes between the polls of a round and its end is found by such a look or not at all, so handlers themselves send
 * messages to each other.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HandlerLooksTest {
    private static final int MESSAGES = 300;
    private static final int SOME_MESSAGE = 100;

    /** More than the rounds in which a sender without news is looked at. */
    private static final int MANY_ROUNDS = 1_000;

    @TempDir
    Path directory;

    /** How often the networks of the receiving process were polled, and how often links were looked at directly. */
    private final AtomicLong polls = new AtomicLong();

    private final AtomicLong looks = new AtomicLong();

    @Test
    void shouldHandleTheNextMessageOfTheSameSenderWithoutAnotherPoll() throws Exception {
        try (LocalSessions sessions = open(2, WaitMode.ADAPTIVE)) {
            CompletableFuture<Long> inTheSameRound = new CompletableFuture<>();
            AtomicLong found = new AtomicLong();
            AtomicLong pollsBefore = new AtomicLong(-1);
            Channel asked = sessions.session(1).channel("other");
            asked.onMessage(
                    message -> { // it comes by a poll, and its handler is called before the other
                        int number = take(message);
                        pollsBefore.set(polls.get());
                        send(sessions.channel(0), number);
                    });
            sessions.channel(1).onMessage(message -> {
                int number = take(message);
                if (pollsBefore.get() == polls.get()) {
                    found.incrementAndGet();
                }
                if (number < MESSAGES) {
                    send(sessions.session(0).channel("other"), number + 1);
                } else {
                    inTheSameRound.complete(found.get());
                }
            });
            send(sessions.channel(0), 1);
            long count = await(inTheSameRound);
            assertTrue(count > MESSAGES / 2, count + " of " + MESSAGES + " messages");
        }
    }

    @Test
    void shouldNotLetTheExpectedSenderKeepOthersFromTheHandler() throws Exception {
        try (LocalSessions sessions = open(3, WaitMode.ADAPTIVE)) {
            CompletableFuture<Void> other = new CompletableFuture<>();
            AtomicLong lastOfExpected = new AtomicLong();
            AtomicLong pollsBefore = new AtomicLong(-1);
            Channel asked = sessions.session(1).channel("other");
            asked.onMessage(message -> {
                int number = take(message);
                pollsBefore.set(polls.get());
                send(sessions.channel(0), number);
            });
            sessions.channel(1).onMessage(message -> {
                boolean isExpected = message.remote() == 0;
                int number = take(message);
                if (!isExpected) {
                    other.complete(null);
                } else if (!other.isDone()) {
                    if (number == SOME_MESSAGE) {
                        send(sessions.channel(2), number);
                    }
                    boolean found = pollsBefore.get() == polls.get(); // by a look, and another would find the next
                    if (number < 100 * SOME_MESSAGE) {
                        send(found ? sessions.channel(0) : sessions.session(0).channel("other"), number + 1);
                    }
                    lastOfExpected.set(number);
                }
            });
            send(sessions.channel(0), 1);
            await(other);
            long overtaking = lastOfExpected.get() - SOME_MESSAGE;
            assertTrue(overtaking <= 4, overtaking + " messages of the expected sender went before");
        }
    }

    @Test
    void shouldLookForAWhileOnlyAtASenderWithoutNews() throws Exception {
        try (LocalSessions sessions = open(2, WaitMode.SPIN)) {
            CompletableFuture<Void> over = new CompletableFuture<>();
            sessions.channel(1).onMessage(message -> {
                int number = take(message);
                if (number < MESSAGES) {
                    send(sessions.channel(0), number + 1);
                } else {
                    over.complete(null);
                }
            });
            send(sessions.channel(0), 1);
            await(over);
            Signal signal = sessions.session(1).channel("other").newSignal();
            awaitRounds(signal);
            long before = looks.get();
            awaitRounds(signal);
            assertEquals(before, looks.get(), "looks at a sender that has long been silent");
        }
    }

    /** Polls many times, as a thread does that waits for something else. */
    private void awaitRounds(Signal signal) {
        long wanted = polls.get() + MANY_ROUNDS;
        assertTrue(signal.await(() -> polls.get() >= wanted, 10, TimeUnit.SECONDS));
    }

    private static <T> T await(CompletableFuture<T> future) throws Exception {
        try {
            return future.get(20, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new AssertionError(e.getCause());
        }
    }

    private static void send(Channel channel, int number) {
        channel.beginPacking(1).packInt(number).endPacking();
    }

    private static int take(IncomingMessage message) {
        int number = message.unpackInt();
        message.endUnpacking();
        return number;
    }

    // ---- sessions over shared memory, whose rank 1 is watched

    private LocalSessions open(int size, WaitMode mode) {
        SciConfig config = SciConfig.from(Side.config(directory, Mortal.SETTINGS));
        return LocalSessions.of(size)
                .network("sci", rank -> rank == 1 ? watched(new SciPmm(config)) : new SciPmm(config))
                .channel("default", "sci")
                .channel("other", "sci")
                .waiting(new WaitPolicy(mode, 20_000, 10))
                .open();
    }

    private ProtocolModule watched(ProtocolModule driver) {
        return around(
                ProtocolModule.class,
                driver,
                "openAdapter",
                adapter -> around(
                        Adapter.class,
                        around(Adapter.class, adapter, "progress", this::counted),
                        "openChannel",
                        this::counted));
    }

    private Object counted(Object watched) {
        return switch (watched) {
            case ProgressSource source -> around(ProgressSource.class, source, "poll", work -> count(polls, work));
            case ProtocolChannel channel ->
                around(
                        ProtocolChannel.class,
                        channel,
                        "connect",
                        future -> ((CompletableFuture<?>) future).thenApply(this::counted));
            case ProtocolConnection connection ->
                around(ProtocolConnection.class, connection, "hasArrivals", has -> count(looks, has));
            default -> throw new AssertionError(watched);
        };
    }

    private static Object count(AtomicLong counter, Object result) {
        counter.incrementAndGet();
        return result;
    }

    /** The same, but for what one of its methods returns. */
    private static <T> T around(Class<T> type, Object target, String method, UnaryOperator<Object> change) {
        return type.cast(Proxy.newProxyInstance(
                HandlerLooksTest.class.getClassLoader(), new Class<?>[] {type}, (_, called, arguments) -> {
                    try {
                        Object result = called.invoke(target, arguments);
                        return called.getName().equals(method) ? change.apply(result) : result;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }
}
