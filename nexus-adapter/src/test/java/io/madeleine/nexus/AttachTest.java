package io.madeleine.nexus;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.madeleine.api.DeadlineExceededException;
import io.madeleine.api.PeerFailedException;
import io.madeleine.api.WaitInterruptedException;
import io.madeleine.nexus.wire.Link;
import io.madeleine.nexus.wire.NodeId;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Contexts of several sessions, joined over loopback. */
@Timeout(60)
class AttachTest {
    private static final InetSocketAddress LOOPBACK = new InetSocketAddress("127.0.0.1", 0);
    private static final List<String> HERE = List.of("127.0.0.1");
    private static final int SIZES = 12;

    /** Called. */
    @RemoteService
    public interface Doubler {
        /** Twice as much. */
        int twice(int number);

        /** Much later. */
        CompletableFuture<Integer> never();

        /** As often as that. */
        @Idempotent
        String echo(String text);
    }

    private static final class Implementation implements Doubler {
        @Override
        public int twice(int number) {
            if (number < 0) {
                throw new IllegalArgumentException("negative");
            }
            return 2 * number;
        }

        @Override
        public CompletableFuture<Integer> never() {
            return new CompletableFuture<>();
        }

        @Override
        public String echo(String text) {
            return text;
        }
    }

    private static World world(int size) {
        return world(size, ContextOptions.DEFAULT);
    }

    private static World world(int size, ContextOptions options) {
        return new World("sci", size, options, context -> context.export(Doubler.class, new Implementation()));
    }

    private static AttachPoint open(Context context) {
        return open(context, Doubler.class.getName());
    }

    private static AttachPoint open(Context context, String endpoint) {
        return context.allowAttach(
                LOOPBACK,
                HERE,
                request -> request.path().equals("private")
                        ? Optional.empty()
                        : Optional.of(context.startpoint(context.rank(), endpoint)));
    }

    @Test
    void shouldCallServicesOfAnotherSession() {
        try (World server = world(2);
                World clients = world(2)) {
            Doubler doubler = clients.of(0).attach(open(server.of(0)).url()).service(Doubler.class);
            assertEquals(42, doubler.twice(21));
            String large = "x".repeat(3_000_000);
            assertEquals(large, doubler.echo(large));
            assertEquals(
                    "negative",
                    assertThrows(RemoteException.class, () -> doubler.twice(-1)).getMessage());
        }
    }

    @Test
    @Timeout(120) // much is encrypted, by code that is not optimized
    void shouldBringArgumentsOfEverySizeInOrderAndTheAnswersBack() {
        try (World server = world(2);
                World clients = world(2)) {
            for (Endpoint.Threading threading : Endpoint.Threading.values()) {
                server.of(0).endpoint("echo-" + threading).handler("take", threading, (_, request) -> {
                    Startpoint back = request.getStartpoint();
                    int number = request.getInt();
                    byte[] few = request.getBytes();
                    long[] many = request.getLongs();
                    back.rsr(
                            "answer",
                            new Arguments().putInt(number).putBytes(few).putLongs(many));
                });
            }
            long[] many = IntStream.range(0, longsOf(SIZES)).asLongStream().toArray();
            AtomicInteger answers = new AtomicInteger();
            AtomicReference<String> wrong = new AtomicReference<>("");
            Endpoint back = clients.of(0).endpoint().nonThreaded("answer", (_, request) -> {
                int number = request.getInt();
                byte[] few = request.getBytes();
                long[] got = request.getLongs();
                if (few.length != sizeOf(number) || got.length != longsOf(number) || !isPrefix(got, many)) {
                    wrong.set("answer " + number + ": " + few.length + " bytes, " + got.length + " numbers");
                }
                answers.incrementAndGet();
            });
            for (Endpoint.Threading threading : Endpoint.Threading.values()) {
                Startpoint echo = clients.of(0)
                        .attach(open(server.of(0), "echo-" + threading).url());
                for (int number = 0; number < SIZES; number++) { // 0 to 3 MB: some taken first, some streamed
                    long[] part = java.util.Arrays.copyOf(many, longsOf(number));
                    echo.rsr(
                            "take",
                            new Arguments()
                                    .putStartpoint(back.startpoint())
                                    .putInt(number)
                                    .putBytes(new byte[sizeOf(number)])
                                    .putLongs(part));
                }
            }
            World.await(() -> answers.get() == 2 * SIZES);
            assertEquals("", wrong.get());
        }
    }

