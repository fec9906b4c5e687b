package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.Session;
import io.madeleine.api.WaitInterruptedException;
import io.madeleine.nexus.Refusal.Reason;
import io.madeleine.nexus.wire.RequestLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One-sided requests and their arguments, over each network. */
@ParameterizedClass
@ValueSource(strings = {"sci", "tcp"})
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RequestsTest {
    @Parameter
    String network;

    /** Looks again now and then: a handler that still runs signals nobody. */
    private static void await(Context context, java.util.function.BooleanSupplier condition) {
        long giveUpNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(40);
        while (!context.await(condition, 2, TimeUnit.MILLISECONDS)) {
            assertTrue(System.nanoTime() - giveUpNs < 0, "not in time");
        }
    }

    /** They are run one after the other by one thread, and the status is nobody's of them. */
    @Test
    void shouldNotLetAHandlerSeeTheInterruptStatusThatAnotherHasLeft() {
        List<Boolean> seen = new CopyOnWriteArrayList<>();
        try (World world = new World(
                "sci",
                1,
                context -> context.endpoint("e")
                        .nonThreaded("first", (endpoint, _) -> {
                            for (int i = 0; i < 3; i++) {
                                endpoint.startpoint().rsr("next", new Arguments());
                            }
                            Thread.currentThread().interrupt();
                        })
                        .nonThreaded("next", (_, _) -> {
                            seen.add(Thread.currentThread().isInterrupted());
                            Thread.currentThread().interrupt();
                        }))) {
            world.of(0).startpoint(0, "e").rsr("first", new Arguments());
            boolean _ = Thread.interrupted(); // what the last one has left
            World.await(() -> seen.size() == 3);
            assertEquals(List.of(false, false, false), seen);
        }
    }

    @Test
    void shouldRunThreadedHandlerOfOtherProcess() {
        AtomicInteger sum = new AtomicInteger();
        AtomicReference<Thread> ranBy = new AtomicReference<>();
        try (World world = new World(
                network,
                2,
                context -> context.endpoint("sum").threaded("add", (_, request) -> {
                    ranBy.set(Thread.currentThread());
                    sum.addAndGet(request.getInt() * request.remote());
                }))) {
            Startpoint remote = world.of(1).startpoint(0, "sum");
            remote.rsr("add", new Arguments().putInt(42));
            await(world.of(0), () -> sum.get() == 42);
            assertTrue(ranBy.get().isVirtual());
        }
    }

    @Test
    void shouldKeepOrderOfNonThreadedHandlersPerSender() throws Exception {
        int count = 20_000;
        int[] next = new int[4];
        AtomicInteger wrong = new AtomicInteger();
        AtomicInteger total = new AtomicInteger();
        AtomicInteger inside = new AtomicInteger();
        try (World world = new World(
                network,
                4,
                context -> context.endpoint("order").nonThreaded("n", (_, request) -> {
                    if (inside.incrementAndGet() != 1 || request.getInt() != next[request.remote()]++) {
                        wrong.incrementAndGet();
                    }
                    inside.decrementAndGet();
                    total.incrementAndGet();
                }))) {
            List<Thread> senders = new ArrayList<>();
            for (int rank = 0; rank < 4; rank++) { // rank 0 sends to itself
                Startpoint target = world.of(rank).startpoint(0, "order");
                senders.add(Thread.ofPlatform().start(() -> {
                    Arguments arguments = new Arguments();
                    for (int i = 0; i < count; i++) {
                        target.rsr("n", arguments.reset().putInt(i));
                    }
                }));
            }
            for (Thread sender : senders) {
                sender.join();
            }
            await(world.of(0), () -> total.get() == 4 * count);
            assertEquals(0, wrong.get());
        }
    }

    @Test
    void shouldBringArgumentsOfEveryKindAndSize() {
        Random random = new Random(7);
        byte[] bytes = new byte[3_000_017];
        random.nextBytes(bytes);
        int[] ints = random.ints(100_000).toArray();
        long[] longs = random.longs(3).toArray();
        double[] doubles = random.doubles(500).toArray();
        String text = "grüße \u2028 ".repeat(1_000);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        CountDownLatch done = new CountDownLatch(4);
        Handler checks = (_, request) -> {
            try {
                assertEquals(1, request.getByte());
                assertTrue(request.getBoolean());
                assertEquals(-2, request.getShort());
                assertArrayEquals(bytes, request.getBytes());
                assertEquals('x', request.getChar());
                assertEquals(3, request.getInt());
                assertArrayEquals(ints, request.getInts());
                assertEquals(1L << 40, request.getLong());
                assertArrayEquals(longs, request.getLongs());
                assertEquals(1.5f, request.getFloat());
                assertEquals(text, request.getString());
                assertEquals(Math.PI, request.getDouble());
                assertEquals(doubles.length * 8L, request.nextBytes());
                try (Arena arena = Arena.ofConfined()) {
                    assertArrayEquals(
                            doubles, request.getSegment(arena).toArray(java.lang.foreign.ValueLayout.JAVA_DOUBLE));
                }
                assertEquals(0, request.getBytes().length);
                assertEquals(0, request.remaining());
                assertThrows(NexusException.class, request::getByte);
            } catch (Throwable e) {
                failure.set(e);
            } finally {
                done.countDown();
            }
        };
        try (World world = new World(
                network,
                2,
                context -> context.endpoint("all").threaded("threaded", checks).nonThreaded("nonThreaded", checks))) {
            for (int target = 0; target < 2; target++) {
                Startpoint remote = world.of(1).startpoint(target, "all");
                Arguments arguments = new Arguments()
                        .putByte((byte) 1)
                        .putBoolean(true)
                        .putShort((short) -2)
                        .putBytes(bytes)
                        .putChar('x')
                        .putInt(3)
                        .putInts(ints)
                        .putLong(1L << 40)
                        .putLongs(longs)
                        .putFloat(1.5f)
                        .putString(text)
                        .putDouble(Math.PI)
                        .putSegment(MemorySegment.ofArray(doubles))
                        .putBytes(new byte[0]);
                remote.rsr("threaded", arguments);
                remote.rsr("nonThreaded", arguments);
            }
            await(world.of(0), () -> done.getCount() == 0);
            if (failure.get() != null) {
                throw new AssertionError(failure.get());
            }
        }
    }

    @Test
    void shouldBringManySmallArgumentsThatExceedTheFirstBlock() {
        AtomicLong sum = new AtomicLong();
        try (World world = new World(
                network,
                2,
                context -> context.endpoint("many").nonThreaded("sum", (_, request) -> {
                    long got = 0;
                    while (request.remaining() > 0) {
                        got += request.getLong();
                    }
                    sum.addAndGet(got);
                }))) {
            long expected = 0;
            Arguments arguments = new Arguments();
            for (int count : new int[] {0, 1, 2, 3, 4, 5, 100, 10_000, 1_000_000, 3}) {
                arguments.reset();
                for (int i = 0; i < count; i++) {
                    arguments.putLong(i);
                    expected += i;
                }
                world.of(1).startpoint(0, "many").rsr("sum", arguments);
            }
            long all = expected;
            await(world.of(0), () -> sum.get() == all);
        }
    }

    @Test
    void shouldLetStartpointsTravelAndWorkWhereTheyArrive() {
        AtomicInteger calls = new AtomicInteger();
        AtomicReference<Startpoint> received = new AtomicReference<>();
        try (World world = new World(
                network,
                3,
                context -> context.endpoint("post").threaded("take", (_, request) -> {
                    Startpoint full = request.getStartpoint();
                    Startpoint light = request.getStartpoint();
                    assertEquals(full, light);
                    assertFalse(full.isLightweight());
                    assertTrue(light.isLightweight());
                    received.set(full);
                    light.rsr("call", new Arguments().putInt(1));
                    full.rsr("call", new Arguments().putInt(2));
                }))) {
            Endpoint own = world.of(2).endpoint();
            own.threaded("call", (endpoint, request) -> {
                assertEquals(own, endpoint);
                calls.addAndGet(request.getInt());
            });
            Startpoint pointer = own.startpoint();
            Arguments arguments = new Arguments().putStartpoint(pointer).putStartpoint(pointer.lightweight());
            assertTrue(new Arguments().putStartpoint(pointer.lightweight()).byteSize()
                    < new Arguments().putStartpoint(pointer).byteSize());
            world.of(1).startpoint(0, "post").rsr("take", arguments); // through a third process
            world.of(2).startpoint(0, "post").rsr("take", arguments);
            await(world.of(2), () -> calls.get() == 6);
            assertEquals(pointer, received.get());
            assertEquals(pointer.hashCode(), received.get().hashCode());
            assertFalse(received.get().isLocal());
            assertTrue(received.get().toLocal().isEmpty());
            assertEquals(own, pointer.toLocal().orElseThrow());
            assertEquals(2, received.get().rank());
        }
    }

    @Test
    void shouldSendRequestToAllEndpointsOfStartpoint() {
        AtomicInteger[] got = {new AtomicInteger(), new AtomicInteger(), new AtomicInteger()};
        try (World world = new World(
                network,
                3,
                context -> context.endpoint("each")
                        .threaded(
                                "add",
                                (endpoint, request) -> got[endpoint.context().rank()].addAndGet(request.getInt())))) {
            Context here = world.of(0);
            Startpoint all = Startpoint.toAll(
                    here.startpoint(0, "each"), here.startpoint(1, "each"), here.startpoint(2, "each"));
            assertEquals(List.of(0, 1, 2), all.ranks());
            all.rsr("add", new Arguments().putInt(5));
            for (int rank = 0; rank < 3; rank++) {
                AtomicInteger own = got[rank];
                await(world.of(rank), () -> own.get() == 5);
            }
        }
    }

    @Test
    void shouldAnswerFromNonThreadedHandlerWithoutWaiting() {
        byte[] block = new byte[2 << 20];
        new Random(3).nextBytes(block);
        int count = 200;
        AtomicInteger answers = new AtomicInteger();
        AtomicInteger wrong = new AtomicInteger();
        try (World world = new World(network, 2, context -> {
            Arguments[] answers2 = {new Arguments(), new Arguments()};
            byte[] echo = new byte[block.length];
            context.endpoint("echo").nonThreaded("echo", (_, request) -> {
                request.get(MemorySegment.ofArray(echo));
                Arguments free = answers2[0].isSent() ? answers2[0] : answers2[1];
                request.context()
                        .startpoint(request.remote(), "client")
                        .rsr("answer", free.reset().putBytes(echo));
            });
            byte[] answer = new byte[block.length];
            context.endpoint("client").nonThreaded("answer", (_, request) -> {
                request.get(MemorySegment.ofArray(answer));
                if (!java.util.Arrays.equals(answer, block)) {
                    wrong.incrementAndGet();
                }
                answers.incrementAndGet();
            });
        })) {
            for (int i = 0; i < count; i++) {
                int number = i;
                world.of(1).startpoint(0, "echo").rsr("echo", new Arguments().putBytes(block));
                await(world.of(1), () -> answers.get() > number);
            }
            assertEquals(0, wrong.get());
        }
    }

    @Test
    void shouldNotDeadlockWhenHandlersOfBothFloodEachOther() {
        int count = 3_000;
        AtomicInteger[] pongs = {new AtomicInteger(), new AtomicInteger()};
        try (World world = new World(network, 2, context -> {
            Arguments scratch = new Arguments();
            byte[] ballast = new byte[900];
            context.endpoint("ping")
                    .nonThreaded(
                            "ping",
                            (_, request) -> request.context()
                                    .startpoint(1 - request.context().rank(), "ping")
                                    .rsr("pong", scratch.reset().putBytes(ballast)));
            context.node()
                    .find(context.startpoint(0, "ping").endpointId())
                    .nonThreaded(
                            "pong", (endpoint, _) -> pongs[endpoint.context().rank()].incrementAndGet());
        })) {
            List<Thread> senders = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                int from = rank;
                senders.add(Thread.ofPlatform().start(() -> {
                    Arguments arguments = new Arguments();
                    byte[] ballast = new byte[900];
                    for (int i = 0; i < count; i++) {
                        world.of(from)
                                .startpoint(1 - from, "ping")
                                .rsr("ping", arguments.reset().putBytes(ballast));
                    }
                }));
            }
            await(world.of(0), () -> pongs[0].get() == count);
            await(world.of(1), () -> pongs[1].get() == count);
        }
    }

    @Test
    void shouldTellSenderOfRefusedRequests() {
        List<Refusal> told = java.util.Collections.synchronizedList(new ArrayList<>());
        try (World world =
                new World(network, 2, context -> context.endpoint("known").threaded("yes", (_, _) -> {}))) {
            world.of(1).onRefusal(told::add);
            world.of(1).startpoint(0, "unknown").rsr("yes", new Arguments());
            world.of(1).startpoint(0, "known").rsr("no", new Arguments());
            await(world.of(1), () -> world.of(1).refusedCount() == 2);
            assertEquals(
                    List.of(Reason.NO_SUCH_ENDPOINT, Reason.NO_SUCH_HANDLER),
                    told.stream().map(Refusal::reason).toList());
            assertEquals(
                    "rank 0 refused 1 requests to endpoint known, handler no: NO_SUCH_HANDLER",
                    told.getLast().toString());
            Endpoint known =
                    world.of(0).node().find(world.of(0).startpoint(0, "known").endpointId());
            known.close();
            world.of(1).startpoint(0, "known").rsr("yes", new Arguments());
            await(world.of(1), () -> world.of(1).refusedCount() == 3);
        }
    }

    @Test
    void shouldNotTakeTheMessagesOfAnotherContext() {
        try (World world = new World(network, 2, _ -> {})) {
            Session session = world.of(0).node().session();
            String why = assertThrows(IllegalStateException.class, () -> Context.open(session))
                    .getMessage();
            assertTrue(why.contains("default of rank 0 has a context already"), why);
            world.contexts.forEach(Context::close);
            Context.open(session).close();
        }
    }

    @Test
    void shouldReportWhatHandlersThrowAndGoOn() {
        AtomicInteger good = new AtomicInteger();
        try (World world = new World(
                network,
                2,
                context -> context.endpoint("e")
                        .nonThreaded("bad", (_, request) -> {
                            throw new java.io.IOException("as planned");
                        })
                        .threaded("badThread", (_, request) -> request.getLong())
                        .nonThreaded("tooMuch", (_, request) -> request.getBytes())
                        .nonThreaded("good", (_, _) -> good.incrementAndGet()))) {
            List<String> failed = java.util.Collections.synchronizedList(new ArrayList<>());
            world.of(0)
                    .onHandlerFailure((_, handler, sender, cause) -> failed.add(
                            handler + " " + sender + " " + cause.getClass().getSimpleName()));
            Startpoint remote = world.of(1).startpoint(0, "e");
            remote.rsr("bad", new Arguments().putBytes(new byte[100_000])); // which nobody takes
            remote.rsr("badThread", new Arguments());
            remote.rsr("tooMuch", new Arguments().putInt(~(1 << 18)).putInt(0)); // as if 2^50 bytes followed
            remote.rsr("good", new Arguments());
            await(world.of(0), () -> good.get() == 1 && world.of(0).handlerFailureCount() == 3);
            assertTrue(failed.contains("bad 1 IOException"), failed::toString);
            assertTrue(failed.contains("badThread 1 NexusException"), failed::toString);
            assertTrue(failed.contains("tooMuch 1 NexusException"), failed::toString);
        }
    }

    @Test
    void shouldCloseAContextThatAHandlerHasTriedToClose() {
        AtomicReference<Throwable> refusal = new AtomicReference<>();
        try (World world = new World(
                network,
                2,
                context -> context.endpoint("e").nonThreaded("close", (endpoint, _) -> {
                    try {
                        endpoint.context().close();
                    } catch (IllegalStateException e) {
                        refusal.set(e);
                    }
                }))) {
            Context context = world.of(0);
            Session session = context.node().session();
            world.of(1).startpoint(0, "e").rsr("close", new Arguments());
            World.await(() -> refusal.get() != null);
            assertThrows(IllegalStateException.class, () -> Context.open(session), "it is open still");
            context.close();
            Context.open(session).close();
        }
    }

    @Test
    void shouldRefuseNodesAndStartpointsOfElsewhere() {
        try (World world = new World(network, 2, context -> context.endpoint("e"))) {
            for (int node : new int[] {-1, 2}) {
                assertThrows(IllegalArgumentException.class, () -> world.of(0).methodsOf(node));
                assertThrows(IllegalArgumentException.class, () -> world.of(0).startpoint(node, "e"));
            }
            Startpoint first = world.of(0).startpoint(1, "e");
            Startpoint ofAnother = world.of(1).startpoint(0, "e");
            assertThrows(IllegalArgumentException.class, () -> Startpoint.toAll(first, ofAnother));
        }
    }

    @Test
    @Tag("measures")
    void shouldFindNonThreadedHandlerThatBlocks() {
        AtomicReference<Throwable> found = new AtomicReference<>();
        AtomicInteger quick = new AtomicInteger();
        try (World world = new World(
                network,
                2,
                ContextOptions.DEFAULT.withDebug(true),
                context -> context.endpoint("e")
                        .nonThreaded("sleeps", (_, _) -> Thread.sleep(30))
                        .nonThreaded("waits", (_, request) -> request.context().await(() -> true))
                        .nonThreaded("quick", (_, _) -> quick.incrementAndGet()))) {
            world.of(0).onHandlerFailure((_, _, _, cause) -> found.set(cause));
            Startpoint remote = world.of(1).startpoint(0, "e");
            for (int i = 0; i < 100; i++) {
                remote.rsr("quick", new Arguments());
            }
            await(world.of(0), () -> quick.get() == 100);
            assertEquals(0, world.of(0).handlerFailureCount());
            int count = 0;
            for (boolean isPlaceTold = false; !isPlaceTold; ) { // the watcher may come too late for a sleep
                assertTrue(count < 20, "the place is told");
                int expected = ++count;
                remote.rsr("sleeps", new Arguments());
                await(world.of(0), () -> world.of(0).handlerFailureCount() == expected);
                assertTrue(
                        found.get().getMessage().contains("sleeps"), found.get().getMessage());
                isPlaceTold = List.of(found.get().getStackTrace()).stream()
                        .anyMatch(frame -> frame.getClassName().contains("RequestsTest"));
            }
            int expected = count + 1;
            remote.rsr("waits", new Arguments());
            await(world.of(0), () -> world.of(0).handlerFailureCount() == expected);
            assertTrue(
                    found.get().getMessage().contains("must not wait"),
                    found.get().getMessage());
        }
    }

    @Test
    void shouldFindAHandlerThatBlocksAVirtualThreadThatReceives() {
        AtomicReference<Throwable> found = new AtomicReference<>();
        try (World world = new World(
                network,
                2,
                ContextOptions.DEFAULT.withDebug(true),
                context -> context.endpoint("e")
                        .threaded("threaded", (_, _) -> {})
                        .nonThreaded("sleeps", (_, _) -> {
                            if (Thread.currentThread().isVirtual() && found.get() == null) {
                                Thread.sleep(30);
                            }
                        }))) {
            AtomicInteger sender = new AtomicInteger();
            world.of(0).onHandlerFailure((_, _, from, cause) -> {
                sender.set(from);
                found.set(cause);
            });
            Startpoint remote = world.of(1).startpoint(0, "e");
            long giveUpNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            while (found.get() == null) { // many threaded ones, and a virtual thread receives
                remote.rsr("threaded", new Arguments());
                remote.rsr("sleeps", new Arguments());
                assertTrue(System.nanoTime() - giveUpNs < 0, "no virtual thread receives, or nobody sees it blocked");
            }
            assertTrue(
                    found.get().getMessage().contains("has blocked"),
                    found.get().getMessage());
            assertEquals(1, sender.get());
        }
    }

    @Test
    void shouldPassBarriersTogether() throws Exception {
        AtomicInteger before = new AtomicInteger();
        AtomicInteger wrong = new AtomicInteger();
        try (World world = new World(network, 3, _ -> {})) {
            List<Thread> ranks = new ArrayList<>();
            for (Context context : world.contexts) {
                ranks.add(Thread.ofPlatform().start(() -> {
                    for (int round = 1; round <= 50; round++) {
                        before.incrementAndGet();
                        context.barrier(Duration.ofSeconds(20));
                        if (before.get() < 3 * round) {
                            wrong.incrementAndGet();
                        }
                        context.barrier(Duration.ofSeconds(20));
                    }
                }));
            }
            for (Thread rank : ranks) {
                rank.join();
            }
            assertEquals(150, before.get());
            assertEquals(0, wrong.get());
        }
    }

    @Test
    void shouldPassABarrierThoughOthersHavePassedItAndLeft() throws Exception {
        Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
        try (World world = new World(
                network,
                3,
                context -> context.endpoint("slow").threaded("slow", (_, request) -> {
                    Thread.sleep(500); // what rank 0 sends after this request, its release of rank 2, waits meanwhile
                    request.getBytes();
                }))) {
            Thread blocker = Thread.ofPlatform()
                    .start(() ->
                            world.of(0).startpoint(2, "slow").rsr("slow", new Arguments().putBytes(new byte[8 << 20])));
            await(world.of(2), () -> world.of(2).runningCount() == 1);
            List<Thread> ranks = new ArrayList<>();
            for (Context context : world.contexts) {
                ranks.add(Thread.ofPlatform().start(() -> {
                    try {
                        context.barrier(Duration.ofSeconds(20));
                        context.close();
                    } catch (RuntimeException | Error e) {
                        failures.add(e);
                    }
                }));
            }
            for (Thread rank : ranks) {
                rank.join();
            }
            blocker.join();
        }
        assertEquals(List.of(), List.copyOf(failures));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldPassBarriersAfterOneThatEndedByItsTimeoutOrAnInterrupt(boolean isInterrupted) throws Exception {
        Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
        try (World world = new World(network, 3, _ -> {})) {
            for (int who = 0; who < 3; who++) { // who calls once more than the others, for now
                Context early = world.of(who);
                if (isInterrupted) {
                    Thread.currentThread().interrupt();
                    assertThrows(WaitInterruptedException.class, () -> early.barrier(Duration.ofSeconds(20)));
                    assertTrue(Thread.interrupted());
                } else {
                    assertThrows(DeadlineExceededException.class, () -> early.barrier(Duration.ofMillis(50)));
                }
            }
            List<Thread> ranks = new ArrayList<>();
            for (Context context : world.contexts) {
                ranks.add(Thread.ofPlatform().start(() -> {
                    try {
                        context.barrier(Duration.ofSeconds(20));
                        context.barrier(Duration.ofSeconds(20));
                    } catch (RuntimeException | Error e) {
                        failures.add(e);
                    }
                }));
            }
            for (Thread rank : ranks) {
                rank.join();
            }
        }
        assertEquals(List.of(), List.copyOf(failures));
    }

    @Test
    void shouldFailABarrierToWhichSomebodyNeverCame() throws Exception {
        Queue<Integer> missed = new ConcurrentLinkedQueue<>();
        try (World world = new World(network, 3, _ -> {})) {
            List<Thread> ranks = new ArrayList<>();
            for (int rank : new int[] {0, 2}) {
                ranks.add(Thread.ofPlatform().start(() -> {
                    PeerFailedException failure = assertThrows(
                            PeerFailedException.class, () -> world.of(rank).barrier(Duration.ofSeconds(20)));
                    missed.add(failure.rank());
                }));
            }
            world.of(1).close();
            for (Thread rank : ranks) {
                rank.join();
            }
        }
        assertEquals(List.of(1, 1), List.copyOf(missed));
    }

    @Test
    void shouldLetTheOthersPassABarrierThoughOneHasGoneAfterItHasArrived() throws Exception {
        try (World world = new World(network, 3, _ -> {})) {
            Context root = world.of(0);
            long first = ((long) world.of(1).node().generation() << Integer.SIZE) + 1;
            world.of(1).node().send(0, RequestLayout.id("arrived"), new Arguments().putLong(first));
            world.of(1).close();
            await(root, () -> root.node().nodes().get(1).isGone());
            CompletableFuture<Boolean> passed = new CompletableFuture<>();
            Thread.ofPlatform().start(() -> {
                try {
                    world.of(2).barrier(Duration.ofSeconds(20));
                    passed.complete(true);
                } catch (Throwable e) {
                    passed.completeExceptionally(e);
                }
            });
            PeerFailedException failure =
                    assertThrows(PeerFailedException.class, () -> root.barrier(Duration.ofSeconds(20)));
            assertEquals(1, failure.rank());
            assertTrue(passed.get(40, TimeUnit.SECONDS));
        }
    }
}
