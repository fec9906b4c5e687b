package io.madeleine.bench;

import io.madeleine.api.Session;
import io.madeleine.bench.measure.Block;
import io.madeleine.bench.measure.MeasuringException;
import io.madeleine.bench.measure.Pattern;
import io.madeleine.bench.measure.Wire;
import io.madeleine.nexus.Arguments;
import io.madeleine.nexus.Context;
import io.madeleine.nexus.ContextOptions;
import io.madeleine.nexus.Endpoint;
import io.madeleine.nexus.RemoteService;
import io.madeleine.nexus.Request;
import io.madeleine.nexus.Startpoint;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;

/**
 * Remote service requests between the two processes, on a channel of their own; messages go over another wire. The
 * first eight bytes of a smaller argument than 1 KiB and the rest of it are put as a caller would: as one block.
 *
 * <p>Threading: confined to caller; handlers are run by whoever receives.
 */
final class CallWire implements Wire {
    /** The channel of the contexts; {@code mad perf} configures it if there are calls to measure. */
    static final String CHANNEL = "mad-perf-calls";

    private static final int ECHO = "echo".hashCode();
    private static final int ECHO_THREADED = "echo-threaded".hashCode();
    private static final int ANSWER = "answer".hashCode();

    private final Wire plain;
    private final Context context;
    private final Startpoint remote;
    private final Startpoint back;
    private final Echo service;
    private final Arguments arguments = new Arguments();
    private final Arguments[] answers = {new Arguments(), new Arguments()};
    private final BooleanSupplier isAnswered = this::isAnswered;
    private MemorySegment echoMemory;
    private MemorySegment slice = MemorySegment.NULL;
    private MemorySegment sliced = MemorySegment.NULL;
    private byte[] typed = {};
    private volatile Block expected = Block.of(MemorySegment.NULL);
    private volatile boolean answered;

    /** The service that is called. */
    @RemoteService
    public interface Echo {
        /** The same again. */
        byte[] echo(byte[] bytes);

        /** The same again, without waiting for it. */
        CompletableFuture<byte[]> echoLater(byte[] bytes);
    }

    private static final class Echoing implements Echo {
        @Override
        public byte[] echo(byte[] bytes) {
            return bytes;
        }

        @Override
        public CompletableFuture<byte[]> echoLater(byte[] bytes) {
            return CompletableFuture.completedFuture(bytes);
        }
    }

    CallWire(Session session, Wire plain) {
        this.plain = plain;
        this.echoMemory = session.allocate(1 << 10);
        this.context = Context.open(session.channel(CHANNEL), ContextOptions.DEFAULT, created -> {
            created.endpoint("bench")
                    .nonThreaded("echo", this::echo)
                    .threaded("echo-threaded", this::echo)
                    .nonThreaded("answer", (_, request) -> answer(request));
            created.export(Echo.class, new Echoing());
        });
        this.remote = context.startpoint(1 - session.rank(), "bench");
        this.back = remote;
        this.service = context.service(1 - session.rank(), Echo.class);
    }

    /** Takes the argument and sends it back. */
    private void echo(Endpoint endpoint, Request request) {
        long bytes = request.nextBytes();
        if (bytes > echoMemory.byteSize()) {
            echoMemory = endpoint.context() == context ? allocate(bytes) : echoMemory;
        }
        MemorySegment memory = sliceOf(echoMemory, bytes);
        request.get(memory);
        Arguments answer = answers[0].isSent() ? answers[0] : answers[1];
        back.rsr(ANSWER, answer.reset().putSegment(memory));
    }

    /** Makes a slice only if it differs from the last one. */
    private MemorySegment sliceOf(MemorySegment memory, long bytes) {
        if (sliced.address() != memory.address() || slice.byteSize() != bytes) {
            sliced = memory;
            slice = memory.asSlice(0, bytes);
        }
        return slice;
    }

    private void answer(Request request) {
        request.get(expected.memory());
        answered = true;
    }

    private boolean isAnswered() {
        return answered;
    }

    @Override
    public void call(Pattern pattern, Block request, Block answer, long bytes) {
        if (pattern == Pattern.RSR_TYPED) {
            callTyped(request, answer, bytes);
            return;
        }
        if (expected != answer) {
            expected = answer;
        }
        answered = false;
        arguments.reset().putSegment(request.memory());
        remote.rsr(pattern == Pattern.RSR ? ECHO : ECHO_THREADED, arguments);
        await(isAnswered);
    }

    private void await(BooleanSupplier condition) {
        if (!context.await(condition, PATIENCE_NS, TimeUnit.NANOSECONDS)) {
            throw new MeasuringException(
                    "a request was not answered within " + TimeUnit.NANOSECONDS.toSeconds(PATIENCE_NS) + " s");
        }
    }

    private void callTyped(Block request, Block answer, long bytes) {
        byte[] echoed = service.echo(bytesOf(request, bytes));
        MemorySegment.copy(echoed, 0, answer.memory(), ValueLayout.JAVA_BYTE, 0, echoed.length);
    }

    private byte[] bytesOf(Block block, long bytes) {
        if (typed.length != bytes) {
            typed = new byte[(int) bytes];
        }
        MemorySegment.copy(block.memory(), ValueLayout.JAVA_BYTE, 0, typed, 0, typed.length);
        return typed;
    }

    @Override
    public void calls(Block request, long bytes, long count, int atOnce) {
        byte[] content = bytesOf(request, bytes);
        AtomicInteger underWay = new AtomicInteger();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        for (long i = 0; i < count; i++) {
            await(() -> underWay.get() < atOnce || failure.get() != null);
            if (failure.get() != null) {
                break;
            }
            underWay.incrementAndGet();
            service.echoLater(content).whenComplete((_, thrown) -> {
                if (thrown != null) {
                    failure.set(thrown);
                }
                underWay.decrementAndGet();
                context.signalWaiters();
            });
        }
        await(() -> underWay.get() == 0 || failure.get() != null);
        if (failure.get() != null) {
            throw new MeasuringException("a call failed: " + failure.get(), failure.get());
        }
    }

    @Override
    public MemorySegment allocate(long bytes) {
        return plain.allocate(bytes);
    }

    @Override
    public void send(Block block, long bytes) {
        plain.send(block, bytes);
    }

    @Override
    public void receive(Block block, long bytes) {
        plain.receive(block, bytes);
    }

    @Override
    public int peers() {
        return plain.peers();
    }

    @Override
    public void towards(int peer) {
        plain.towards(peer);
    }

    @Override
    public void close() {
        plain.close();
    }
}