    private static int sizeOf(int number) {
        return 150 * number;
    }

    private static int longsOf(int number) {
        return 3_000 * number * number;
    }

    private static boolean isPrefix(long[] part, long[] whole) {
        for (int i = 0; i < part.length; i++) {
            if (part[i] != whole[i]) {
                return false;
            }
        }
        return true;
    }

    @Test
    void shouldKeepOrderOfNonThreadedHandlersAcrossSessions() {
        try (World server = world(2);
                World clients = world(2)) {
            AtomicInteger next = new AtomicInteger();
            AtomicInteger misplaced = new AtomicInteger();
            server.of(0).endpoint("count").nonThreaded("is", (_, request) -> {
                if (request.getInt() != next.getAndIncrement()) {
                    misplaced.incrementAndGet();
                }
            });
            Startpoint count = clients.of(0).attach(open(server.of(0), "count").url());
            for (int i = 0; i < 20_000; i++) {
                count.rsr("is", new Arguments().putInt(i));
            }
            World.await(() -> next.get() == 20_000);
            assertEquals(0, misplaced.get());
        }
    }

    @Test
    void shouldSayWhyItCannotAttach() throws Exception {
        try (World server = world(2);
                World clients = world(2);
                World hasty = world(1, ContextOptions.DEFAULT.withConnectTimeout(Duration.ofSeconds(1)))) {
            Context client = clients.of(0);
            AttachPoint point = open(server.of(0));
            assertMessage("approver has refused", () -> client.attach(point.url() + "/private"));
            AttachPoint failing = server.of(0).allowAttach(LOOPBACK, HERE, _ -> {
                throw new IllegalStateException("no list of friends");
            });
            assertMessage("approver has refused", () -> client.attach(failing.url()));
            AttachPoint broken = server.of(0).allowAttach(LOOPBACK, HERE, _ -> {
                throw new StackOverflowError("friends of friends of friends");
            });
            assertMessage("approver has refused", () -> client.attach(broken.url()));
            point.close();
            assertMessage("Context.allowAttach", () -> client.attach(point.url()));
            try (ServerSocket shut = new ServerSocket(0)) {
                Thread.startVirtualThread(() -> {
                    try {
                        shut.accept().close();
                    } catch (IOException _) {
                        // the test says what is wrong
                    }
                });
                assertMessage("Context.allowAttach", () -> client.attach("nexus://127.0.0.1:" + shut.getLocalPort()));
            }
            try (ServerSocket deaf = new ServerSocket(0)) {
                long beganNs = System.nanoTime();
                String url = "nexus://127.0.0.1:" + deaf.getLocalPort();
                assertMessage("cannot attach", () -> hasty.of(0).attach(url));
                assertTrue(System.nanoTime() - beganNs
                        < client.node().options().connectTimeout().toNanos());
            }
            assertThrows(IllegalArgumentException.class, () -> client.attach("http://localhost:80"));
            assertThrows(IllegalArgumentException.class, () -> client.attach("nexus://localhost"));
            IllegalArgumentException endless = assertThrows(
                    IllegalArgumentException.class, () -> client.attach("nexus://localhost:1/" + "x".repeat(1024)));
            assertTrue(
                    endless.getMessage().contains("a path of 1024 bytes: expected less than 1024"), endless::toString);
            assertMessage("cannot attach", () -> client.attach("nexus://127.0.0.1:1/" + "x".repeat(1023)));
            IllegalArgumentException nowhere = assertThrows(
                    IllegalArgumentException.class,
                    () -> client.allowAttach(LOOPBACK, List.of(), _ -> Optional.empty()));
            assertTrue(nowhere.getMessage().contains("no host"), nowhere::toString);
        }
    }

