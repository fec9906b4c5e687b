package io.madeleine.tm.tcp.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is handed over to the thread of the ring while memory is short. */
class PipelineWireTest {
    private final ShortLoop loop = new ShortLoop();
    private final NioSocketChannel channel = new NioSocketChannel() {
        @Override
        public EventLoop eventLoop() {
            return loop;
        }
    };
    private final PipelineWire wire = new PipelineWire(channel);

    /** Keeps the tasks, unless memory is short. */
    private static final class ShortLoop extends DefaultEventLoop {
        private final List<Runnable> kept = new ArrayList<>();
        private boolean isShort;

        @Override
        public void execute(Runnable task) {
            if (isShort) {
                throw new OutOfMemoryError("as a test");
            }
            kept.add(task);
        }
    }

    @AfterEach
    void close() {
        channel.unsafe().closeForcibly();
    }

    // an OutOfMemoryError would end the whole test run

    private int write() throws IOException {
        try {
            return wire.write(ByteBuffer.allocate(8));
        } catch (OutOfMemoryError e) {
            throw new AssertionError(e);
        }
    }

    private int read(ByteBuffer target) throws IOException {
        try {
            return wire.read(target);
        } catch (OutOfMemoryError e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldSendAcceptedBytesOnceMemoryIsThereAgain() throws Exception {
        loop.isShort = true;
        assertEquals(8, write(), "they are in the queue, so they must not come again");
        assertFalse(wire.flush());
        loop.isShort = false;
        assertTrue(wire.flush());
        assertEquals(1, loop.kept.size());
        assertEquals(8, write());
        assertTrue(wire.flush());
        assertEquals(1, loop.kept.size(), "the same task sends them");
    }

    @Test
    void shouldKeepTheBytesOfAReadWhenItCannotHaveReadingResumed() throws Exception {
        int count = 300 * 1024;
        wire.channelRead(null, channel.alloc().directBuffer(count).writeZero(count)); // more than there is room for
        loop.isShort = true;
        ByteBuffer target = ByteBuffer.allocate(count);
        assertEquals(count, read(target));
        assertEquals(0, read(target.clear()));
        loop.isShort = false;
        assertEquals(0, wire.read(target.clear()));
        assertEquals(1, loop.kept.size());
    }
}
