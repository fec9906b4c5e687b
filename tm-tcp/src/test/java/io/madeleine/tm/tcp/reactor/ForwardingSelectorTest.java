package io.madeleine.tm.tcp.reactor;

import static java.nio.channels.SelectionKey.OP_READ;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.madeleine.pmm.spi.Reactor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A thread that selects for a loop, in the moments in which it can lose a channel or itself. */
@Timeout(60)
class ForwardingSelectorTest {
    private final BlockingQueue<Runnable> loop = new LinkedBlockingQueue<>();
    private Pipe pipe;

    @BeforeEach
    void open() throws IOException {
        pipe = ringing();
    }

    @AfterEach
    void close() throws IOException {
        close(pipe);
    }

    private static void close(Pipe pipe) throws IOException {
        pipe.sink().close();
        pipe.source().close();
    }

    /** A pipe with a byte to read. */
    private static Pipe ringing() throws IOException {
        Pipe pipe = Pipe.open();
        pipe.source().configureBlocking(false);
        pipe.sink().write(ByteBuffer.allocate(1));
        return pipe;
    }

    private static void failed(Throwable cause) {
        throw new AssertionError(cause);
    }

    @Test
    void shouldWatchAChannelOnThatWasReadyBeforeItsRegistrationWasOver() throws Exception {
        try (Selector selector = Selector.open();
                ForwardingSelector forwarding = new ForwardingSelector(loop::add, ForwardingSelectorTest::failed)) {
            ForwardingSelector.Forwarded forwarded = forwarding.new Forwarded(selector, OP_READ, _ -> {});
            SelectionKey key = pipe.source().register(selector, OP_READ);
            selector.select();
            forwarded.ready(key);
            loop.remove().run();
            assertEquals(OP_READ, key.interestOps());
        }
    }

    /** The channel may be closed while memory is short. */
    @Test
    void shouldWatchOtherChannelsOnWhenOneIsCancelledWhileMemoryIsShort() throws Exception {
        Pipe other = ringing();
        AtomicReference<Reactor.Registration> first = new AtomicReference<>();
        Executor shortOnce = task -> {
            Reactor.Registration cancelled = first.getAndSet(null);
            if (cancelled == null) {
                loop.add(task);
            } else {
                cancelled.cancel();
                throw new OutOfMemoryError("as a test");
            }
        };
        try (ForwardingSelector forwarding = new ForwardingSelector(shortOnce, ForwardingSelectorTest::failed)) {
            Reactor.Registration registration = forwarding.register(pipe.source(), 0, _ -> {});
            first.set(registration);
            registration.operations(OP_READ);
            while (first.get() != null) {
                Thread.onSpinWait();
            }
            forwarding.register(other.source(), OP_READ, _ -> {});
            assertNotNull(loop.poll(20, TimeUnit.SECONDS), "the thread still forwards");
        } finally {
            close(other);
        }
    }
}