    private static void assertMessage(String part, org.junit.jupiter.api.function.Executable action) {
        AttachException e = assertThrows(AttachException.class, action);
        assertTrue(String.valueOf(e.getMessage()).contains(part), e::toString);
    }

    @Test
    void shouldLetStartpointsToThirdPartiesWorkIfAMethodReachesThem() {
        try (World server = world(3);
                World clients = world(2)) {
            open(server.of(1)); // listens; rank 2 does not
            Map<String, Startpoint> handed = new ConcurrentHashMap<>();
            clients.of(0)
                    .endpoint("post")
                    .threaded("take", (_, request) -> handed.put(request.getString(), request.getStartpoint()));
            Startpoint post = clients.of(0).startpoint(0, "post");
            AttachPoint toClients = clients.of(0).allowAttach(LOOPBACK, HERE, _ -> Optional.of(post));
            Context middle = server.of(0);
            Startpoint there = middle.attach(toClients.url());
            // the middle has heard where rank 1 listens
            World.await(() -> middle.methodsOf(1).size() == 2);
            for (int rank = 0; rank < 3; rank++) {
                there.rsr(
                        "take",
                        new Arguments()
                                .putString("rank " + rank)
                                .putStartpoint(middle.startpoint(rank, Doubler.class.getName())));
            }
            World.await(() -> handed.size() == 3);
            assertEquals(6, handed.get("rank 0").service(Doubler.class).twice(3)); // the connection it came by
            assertEquals(8, handed.get("rank 1").service(Doubler.class).twice(4)); // a connection of its own
            assertEquals("wan", handed.get("rank 1").method().orElseThrow().name());
            assertEquals(handed.get("rank 1"), middle.startpoint(1, Doubler.class.getName()));
            PeerFailedException nobody = assertThrows(
                    PeerFailedException.class,
                    () -> handed.get("rank 2").service(Doubler.class).twice(5));
            assertTrue(
                    String.valueOf(nobody.getMessage()).contains("mad (channel default): it is of session"),
                    nobody::toString);
            // and from there to the neighbour, in whose session rank 1 of the other session is as foreign
            AtomicInteger result = new AtomicInteger();
            clients.of(1)
                    .endpoint("relay")
                    .threaded(
                            "ask",
                            (_, request) -> result.set(request.getStartpoint()
                                    .service(Doubler.class)
                                    .twice(50)));
            clients.of(0)
                    .startpoint(1, "relay")
                    .rsr(
                            "ask",
                            new Arguments().putStartpoint(handed.get("rank 1").lightweight()));
            World.await(() -> result.get() == 100);
        }
    }

    @Test
    void shouldTellMethodsAndLetThemBeChosen() {
        try (World world = world(2)) {
            Context here = world.of(0);
            Startpoint there = here.startpoint(1, Doubler.class.getName());
            assertEquals("mad/sci", there.method().orElseThrow().name());
            open(world.of(1));
            World.await(() -> there.methods().size() == 2);
            assertEquals(MethodStatus.State.UNTRIED, there.methods().get(1).state());
            assertEquals(4, there.via("wan").service(Doubler.class).twice(2));
            assertEquals(MethodStatus.State.WORKS, there.methods().get(1).state());
            assertEquals(4, there.via("mad:default").service(Doubler.class).twice(2));
            assertEquals(
                    4, there.via("mad/tcp", "mad/sci").service(Doubler.class).twice(2));
            assertEquals("mad/sci", there.method().orElseThrow().name());
            PeerFailedException none = assertThrows(
                    PeerFailedException.class,
                    () -> there.via("pigeon").service(Doubler.class).twice(2));
            assertTrue(
                    String.valueOf(none.getMessage()).contains("by pigeon: mad/sci (channel default)"), none::toString);
            assertEquals(MethodStatus.State.IN_USE, here.methodsOf(0).getFirst().state());
        }
    }

