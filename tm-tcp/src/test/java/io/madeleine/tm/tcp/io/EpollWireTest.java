package io.madeleine.tm.tcp.io;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.madeleine.tm.tcp.Pair;
import io.madeleine.tm.tcp.reactor.IoTransport;
import io.madeleine.tm.tcp.reactor.NettyReactor;
import io.netty.channel.unix.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What becomes of calls that come after the end of a wire. */
@Timeout(60)
class EpollWireTest {
    private static final int TRIES = 64;

    /** As a sender that waited for its lock while the leader gave the connection up. */
    @Test
    void shouldNotTouchTheSocketThatHasTheNumberOfItsOwn() throws Exception {
        assumeTrue(Pair.io() == IoTransport.EPOLL, "only epoll works with numbers of descriptors");
        Pair.assumeIo();
        NettyReactor reactor = new NettyReactor(IoTransport.EPOLL);
        List<Socket> others = new ArrayList<>();
        try {
            Socket own = Socket.newSocketStream();
            int number = own.intValue();
            EpollWire wire = new EpollWire(own, reactor.loop());
            wire.close();
            reactor.poll();
            boolean again = false;
            while (!again && others.size() < TRIES) {
                others.add(Socket.newSocketDgram());
                again = others.getLast().intValue() == number;
            }
            assumeTrue(again, "another thread has taken the number");
            ByteBuffer bytes = ByteBuffer.allocateDirect(8);
            assertThrows(ClosedChannelException.class, () -> wire.write(bytes));
            assertThrows(ClosedChannelException.class, () -> wire.read(bytes));
            assertThrows(ClosedChannelException.class, wire::shutdownOutput);
        } finally {
            for (Socket other : others) {
                other.close();
            }
            reactor.close();
        }
    }
}
