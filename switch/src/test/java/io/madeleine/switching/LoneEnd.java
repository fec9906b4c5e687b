package io.madeleine.switching;

import io.madeleine.api.Channel;
import io.madeleine.api.LossKind;
import io.madeleine.api.MadeleineException;
import io.madeleine.api.PeerFailedException;
import io.madeleine.bmm.StagingPool;
import io.madeleine.pmm.ProgressEngine;
import io.madeleine.pmm.SelectorReactor;
import io.madeleine.pmm.WaitHint;
import io.madeleine.pmm.WaitMode;
import io.madeleine.pmm.WaitPolicy;
import io.madeleine.pmm.Waitable;
import io.madeleine.pmm.spi.PacketHeader;
import io.madeleine.pmm.spi.ProtocolConnection;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection that nobody polls but the test, over two links that the test scripts: blocks of up to {@link
 * #SHORT} bytes take the first link, longer ones the second. It records what the halves ask of the connection, and
 * whom they tell.
 */
final class LoneEnd implements ReceiveContext, AutoCloseable {
    static final int SHORT = 100;

    private final SelectorReactor reactor = new SelectorReactor();
    private final ExecutorService another = Executors.newSingleThreadExecutor(
            task -> Thread.ofPlatform().daemon().unstarted(task));
    final ProgressEngine engine = new ProgressEngine("alone", reactor, new WaitPolicy(WaitMode.BLOCK, 0, 0));
    final ScriptedLink first;
    final ScriptedLink second;

    /** What the half has told the network of its interest in events, in order. */
    final List<Boolean> interest = new CopyOnWriteArrayList<>();

    /** Why the connection was given up. */
    final List<Object> breaks = new CopyOnWriteArrayList<>();

    final AtomicInteger arrivals = new AtomicInteger();
    final AtomicInteger losses = new AtomicInteger();
    final AtomicInteger takenBack = new AtomicInteger();
    final AtomicInteger closes = new AtomicInteger();
    volatile boolean selfDescribed;
    volatile boolean lost;
    volatile boolean givenUp;
    volatile boolean nothingMore;
    volatile boolean anyAwaited;
    volatile boolean showsArrivals;
    volatile boolean hidesArrivals;
    volatile long peerTimeoutNs = 60_000_000_000L;
    volatile Runnable onInterest = () -> {};

    /** Thrown once, by the next object of a message that is made. */
    final AtomicReference<@Nullable Error> thrownByMaker = new AtomicReference<>();

    private final Channel channel = (Channel)
            Proxy.newProxyInstance(Channel.class.getClassLoader(), new Class<?>[] {Channel.class}, (_, _, _) -> "lone");

    private final ProtocolConnection protocol = (ProtocolConnection) Proxy.newProxyInstance(
            ProtocolConnection.class.getClassLoader(),
            new Class<?>[] {ProtocolConnection.class},
            (_, method, given) -> switch (method.getName()) {
                case "receiveInterest" -> {
                    interest.add((Boolean) given[0]);
                    onInterest.run();
                    yield null;
                }
                case "hasArrivals" -> !hidesArrivals && !first().packets.isEmpty();
                case "showsArrivals" -> showsArrivals;
                case "close" -> {
                    closes.incrementAndGet();
                    yield null;
                }
                default -> throw new UnsupportedOperationException(method.getName());
            });

    /** An end whose second link posts memory, if wanted. */
    LoneEnd(boolean posting) {
        this.first = new ScriptedLink("test/short", SHORT);
        this.second = posting ? new ScriptedLink.Posting("test/long") : new ScriptedLink("test/long", Long.MAX_VALUE);
    }

    private ScriptedLink first() {
        return first;
    }

    SelectionTable table() {
        return SelectionTable.of(List.of(first.capabilities(), second.capabilities()));
    }

    ReceiveHalf receiving() {
        return new ReceiveHalf(this, List.of(first, second), table());
    }

    SendHalf sending() {
        return new SendHalf(
                this, List.of(first, second), table(), new StagingPool(), new TaskRunner("lone", engine, 2));
    }

    ScriptedLink.Posting posting() {
        return (ScriptedLink.Posting) second;
    }

    // ---- what arrives

    /** A whole message of one packet arrives. */
    void message(int number, int... payload) {
        first.arrive(PacketHeader.of(payload.length, number, 0, PacketHeader.FIRST | PacketHeader.LAST), payload);
    }

    /** A packet of a message arrives on the first link. */
    void packet(int number, int index, int flags, int... payload) {
        first.arrive(PacketHeader.of(payload.length, number, index, flags), payload);
    }

    // ---- threads

    /** Does something in another thread, which must not find anything locked. */
    void apart(Runnable action) throws Exception {
        try {
            startApart(action).get(3, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new AssertionError("another thread cannot go on", e);
        }
    }

    CompletableFuture<Void> startApart(Runnable action) {
        return CompletableFuture.runAsync(action, another);
    }

    /** Starts a virtual thread and answers when it waits: it looks again only when it is woken. */
    static CompletableFuture<Void> startToWait(Runnable action) throws InterruptedException {
        CompletableFuture<Void> done = new CompletableFuture<>();
        Thread thread = Thread.ofVirtual().start(() -> {
            try {
                action.run();
                done.complete(null);
            } catch (Throwable e) {
                done.completeExceptionally(e);
            }
        });
        awaitThat(() -> thread.getState() == Thread.State.WAITING || done.isDone());
        return done;
    }

    static void join(CompletableFuture<?> started) throws Exception {
        started.get(5, TimeUnit.SECONDS);
    }

    static void awaitThat(BooleanSupplier condition) throws InterruptedException {
        long giveUpNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - giveUpNs >= 0) {
                throw new AssertionError("not in time");
            }
            Thread.sleep(1);
        }
    }

    /** Stops the next thread that gets to a place, until it is let go on. */
    static final class Barrier implements Runnable {
        private final CountDownLatch reached = new CountDownLatch(1);
        private final CountDownLatch open = new CountDownLatch(1);

        @Override
        public void run() {
            if (reached.getCount() == 0) {
                return;
            }
            reached.countDown();
            try {
                open.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        void awaitReached() throws InterruptedException {
            if (!reached.await(10, TimeUnit.SECONDS)) {
                throw new AssertionError("nobody came");
            }
        }

        void letGoOn() {
            open.countDown();
        }
    }

    @Override
    public void close() {
        another.shutdown();
        engine.close();
        reactor.close();
    }

    // ---- the connection

    @Override
    public int rank() {
        return 1;
    }

    @Override
    public String network() {
        return "none";
    }

    @Override
    public Channel channel() {
        return channel;
    }

    @Override
    public boolean isClosing() {
        return false;
    }

    @Override
    public boolean isSelfDescribed() {
        return selfDescribed;
    }

    @Override
    public long peerTimeoutNs() {
        return peerTimeoutNs;
    }

    @Override
    public String fromHere() {
        return "from here";
    }

    @Override
    public String toHere() {
        return "to here";
    }

    @Override
    public ProgressEngine engine() {
        Error thrown = thrownByMaker.getAndSet(null);
        if (thrown != null) {
            throw thrown;
        }
        return engine;
    }

    @Override
    public Waitable newWaitable(String inHandlers) {
        return new Waitable(WaitHint.AUTO, inHandlers);
    }

    @Override
    public boolean isLost() {
        return lost;
    }

    @Override
    public MadeleineException failure() {
        return new PeerFailedException(1, LossKind.CONNECTION, "rank 1 is gone");
    }

    @Override
    public boolean isBrokenBy(Throwable seen, boolean stateUnknown) {
        return seen instanceof OutOfMemoryError ? stateUnknown : !(seen instanceof InternalError);
    }

    @Override
    public void breakUp(String reason) {
        breaks.add(reason);
        lost = true;
    }

    @Override
    public void breakUpAfter(Throwable seen) {
        breaks.add(seen);
        lost = true;
    }

    @Override
    public boolean takeMemoryBack(String reason) {
        takenBack.incrementAndGet();
        breakUp(reason);
        return true;
    }

    @Override
    public ProtocolConnection protocol() {
        return protocol;
    }

    @Override
    public boolean isGivenUp() {
        return givenUp;
    }

    @Override
    public boolean hasNothingMoreToBegin() {
        return lost && nothingMore;
    }

    @Override
    public void messageArrived() {
        arrivals.incrementAndGet();
    }

    @Override
    public boolean isAnyMessageAwaited() {
        return anyAwaited;
    }

    @Override
    public void signalLoss() {
        losses.incrementAndGet();
    }
}