    @Test
    @Tag("measures")
    void shouldFallBackToTheNextMethodWhenOneFails() throws Exception {
        try (World server = world(2);
                World clients = world(2)) {
            AttachPoint point = open(server.of(0));
            Doubler doubler;
            Startpoint there;
            try (Forwarder gateway = new Forwarder(point.port())) {
                there = clients.of(0).attach("nexus://127.0.0.1:" + gateway.port());
                doubler = there.service(Doubler.class);
                assertEquals(4, doubler.twice(2));
                assertEquals(
                        "nexus://127.0.0.1:" + gateway.port(),
                        there.method().orElseThrow().address());
                CompletableFuture<Integer> unanswered = doubler.never();
                gateway.cut();
                long cutNs = System.nanoTime();
                assertThrows(java.util.concurrent.ExecutionException.class, () -> unanswered.get(20, TimeUnit.SECONDS));
                assertTrue(System.nanoTime() - cutNs < TimeUnit.SECONDS.toNanos(8)); // the silence timeout is longer
            }
            assertEquals(6, doubler.twice(3));
            assertEquals(point.url(), there.method().orElseThrow().address());
            assertTrue(there.methods().stream().anyMatch(method -> method.state() == MethodStatus.State.FAILED));
        }
    }

    @Test
    void shouldFallBackFromTheSessionsNetworkToAConnection() {
        try (World world = world(2)) {
            AtomicInteger sum = new AtomicInteger();
            world.of(1).endpoint("sink").nonThreaded("add", (_, request) -> sum.addAndGet(request.getInt()));
            open(world.of(1));
            Startpoint sink = world.of(0).startpoint(1, "sink");
            World.await(() -> sink.methods().size() == 2);
            sink.rsr("add", new Arguments().putInt(1));
            World.await(() -> sum.get() == 1);
            world.of(0).node().nodes().get(1).lostBySession("its network is cut"); // as a session says
            assertEquals(MethodStatus.State.FAILED, sink.methods().getFirst().state());
            sink.rsr("add", new Arguments().putInt(2));
            World.await(() -> sum.get() == 3);
            assertEquals("wan", sink.method().orElseThrow().name());
        }
    }

    @Test
    @Tag("measures")
    void shouldNoticeSilenceAndFailWhatIsUnanswered() throws Exception {
        Duration timeout = Duration.ofSeconds(2); // a machine may stop a process for a good part of a second
        ContextOptions silenceAlone = ContextOptions.DEFAULT
                .withConnectTimeout(Duration.ofSeconds(30))
                .withSilenceTimeout(timeout);
        try (World server = world(2, silenceAlone);
                World clients = world(2, silenceAlone)) {
            AttachPoint point = open(server.of(0));
            try (Forwarder gateway = new Forwarder(point.port())) {
                Startpoint there = clients.of(0).attach("nexus://127.0.0.1:" + gateway.port());
                Doubler doubler = there.service(Doubler.class);
                Thread.sleep(timeout.plusMillis(300)); // signs of life pass
                assertEquals(4, doubler.twice(2));
                CompletableFuture<Integer> unanswered = doubler.never();
                gateway.hold();
                long heldNs = System.nanoTime();
                Exception e = assertThrows(
                        java.util.concurrent.ExecutionException.class, () -> unanswered.get(20, TimeUnit.SECONDS));
                assertTrue(System.nanoTime() - heldNs < TimeUnit.SECONDS.toNanos(10));
                assertTrue(String.valueOf(e.getMessage()).contains("silenceTimeout"), e::toString);
            }
        }
    }

    @Test
    @Tag("measures")
    void shouldHearAtOnceThatAContextIsClosed() {
        // the call that is never answered holds it up for so long
        ContextOptions brief = ContextOptions.DEFAULT.withCloseTimeout(Duration.ofMillis(500));
        try (World server = world(2, brief);
                World clients = world(2)) {
            Doubler doubler = clients.of(0).attach(open(server.of(0)).url()).service(Doubler.class);
            CompletableFuture<Integer> unanswered = doubler.never();
            assertEquals(4, doubler.twice(2)); // so the one before has arrived
            server.of(0).close();
            assertThrows(java.util.concurrent.ExecutionException.class, () -> unanswered.get(5, TimeUnit.SECONDS));
            UnavailableException gone = assertThrows(UnavailableException.class, () -> doubler.twice(1));
            assertTrue(String.valueOf(gone.getMessage()).contains("has been closed"), gone::toString);
        }
    }

    @Test
    void shouldRefuseMoreContextsThanAllowed() {
        try (World server = new World("sci", 2, ContextOptions.DEFAULT.withMaxAttached(1), context -> {});
                World clients = world(2)) {
            AttachPoint point = server.of(0)
                    .allowAttach(
                            LOOPBACK,
                            HERE,
                            _ -> Optional.of(server.of(0).endpoint().startpoint()));
            assertFalse(clients.of(0).attach(point.url()).isLocal());
            assertMessage("maxAttached", () -> clients.of(1).attach(point.url()));
            clients.of(0).close();
            World.await(() -> {
                try {
                    return clients.of(1).attach(point.url()).linkCount() == 1;
                } catch (AttachException e) {
                    return false;
                }
            });
        }
    }

    /** Without a place of its own the second would be asked about, too, and both would be let in. */
    @Test
    void shouldRefuseMoreContextsThanAllowedThoughTheyComeAtTheSameTime() throws Exception {
        ContextOptions patient = ContextOptions.DEFAULT.withConnectTimeout(Duration.ofSeconds(30));
        try (World server = new World("sci", 1, patient.withMaxAttached(1), context -> {});
                World clients = world(2, patient)) {
            CountDownLatch secondIsRefused = new CountDownLatch(1);
            AtomicInteger asked = new AtomicInteger();
            Startpoint given = server.of(0).endpoint().startpoint();
            AttachPoint point = server.of(0).allowAttach(LOOPBACK, HERE, _ -> {
                if (asked.incrementAndGet() == 1) {
                    try {
                        secondIsRefused.await();
                    } catch (InterruptedException e) {
                        return Optional.empty();
                    }
                }
                return Optional.of(given);
            });
            CompletableFuture<Startpoint> first =
                    CompletableFuture.supplyAsync(() -> clients.of(0).attach(point.url()));
            World.await(() -> asked.get() == 1);
            try {
                assertMessage("maxAttached", () -> clients.of(1).attach(point.url()));
            } finally {
                secondIsRefused.countDown();
            }
            assertFalse(first.get(20, TimeUnit.SECONDS).isLocal());
            assertEquals(1, asked.get());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldTellAThreadThatItWasInterruptedWhileItConnected(boolean virtual) throws Exception {
        String[] anyMethod = {};
        try (World clients = world(1, ContextOptions.DEFAULT.withConnectTimeout(Duration.ofSeconds(50)));
                ServerSocket deaf = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Context client = clients.of(0);
            assertInterrupted(virtual, deaf, () -> client.attach("nexus://127.0.0.1:" + deaf.getLocalPort()));
            Peer peer = client.node().nodes().of(new NodeId("another session", "default", 0));
            WanRoutes.of(peer).add(List.of(new WanAddress("127.0.0.1", deaf.getLocalPort(), 0, 0)));
            assertInterrupted(virtual, deaf, () -> peer.send(new Arguments(), new Link(1), 1, anyMethod));
            assertTrue(WanRoutes.of(peer).mayConnect(anyMethod)); // the address has not failed
        }
    }

    private static void assertInterrupted(boolean virtual, ServerSocket deaf, Runnable connects) throws Exception {
        Started started = start(virtual, connects);
        try (Socket _ = deaf.accept()) {
            started.thread.interrupt();
            assertTrue(started.interrupted.get(20, TimeUnit.SECONDS));
        }
    }

    /** A thread, and whether it has been told that it was interrupted, with its status set. */
    private record Started(Thread thread, CompletableFuture<Boolean> interrupted) {}

    private static Started start(boolean virtual, Runnable connects) {
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        Thread.Builder threads = virtual ? Thread.ofVirtual() : Thread.ofPlatform();
        Thread thread = threads.start(() -> {
            try {
                connects.run();
                interrupted.complete(false);
            } catch (WaitInterruptedException _) {
                interrupted.complete(Thread.interrupted());
            } catch (Throwable e) {
                interrupted.completeExceptionally(e);
            }
        });
        return new Started(thread, interrupted);
    }

    /** The thread that connects may have to wait until the connect timeout. */
    @Test
    void shouldInterruptAThreadThatWaitsForAnotherOneToConnect() throws Exception {
        String[] anyMethod = {};
        try (World clients = world(1, ContextOptions.DEFAULT.withConnectTimeout(Duration.ofSeconds(50)));
                ServerSocket deaf = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Peer peer = clients.of(0).node().nodes().of(new NodeId("another session", "default", 0));
            WanRoutes.of(peer).add(List.of(new WanAddress("127.0.0.1", deaf.getLocalPort(), 0, 0)));
            Runnable connects = () -> peer.send(new Arguments(), new Link(1), 1, anyMethod);
            Started first = start(false, connects);
            try (Socket _ = deaf.accept()) {
                Started second = start(false, connects);
                second.thread.interrupt();
                assertTrue(second.interrupted.get(20, TimeUnit.SECONDS));
                assertFalse(first.interrupted.isDone());
                first.thread.interrupt();
                assertTrue(first.interrupted.get(20, TimeUnit.SECONDS));
            }
        }
    }

    @Test
    void shouldEndACallThatHasToConnectFirstAtItsDeadline() throws Exception {
        try (World clients = world(1, ContextOptions.DEFAULT.withConnectTimeout(Duration.ofSeconds(50)));
                ServerSocket deaf = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Context client = clients.of(0);
            Peer peer = client.node().nodes().of(new NodeId("another session", "default", 0));
            WanRoutes.of(peer).add(List.of(new WanAddress("127.0.0.1", deaf.getLocalPort(), 0, 0)));
            Hasty hasty = new Startpoint(client, new int[] {peer.number()}, new Link[] {new Link(1)}, false)
                    .service(Hasty.class);
            assertThrows(DeadlineExceededException.class, hasty::call);
            CompletableFuture<Integer> later = hasty.callLater();
            ExecutionException late = assertThrows(ExecutionException.class, () -> later.get(20, TimeUnit.SECONDS));
            assertInstanceOf(DeadlineExceededException.class, late.getCause());
            assertEquals(0, client.outstandingCount());
        }
    }

    @RemoteService
    @CallTimeout(millis = 200)
    interface Hasty {
        int call();

        CompletableFuture<Integer> callLater();
    }

    @Test
    void shouldQueueRequestsOfHandlersThatHaveToConnectFirst() {
        try (World server = world(2);
                World clients = world(2)) {
            open(server.of(0));
            AtomicReference<byte[]> got = new AtomicReference<>(new byte[0]);
            server.of(0).endpoint("sink").threaded("take", (_, request) -> got.set(request.getBytes()));
            Startpoint sink = server.of(0).startpoint(0, "sink");
            byte[] block = new byte[5_000];
            block[4_999] = 7;
            // from a non-threaded handler that has just got the pointer, to a node nobody is connected to
            clients.of(0)
                    .endpoint("post")
                    .nonThreaded(
                            "forward",
                            (_, request) -> request.getStartpoint().rsr("take", new Arguments().putBytes(block)));
            AttachPoint toClients = clients.of(0)
                    .allowAttach(LOOPBACK, HERE, _ -> Optional.of(clients.of(0).startpoint(0, "post")));
            Context other = server.of(1);
            World.await(() -> other.methodsOf(0).size() == 2);
            other.attach(toClients.url()).rsr("forward", new Arguments().putStartpoint(other.startpoint(0, "sink")));
            World.await(() -> got.get().length == block.length);
            assertArrayEquals(block, got.get());
            assertEquals(0, sink.rank());
        }
    }
}
